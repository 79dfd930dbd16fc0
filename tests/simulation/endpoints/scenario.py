"""The acts of receivers, an admin and the email provider in one schedule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Self

from functions.webhooks.deliveries.delivery import Delivery, Outcome
from tests.in_memory.records import ended_delivery
from tests.simulation.choices import Choices
from tests.simulation.simulation import MINUTE, SECOND, START

EVENT: Final = "e1"
ANN: Final = "ann@example.com"
BOB: Final = "bob@example.com"

_URL: Final = "https://r{}.example.com/hook"
_PHASES: Final = ("dead", "dead", "works", "flaky")
_LENGTHS: Final = (2 * MINUTE, 20 * MINUTE, 75 * MINUTE)
_TESTS: Final = 0.15
_ENDS: Final = {"dead": (False,), "works": (True,), "flaky": (False, False, False, True)}
_ADMIN: Final = (
    # act, probability, latest time
    ("nobody", 0.08, 150 * MINUTE),
    ("another", 0.1, 150 * MINUTE),
    ("remove", 0.08, 150 * MINUTE),
    ("delete", 0.05, 150 * MINUTE),
    ("enable", 0.15, 150 * MINUTE),
    ("save", 0.1, 150 * MINUTE),
)
_MAILS: Final = ("taken", "taken", "taken", "later", "refused", "unknown", "lost", "bad address")


@dataclass(frozen=True, slots=True)
class End:
    """The end of a delivery."""

    url: str
    at: int
    works: bool
    test: bool


@dataclass(frozen=True, slots=True)
class Scenario:
    """The initial state and later acts. Times are microseconds.

    Attributes:
        urls: URLs of the event. From the second one on, each has a different host.
        recover: URLs with automatic recovery.
        dead: Failed deliveries to the first URL over more than five days.
        ends: Deliveries that end.
        admin: Acts of the admin with their times.
        mails: Responses of the email provider. Later requests are accepted.
    """

    urls: tuple[str, ...]
    recover: tuple[str, ...]
    dead: tuple[Delivery, ...]
    ends: tuple[End, ...]
    admin: tuple[tuple[str, int], ...]
    mails: tuple[str, ...]

    @classmethod
    def from_choices(cls, choices: Choices) -> Self:
        """Draw a scenario."""
        urls = tuple(_URL.format(number) for number in range(choices.between("urls", 1, 3)))
        dying = choices.happens("dying", 0.15, "the first URL has failed for five days")
        trouble = choices.pick("trouble", (0, 0, 2, 7))
        return cls(
            urls=urls,
            recover=tuple(
                url for url in urls if choices.happens(f"{url} recover", 0.4, "is to be recovered")
            ),
            dead=_dead(urls[0]) if dying else (),
            ends=tuple(end for url in urls for end in _ends(choices, url)),
            admin=tuple(
                (act, choices.between(f"{act} when", 0, latest))
                for act, likely, latest in _ADMIN
                if choices.happens(act, likely, "done")
            ),
            mails=tuple(choices.pick(f"mail {number}", _MAILS) for number in range(trouble)),
        )

    @property
    def settings(self) -> Mapping[str, Any]:
        """The initial settings."""
        return {"urls": list(self.urls), "notify": [ANN], "recover": list(self.recover)}


def _ends(choices: Choices, url: str) -> Iterator[End]:
    began = 0
    for phase in range(choices.between(f"{url} phases", 1, 3)):
        name = f"{url} phase {phase}"
        kind = choices.pick(f"{name} kind", _PHASES)
        length = choices.pick(f"{name} length", _LENGTHS)
        for number in range(choices.between(f"{name} deliveries", 0, 8)):
            one = f"{name} delivery {number}"
            yield End(
                url=url,
                at=began + choices.between(f"{one} at", 0, length),
                works=choices.one_of(f"{one} works", _ENDS[kind]),
                test=choices.happens(f"{one} test", _TESTS, "a test"),
            )
        began += length + choices.between(f"{name} pause", 0, 5 * MINUTE)


_DEAD: Final[dict[str, tuple[Delivery, ...]]] = {}


def _dead(url: str) -> tuple[Delivery, ...]:
    """Return 99 failed deliveries, the first one 5 days and 2 hours ago. Cached."""
    if url not in _DEAD:
        ago = timedelta(days=5, hours=2)
        _DEAD[url] = tuple(
            ended(f"dead-{number}", url, at=-(ago // timedelta(microseconds=1)) + number * SECOND)
            for number in range(99)
        )
    return _DEAD[url]


def ended(name: str, url: str, *, at: int, works: bool = False, test: bool = False) -> Delivery:
    """Return the record of a delivery that ended at `at`."""
    outcome = Outcome.SUCCESS if works else Outcome.FAILED
    return ended_delivery(name, url, START + timedelta(microseconds=at), outcome, test=test)
