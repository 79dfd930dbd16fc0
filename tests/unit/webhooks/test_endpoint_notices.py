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
from tests.unit.webhooks.endpoint_fixture import ANN, EndpointFixture
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, OTHER, URL

BOB: Final = "bob@example.com"
FAILING: Final = "A webhook URL is failing: Garden party"
DISABLED: Final = "A webhook URL is switched off: Garden party"
RECOVERED: Final = "A webhook URL works again: Garden party"
BAD: Final = refused(400, Problem("Not a valid address.", "personalizations.0.to.0.email"))


def addresses(endpoints: EndpointFixture) -> list[str]:
    """Of the last mail."""
    return [copy.address for copy in endpoints.mails[-1].copies]


@pytest.fixture
def failing(endpoints: EndpointFixture) -> EndpointFixture:
    """Ann knows that it fails."""
    endpoints.fail(5)
    assert endpoints.collect_notices() == [FAILING]
    return endpoints


def test_a_test_that_fails_is_not_noted(endpoints: EndpointFixture) -> None:
    """Spec 6.4: an organizer who tries a URL knows how that ended."""
    endpoints.fail(5, test=True)
    assert endpoints.endpoint_record() is None
    assert endpoints.collect_notices() == []


def test_what_has_recovered_is_told_once(failing: EndpointFixture) -> None:
    """An hour after the last news at the earliest; nothing recovers that was not told to fail."""
    failing.acknowledge()
    assert failing.collect_notices(50) == []
    assert failing.collect_notices(20) == [RECOVERED]
    assert failing.collect_notices(300) == []
    assert failing.endpoint_record() is None


def test_a_recovery_that_is_due_holds_no_news_up(failing: EndpointFixture) -> None:
    """The sweep sends again, and not the function that sends mails."""
    failing.now += timedelta(hours=1)
    failing.acknowledge()
    failing.process().notifier.notify(EVENT)
    assert failing.mails[-1].subject == RECOVERED


def test_an_endpoint_that_is_disabled_is_told(endpoints: EndpointFixture) -> None:
    """An admin who enables it knows; that it works is news."""
    endpoints.fail(99)
    endpoints.now += timedelta(days=5, hours=1)
    endpoints.fail()
    assert endpoints.collect_notices(15) == [DISABLED]
    assert "100 deliveries have not arrived" in endpoints.mails[-1].text
    endpoints.end_delivery("not tried", Outcome.SKIPPED)
    endpoints.subscribe(URL, OTHER, notify=[ANN])
    endpoints.fail(5)
    assert endpoints.collect_notices(120) == []
    endpoints.acknowledge()
    assert endpoints.collect_notices(120) == [RECOVERED]
    assert "1 of them was skipped" in endpoints.mails[-1].text


def test_one_mail_tells_all_the_news_of_an_event(endpoints: EndpointFixture) -> None:
    """Twenty endpoints at one dead host are one mail."""
    endpoints.fail(5)
    endpoints.fail(5, url=OTHER)
    assert endpoints.collect_notices(30) == ["Webhook URLs: 2 are failing: Garden party"]


def test_it_says_what_has_failed(failing: EndpointFixture) -> None:
    """What organizers call the endpoint, since when, why, and how many."""
    text = failing.mails[-1].text
    assert "since 1 May 2026, 18:30 UTC" in text
    assert "Last error: HTTP 500." in text
    assert "5 deliveries have not arrived" in text
    assert "Screen in the hall (" in text


def test_nobody_else_is_told(endpoints: EndpointFixture) -> None:
    """Those in `notify` as it stands then; each mailbox once, and none where mail cannot go."""
    endpoints.subscribe(URL, notify=[ANN, " Ann@example.com", "nonsense", BOB])
    endpoints.fail(5)
    endpoints.collect_notices()
    assert addresses(endpoints) == [ANN, BOB]


