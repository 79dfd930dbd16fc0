"""The acts of users and receivers in one schedule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Self

from functions.email_address import identity
from functions.webhooks.events import EventType
from tests.simulation.choices import Choices
from tests.simulation.simulation import MINUTE, SECOND, START

EVENT: Final = "e1"
TENANT: Final = "t1"

GUESTS: Final = ("ana@example.com", " Ana@Example.com ", "bo@example.com", None, None)
"""The first two entries are one guest with two spellings of the address."""

_UIDS: Final = ("uid-1", "uid-2")

_URL: Final = "https://r{}.example.com/hook"
_UNUSABLE: Final = ("http://r.example.com/hook", "", "https://r..example.com/")
_SUBSCRIPTIONS: Final = (
    tuple(EventType),
    tuple(EventType),
    (EventType.PHOTO_UPLOADED,),
    (EventType.PHOTO_UPLOADED, EventType.MILESTONE_REACHED, EventType.GUEST_JOINED),
    (EventType.PHOTO_APPROVED, EventType.EVENT_ARCHIVED, EventType.EVENT_PUBLISHED),
)
_SENT_AGAIN: Final = (0.0, 0.0, 0.0, 0.1, 0.4)
OUTAGE: Final = 2 * MINUTE
_BUSY: Final = 12
"""Number of photos for which repeated triggers exceed the rate limit in an outage."""
_TWICE: Final = SECOND // 5  # maximum time between two clicks
_CROWD: Final = {"status": "approved", "createdAt": START - timedelta(days=1)}
_CROWD_BEHIND: Final = {"status": "approved", "createdAt": START - timedelta(days=9)}
_BEHIND: Final = 100


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload by a guest. A moderator may decide about the photo later."""

    photo_id: str
    at: int
    guest: str | None
    uid: str
    status: str
    moderated: str | None
    moderated_at: int
    deleted_at: int | None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The document's fields."""
        return {
            "status": self.status,
            "url": f"https://photos.example.com/{self.photo_id}",
            "uploaderName": "A guest",
            "uploaderUid": self.uid,
            "createdAt": START + timedelta(microseconds=self.at),
        } | ({} if self.guest is None else {"uploaderEmail": self.guest})


@dataclass(frozen=True, slots=True)
class Scenario:
    """The initial records and later acts.

    Attributes:
        receivers: Behavior of the receiver at each URL.
        settings: The webhook settings of the event.
        crowd: Number of existing photos.
        behind: Number of photos that existed when the URLs were written.
        uploads: Later uploads.
        outage: Whether Cloud Tasks rejects all tasks in the first two minutes.
        organizer: Acts of the organizer with their times.
        sent_again: Probability that a delivery is resent after a round has ended.
        crowded: Probability that a host has no free slot for a POST.
        unreadable: Whether there is an unreadable record.
    """

    receivers: Mapping[str, str]
    settings: Mapping[str, Any]
    crowd: int
    behind: int
    uploads: tuple[Upload, ...]
    outage: bool
    organizer: tuple[tuple[str, int], ...]
    sent_again: float
    crowded: float
    unreadable: bool

    @classmethod
    def from_choices(cls, choices: Choices) -> Self:
        """Draw a scenario."""
        urls = [_URL.format(number) for number in range(choices.between("urls", 1, 2))]
        outage = choices.happens("outage", 0.05, "two minutes without Cloud Tasks")
        behaviours = ("ok", "ok", "500", "silent", "flaky", "recovers", "down")
        entries: list[dict[str, Any]] = [
            {
                "url": url,
                "events": [
                    str(event_type)
                    for event_type in (
                        EventType if outage else choices.pick(f"{url} takes", _SUBSCRIPTIONS)
                    )
                ],
            }
            for url in urls
        ]
        if choices.happens("unusable", 0.1, "a URL is unusable"):
            entries.append({"url": choices.pick("which", _UNUSABLE), "events": list(EventType)})
        return cls(
            receivers={url: choices.pick(url, behaviours) for url in urls},
            settings={"urls": entries},
            crowd=choices.pick("crowd", (0, 0, 0, 99, 98, 97, 499)),
            behind=choices.pick("behind", (0, 0, 50, _BEHIND, 101)),
            uploads=tuple(_uploads(choices, outage=outage)),
            outage=outage,
            organizer=tuple(_organizer(choices)),
            sent_again=choices.pick("sent again", _SENT_AGAIN),
            crowded=choices.pick("crowded", (0.0, 0.0, 0.0, 0.2, 0.8)),
            unreadable=choices.happens("unreadable", 0.2, "a record cannot be read"),
        )

    @property
    def photos(self) -> Mapping[str, Mapping[str, Any]]:
        """The existing photos by ID."""
        return {
            f"crowd-{number}": _CROWD_BEHIND if number < self.behind else _CROWD
            for number in range(self.crowd)
        }


def _uploads(choices: Choices, *, outage: bool) -> Iterator[Upload]:
    """Yield uploads. In an outage, they keep the triggers busy, and one comes later."""
    for number in range(_BUSY if outage else choices.pick("uploads", (1, 1, 2, 3))):
        yield _upload(choices, number)
    if outage:
        late = _upload(choices, _BUSY)
        yield replace(late, at=late.at + OUTAGE, moderated=None, deleted_at=None)


def _upload(choices: Choices, number: int) -> Upload:
    name = f"photo-{number}"
    guest = choices.pick(f"{name} guest", GUESTS)
    moderated = choices.pick(f"{name} moderated", (None, None, "approved", "rejected"))
    at = choices.between(f"{name} at", 0, choices.pick("within", (SECOND // 10, 10 * SECOND)))
    return Upload(
        photo_id=name,
        at=at,
        guest=guest,
        uid=identity(guest) if guest else choices.pick(f"{name} uid", _UIDS),
        status=choices.pick(f"{name} status", ("pending", "pending", "approved")),
        moderated=moderated,
        moderated_at=at + choices.between(f"{name} moderated at", 1, 20 * SECOND),
        deleted_at=at + choices.between(f"{name} deleted at", 1, 20 * SECOND)
        if choices.happens(f"{name} deleted", 0.1, "its guest deletes it")
        else None,
    )


def _organizer(choices: Choices) -> list[tuple[str, int]]:
    """Return the organizer's acts with their times. One act may happen twice at the same time."""
    done = []
    for act, probability, latest in (
        ("archive", 0.1, 20 * SECOND),
        ("publish again", 0.05, 60 * SECOND),
        ("test", 0.1, 60 * SECOND),
        ("resend page", 0.15, 30 * MINUTE),
        ("rotate", 0.05, 60 * SECOND),
        ("announce", 0.2, 60 * SECOND),
        ("withdraw", 0.2, 90 * SECOND),
        ("switch off", 0.15, 60 * SECOND),
    ):
        if choices.happens(act, probability, "done"):
            at = choices.between(f"{act} when", 0, latest)
            done.append((act, at))
            if act == "resend page" and choices.happens(f"{act} twice", 0.5, "done twice"):
                done.append((f"{act} too", at + choices.between(f"{act} again", 0, _TWICE)))
    return done
