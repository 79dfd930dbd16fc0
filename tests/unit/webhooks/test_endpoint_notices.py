"""Who is notified of an endpoint that fails, when, and how often (spec 6.4).

`test_failing_endpoint.py` has when people are to be notified, row by row.
"""

from datetime import timedelta
from typing import Final

import pytest

from emulator.provider_models.sendgrid import NO_ANSWER, Answer, Problem, accepted, refused
from functions.email_address import address_hash, guest_uid
from functions.mail.outcome import MisconfiguredError
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.endpoints.failing_endpoint import NOTICE_QUEUE
from tests.in_memory.adapters import KEYS
from tests.unit.webhooks.evening import ANN, Evening
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL

BOB: Final = "bob@example.com"
FAILING: Final = "A webhook URL is failing: Garden party"
DISABLED: Final = "A webhook URL is switched off: Garden party"
RECOVERED: Final = "A webhook URL works again: Garden party"
BAD: Final = refused(400, Problem("Not a valid address.", "personalizations.0.to.0.email"))


def addresses(evening: Evening) -> list[str]:
    """Of the last mail."""
    return [copy.address for copy in evening.mails[-1].copies]


@pytest.fixture
def failing(evening: Evening) -> Evening:
    """Ann knows that it fails."""
    evening.fail(5)
    assert evening.mailed() == [FAILING]
    return evening


def test_a_test_that_fails_is_not_noted(evening: Evening) -> None:
    """Spec 6.4: an organizer who tries a URL knows how that ended."""
    evening.fail(5, test=True)
    assert evening.known() is None
    assert evening.mailed() == []


def test_what_has_recovered_is_told_once(failing: Evening) -> None:
    """An hour after the last news at the earliest; nothing recovers that was not told to fail."""
    failing.answer_at_last()
    assert failing.mailed(50) == []
    assert failing.mailed(20) == [RECOVERED]
    assert failing.mailed(300) == []
    assert failing.known() is None


def test_a_recovery_that_is_due_holds_no_news_up(failing: Evening) -> None:
    """The sweep sends again, and not the function that sends mails."""
    failing.now += timedelta(hours=1)
    failing.answer_at_last()
    failing.process().notifier.notify(EVENT)
    assert failing.mails[-1].subject == RECOVERED


def test_an_endpoint_that_is_disabled_is_told(evening: Evening) -> None:
    """An admin who enables it knows; that it works is news."""
    evening.fail(99)
    evening.now += timedelta(days=5, hours=1)
    evening.fail()
    assert evening.mailed(15) == [DISABLED]
    assert "100 deliveries have not arrived" in evening.mails[-1].text
    evening.ends("not tried", Outcome.SKIPPED)
    evening.subscribe(URL, OTHER, notify=[ANN])
    evening.fail(5)
    assert evening.mailed(120) == []
    evening.answer_at_last()
    assert evening.mailed(120) == [RECOVERED]
    assert "1 of them was skipped" in evening.mails[-1].text


def test_one_mail_tells_all_the_news_of_an_event(evening: Evening) -> None:
    """Twenty endpoints at one dead host are one mail."""
    evening.fail(5)
    evening.fail(5, url=OTHER)
    assert evening.mailed(30) == ["Webhook URLs: 2 are failing: Garden party"]


def test_it_says_what_has_failed(failing: Evening) -> None:
    """What organizers call the endpoint, since when, why, and how many."""
    text = failing.mails[-1].text
    assert "since 1 May 2026, 18:30 UTC" in text
    assert "Last error: HTTP 500." in text
    assert "5 deliveries have not arrived" in text
    assert "Screen in the hall (" in text


def test_nobody_else_is_told(evening: Evening) -> None:
    """Those in `notify` as it stands then; each mailbox once, and none where mail cannot go."""
    evening.subscribe(URL, notify=[ANN, " Ann@example.com", "nonsense", BOB])
    evening.fail(5)
    evening.mailed()
    assert addresses(evening) == [ANN, BOB]


