"""Who is notified of an endpoint that fails, when, and how often (spec 6.4)."""

from datetime import timedelta
from typing import Final

import pytest

from functions.mail.message import Accepted, BadAddresses, Later, Refused, SendOutcome, Unknown
from functions.wall.address import address_hash, guest_uid
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.failing_endpoints.failing_endpoint import NOTICE_QUEUE
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, crashes
from tests.unit.webhooks.test_endpoint_sweep import Evening

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
ANN: Final = "ann@example.com"
BOB: Final = "bob@example.com"
FAILING: Final = "A webhook URL is failing: Garden party"
DISABLED: Final = "A webhook URL is switched off: Garden party"
RECOVERED: Final = "A webhook URL works again: Garden party"


class House(Evening):
    """A garden party, whose admin Ann is notified."""

    def __init__(self) -> None:
        super().__init__()
        self.put(f"events/{EVENT}", {"tenantId": "t1", "name": "Garden party"})
        self.subscribe(URL, OTHER, notify=[ANN], labels={URL: "Screen in the hall"})
        self._made = 0

    def fails(self, times: int = 1, *, url: str = URL, test: bool = False) -> None:
        """So many deliveries fail, a second apart."""
        for _ in range(times):
            self._made += 1
            self.now += timedelta(seconds=1)
            self.ends(f"d{self._made}", Outcome.FAILED, url=url, test=test)

    def works(self, *, test: bool = False) -> None:
        """A delivery is acknowledged."""
        self._made += 1
        self.now += timedelta(seconds=1)
        self.ends(f"d{self._made}", Outcome.SUCCESS, test=test)

    def mailed(self, minutes: int = 5) -> list[str]:
        """Subjects of the mails of so many minutes, a sweep every five."""
        before = len(self.mails)
        for _ in range(minutes // 5):
            self.now += 5 * MINUTE
            tasks = len(self.queued)
            self.process().endpoint_sweep.sweep()
            for task in self.queued[tasks:]:
                if task.queue == NOTICE_QUEUE:
                    self.process().notifier.notify(EVENT)
        return [mail.subject for mail in self.mails[before:]]

    @property
    def addresses(self) -> list[str]:
        """Of the last mail."""
        return [copy.address for copy in self.mails[-1].copies]


@pytest.fixture
def house() -> House:
    """Nothing has failed."""
    return House()


@pytest.fixture
def failing(house: House) -> House:
    """Ann knows that it fails."""
    house.fails(5)
    assert house.mailed() == [FAILING]
    return house


@pytest.mark.parametrize(("failures", "told"), [(4, []), (5, [FAILING]), (20, [FAILING])])
def test_five_failures_in_a_row_are_told_once(house: House, failures: int, told: list[str]) -> None:
    """People are notified once, however long the receiver goes on failing."""
    house.fails(failures)
    assert house.mailed() == told
    for _ in range(4):
        house.fails(3 if told else 0)
        assert house.mailed(30) == []


def test_tests_count_for_nothing(house: House) -> None:
    """An organizer who tries a URL knows how that ended."""
    house.fails(4)
    house.fails(50, test=True)
    assert house.mailed() == []
    house.fails()
    assert house.mailed() == [FAILING]


def test_what_has_recovered_is_told_once(failing: House) -> None:
    """An hour after the last news at the earliest; nothing recovers that was not told to fail."""
    failing.works()
    assert failing.mailed(50) == []
    assert failing.mailed(20) == [RECOVERED]
    assert failing.mailed(300) == []
    assert failing.known() is None


def test_an_endpoint_that_is_disabled_is_told(house: House) -> None:
    """An admin who enables it knows; that it works is news."""
    house.fails(99)
    house.now += timedelta(days=5, hours=1)
    house.fails()
    assert house.mailed(15) == [DISABLED]
    assert "100 deliveries have not arrived" in house.mails[-1].text
    house.subscribe(URL, OTHER, notify=[ANN])
    house.fails(5)
    assert house.mailed(120) == []
    house.works()
    assert house.mailed(120) == [RECOVERED]


def test_one_mail_tells_all_the_news_of_an_event(house: House) -> None:
    """Twenty endpoints at one dead host are one mail."""
    house.fails(5)
    house.fails(5, url=OTHER)
    assert house.mailed(30) == ["Webhook URLs: 2 are failing: Garden party"]


def test_it_says_what_has_failed(failing: House) -> None:
    """What organizers call the endpoint, since when, why, and how many."""
    text = failing.mails[-1].text
    assert "since 1 May 2026, 18:30 UTC" in text
    assert "Last error: HTTP 500." in text
    assert "5 deliveries have not arrived" in text
    assert "Screen in the hall (" in text


def test_nobody_else_is_told(house: House) -> None:
    """Those in `notify` as it stands then; each mailbox once, and none where mail cannot go."""
    house.subscribe(URL, notify=[ANN, " Ann@example.com", "nonsense", BOB])
    house.fails(5)
    house.mailed()
    assert house.addresses == [ANN, BOB]


@pytest.mark.parametrize("gone", ["people", "event", "endpoint"])
def test_whoever_is_gone_is_not_told(house: House, gone: str) -> None:
    """The settings and the event decide when the mail leaves."""
    house.fails(5)
    if gone == "event":
        house.delete(f"events/{EVENT}")
    else:
        url = OTHER if gone == "endpoint" else URL
        house.subscribe(url, notify=[] if gone == "people" else [ANN])
    assert house.mailed(30) == []


@pytest.mark.parametrize(("notify", "told"), [([ANN, BOB], [FAILING]), ([ANN], [])])
def test_an_address_that_sent_a_mail_back_gets_none(
    house: House, notify: list[str], told: list[str]
) -> None:
    """A hard bounce or a complaint ends mails to the address; where none is left, no task waits."""
    house.subscribe(URL, notify=notify)
    until = NOW + timedelta(days=300)
    house.put(f"users/{guest_uid(address_hash(ANN))}", {"unreachableUntil": until})
    house.fails(5)
    assert house.mailed(30) == told
    assert [task.queue for task in house.queued] == [NOTICE_QUEUE]
    assert [copy.address for mail in house.mails for copy in mail.copies] == [BOB] * len(told)


@pytest.mark.parametrize(("name", "at_most"), [("tenant t1", 200), (f"address {ANN}", 24)])
def test_a_mail_beyond_a_limit_of_the_day_is_sent_the_next_day(
    house: House, name: str, at_most: int
) -> None:
    """A tenant's mails and an address's mails are counted by the day."""
    limit = house.process().rate_limit("EMAIL_PREFS_KEY")
    for _ in range(at_most):
        assert limit.allows("notices", name, at_most, timedelta(days=1))
    house.fails(5)
    assert house.mailed(60) == []
    house.now += timedelta(hours=6)
    assert house.mailed(5) == [FAILING]


@pytest.mark.parametrize(
    ("outcome", "again"),
    [
        (Accepted("m"), False),
        (Unknown("no answer"), False),
        (BadAddresses(frozenset({0})), False),
        (Later("HTTP 429", None), True),
        (Refused("HTTP 401"), True),
    ],
)
def test_a_mail_that_was_not_taken_comes_with_the_next_sweep(
    house: House, outcome: SendOutcome, *, again: bool
) -> None:
    """One that may have left never does."""
    house.taken = [outcome]
    house.fails(5)
    assert house.mailed(5) == [FAILING]
    assert house.mailed(5) == ([FAILING] if again else [])
    assert house.mailed(60) == []


def test_a_bad_address_keeps_no_mail_from_others(house: House) -> None:
    """The mail service names it, and takes the rest."""
    house.subscribe(URL, notify=[ANN, BOB])
    house.taken = [BadAddresses(frozenset({0}))]
    house.fails(5)
    assert house.mailed() == [FAILING, FAILING]
    assert house.addresses == [BOB]
    assert house.mailed(60) == []


def test_after_a_crash_a_notice_may_come_twice_and_never_is_lost(house: House) -> None:
    """The process ends before the record says that people know."""
    house.fails(5)
    house.at("update endpoints", crashes, skip=1)  # the first one is the sweep's
    with pytest.raises(BaseException):  # noqa: B017, PT011 - the process is gone
        house.mailed()
    assert house.mailed(60) == [FAILING]