@pytest.mark.parametrize("gone", ["people", "event", "endpoint"])
def test_whoever_is_gone_is_not_told(endpoints: EndpointFixture, gone: str) -> None:
    """The settings and the event decide when the mail leaves."""
    endpoints.fail(5)
    if gone == "event":
        endpoints.delete(f"events/{EVENT}")
    else:
        url = OTHER if gone == "endpoint" else URL
        endpoints.subscribe(url, notify=[] if gone == "people" else [ANN])
    assert endpoints.collect_notices(30) == []
    assert (endpoints.endpoint_record() is None) == (gone == "endpoint")


@pytest.mark.parametrize(("notify", "told"), [([ANN, BOB], [FAILING]), ([ANN], [])])
def test_an_address_that_sent_a_mail_back_gets_none(
    endpoints: EndpointFixture, notify: list[str], told: list[str]
) -> None:
    """A hard bounce or a complaint ends mails to the address; where none is left, no task waits."""
    endpoints.subscribe(URL, notify=notify)
    until = NOW + timedelta(days=300)
    endpoints.put(f"users/{guest_uid(address_hash(ANN))}", {"unreachableUntil": until})
    endpoints.put(f"users/{guest_uid(address_hash(BOB))}", {"emailPreferences": {}})
    endpoints.fail(5)
    assert endpoints.collect_notices(30) == told
    assert [task.queue for task in endpoints.queued] == [NOTICE_QUEUE]
    assert [copy.address for mail in endpoints.mails for copy in mail.copies] == [BOB] * len(told)


@pytest.mark.parametrize(("name", "at_most"), [("tenant t1", 200), (f"address {ANN}", 24)])
def test_a_mail_beyond_a_limit_of_the_day_is_sent_the_next_day(
    endpoints: EndpointFixture, name: str, at_most: int
) -> None:
    """A tenant's mails and an address's mails are counted by the day."""
    limit = endpoints.process().rate_limits.keyed("EMAIL_PREFS_KEY")
    for _ in range(at_most):
        assert limit.allows("notices", name, at_most, timedelta(days=1))
    endpoints.fail(5)
    assert endpoints.collect_notices(60) == []
    endpoints.now += timedelta(hours=6)
    assert endpoints.collect_notices(5) == [FAILING]


def test_mails_that_cannot_be_sent_are_not_counted(
    endpoints: EndpointFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 8: the limits are of mails, and the operator takes hours to correct a setting."""
    endpoints.fail(5)
    with monkeypatch.context() as broken:
        broken.setitem(KEYS, "SENDGRID_API_KEY", ("",))
        for _ in range(24):
            endpoints.now += timedelta(minutes=5)
            with pytest.raises(MisconfiguredError):
                endpoints.process().notifier.notify(EVENT)
    assert endpoints.collect_notices(5) == [FAILING]


def test_an_address_beyond_its_limit_takes_nothing_from_its_tenant(
    endpoints: EndpointFixture,
) -> None:
    """Colleagues are notified of their events."""
    limit = endpoints.process().rate_limits.keyed("EMAIL_PREFS_KEY")
    for _ in range(24):
        assert limit.allows("notices", f"address {ANN}", 24, timedelta(days=1))
    endpoints.fail(5)
    for _ in range(200):
        endpoints.process().notifier.notify(EVENT)
    endpoints.subscribe(URL, notify=[BOB])
    endpoints.process().notifier.notify(EVENT)
    assert addresses(endpoints) == [BOB]


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
    endpoints: EndpointFixture, answer: Answer, *, again: bool
) -> None:
    """A mail that may have left is never sent again."""
    endpoints.mail_answers = [answer]
    endpoints.fail(5)
    assert endpoints.collect_notices(5) == [FAILING]
    assert endpoints.collect_notices(5) == ([FAILING] if again else [])
    assert endpoints.collect_notices(60) == []


def test_a_bad_address_keeps_no_mail_from_others(endpoints: EndpointFixture) -> None:
    """The mail service names it, and takes the rest."""
    endpoints.subscribe(URL, notify=[ANN, BOB])
    endpoints.mail_answers = [BAD]
    endpoints.fail(5)
    assert endpoints.collect_notices() == [FAILING, FAILING]
    assert addresses(endpoints) == [BOB]
    assert endpoints.collect_notices(60) == []