@pytest.mark.parametrize("gone", ["people", "event", "endpoint"])
def test_whoever_is_gone_is_not_told(evening: Evening, gone: str) -> None:
    """The settings and the event decide when the mail leaves."""
    evening.fail(5)
    if gone == "event":
        evening.delete(f"events/{EVENT}")
    else:
        url = OTHER if gone == "endpoint" else URL
        evening.subscribe(url, notify=[] if gone == "people" else [ANN])
    assert evening.mailed(30) == []
    assert (evening.known() is None) == (gone == "endpoint")


@pytest.mark.parametrize(("notify", "told"), [([ANN, BOB], [FAILING]), ([ANN], [])])
def test_an_address_that_sent_a_mail_back_gets_none(
    evening: Evening, notify: list[str], told: list[str]
) -> None:
    """A hard bounce or a complaint ends mails to the address; where none is left, no task waits."""
    evening.subscribe(URL, notify=notify)
    until = NOW + timedelta(days=300)
    evening.put(f"users/{guest_uid(address_hash(ANN))}", {"unreachableUntil": until})
    evening.put(f"users/{guest_uid(address_hash(BOB))}", {"emailPreferences": {}})
    evening.fail(5)
    assert evening.mailed(30) == told
    assert [task.queue for task in evening.queued] == [NOTICE_QUEUE]
    assert [copy.address for mail in evening.mails for copy in mail.copies] == [BOB] * len(told)


@pytest.mark.parametrize(("name", "at_most"), [("tenant t1", 200), (f"address {ANN}", 24)])
def test_a_mail_beyond_a_limit_of_the_day_is_sent_the_next_day(
    evening: Evening, name: str, at_most: int
) -> None:
    """A tenant's mails and an address's mails are counted by the day."""
    limit = evening.process().rate_limits.keyed("EMAIL_PREFS_KEY")
    for _ in range(at_most):
        assert limit.allows("notices", name, at_most, timedelta(days=1))
    evening.fail(5)
    assert evening.mailed(60) == []
    evening.now += timedelta(hours=6)
    assert evening.mailed(5) == [FAILING]


def test_mails_that_cannot_be_sent_are_not_counted(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 8: the limits are of mails, and the operator takes hours to correct a setting."""
    evening.fail(5)
    with monkeypatch.context() as broken:
        broken.setitem(KEYS, "SENDGRID_API_KEY", ("",))
        for _ in range(24):
            evening.now += timedelta(minutes=5)
            with pytest.raises(MisconfiguredError):
                evening.process().notifier.notify(EVENT)
    assert evening.mailed(5) == [FAILING]


def test_an_address_beyond_its_limit_takes_nothing_from_its_tenant(evening: Evening) -> None:
    """Colleagues are notified of their events."""
    limit = evening.process().rate_limits.keyed("EMAIL_PREFS_KEY")
    for _ in range(24):
        assert limit.allows("notices", f"address {ANN}", 24, timedelta(days=1))
    evening.fail(5)
    for _ in range(200):
        evening.process().notifier.notify(EVENT)
    evening.subscribe(URL, notify=[BOB])
    evening.process().notifier.notify(EVENT)
    assert addresses(evening) == [BOB]


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (accepted("m"), False),
        (NO_ANSWER, False),
        (Answer(503, {}, b"<html>"), False),
        (BAD, False),
        (refused(429), True),
        (refused(503), True),
        (refused(401), True),
    ],
)
def test_a_mail_that_was_not_taken_comes_with_the_next_sweep(
    evening: Evening, answer: Answer, *, again: bool
) -> None:
    """A mail that may have left is never sent again."""
    evening.mail_answers = [answer]
    evening.fail(5)
    assert evening.mailed(5) == [FAILING]
    assert evening.mailed(5) == ([FAILING] if again else [])
    assert evening.mailed(60) == []


def test_a_bad_address_keeps_no_mail_from_others(evening: Evening) -> None:
    """The mail service names it, and takes the rest."""
    evening.subscribe(URL, notify=[ANN, BOB])
    evening.mail_answers = [BAD]
    evening.fail(5)
    assert evening.mailed() == [FAILING, FAILING]
    assert addresses(evening) == [BOB]
    assert evening.mailed(60) == []
