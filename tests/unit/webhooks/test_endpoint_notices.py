"""Notices of failing endpoints: recipients, times and limits (spec 6.4).

`test_failing_endpoint.py` has the rules for the time of a notice as a table.
"""

from datetime import timedelta
from typing import Any, Final

import pytest

from emulator.provider_models.sendgrid import NO_ANSWER, Answer, Problem, accepted, refused
from functions.email_address import address_hash, guest_uid
from functions.mail.message import Copy, EmailMessage
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Later,
    MisconfiguredError,
    PartlyAccepted,
    SendOutcome,
)
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.endpoints.failing_endpoint import NOTICE_QUEUE
from functions.webhooks.endpoints.notifier import _send_without_rejected
from tests.in_memory.adapters import KEYS
from tests.unit.webhooks.endpoint_fixture import ANN, EndpointFixture
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, OTHER, URL

BOB: Final = "bob@example.com"
FAILING: Final = "A webhook URL is failing: Garden party"
DISABLED: Final = "A webhook URL is switched off: Garden party"
RECOVERED: Final = "A webhook URL works again: Garden party"
BAD: Final = refused(400, Problem("Not a valid address.", "personalizations.0.to.0.email"))


def addresses(endpoints: EndpointFixture) -> list[str]:
    """Return the addresses of the last email."""
    return [copy.address for copy in endpoints.mails[-1].copies]


@pytest.fixture
def failing(endpoints: EndpointFixture) -> EndpointFixture:
    """Return an event whose failing endpoint Ann was notified of."""
    endpoints.fail(5)
    assert endpoints.collect_notices() == [FAILING]
    return endpoints


def test_a_failed_test_delivery_is_not_recorded(endpoints: EndpointFixture) -> None:
    """Spec 6.4: the organizer who sent the test sees its result."""
    endpoints.fail(5, test=True)
    assert endpoints.endpoint_record() is None
    assert endpoints.collect_notices() == []


def test_a_recovery_is_reported_once(failing: EndpointFixture) -> None:
    """Wait for an hour after the last notice. Report no recovery of an unreported failure."""
    failing.acknowledge()
    assert failing.collect_notices(50) == []
    assert failing.collect_notices(20) == [RECOVERED]
    assert failing.collect_notices(300) == []
    assert failing.endpoint_record() is None


def test_a_due_recovery_does_not_delay_a_notice(failing: EndpointFixture) -> None:
    """The sweep redelivers, not the function that sends emails."""
    failing.now += timedelta(hours=1)
    failing.acknowledge()
    failing.process().notifier.notify(EVENT)
    assert failing.mails[-1].subject == RECOVERED


def test_a_disabled_endpoint_is_reported(endpoints: EndpointFixture) -> None:
    """Enabling by an admin is not reported. A later acknowledgement is."""
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


def test_one_email_reports_all_endpoints_of_an_event(endpoints: EndpointFixture) -> None:
    """An event can have twenty endpoints on one dead host."""
    endpoints.fail(5)
    endpoints.fail(5, url=OTHER)
    assert endpoints.collect_notices(30) == ["Webhook URLs: 2 are failing: Garden party"]


def test_a_notice_has_the_label_the_start_the_error_and_the_count(failing: EndpointFixture) -> None:
    """Give organizers the data that they need for a decision (spec 6.4)."""
    text = failing.mails[-1].text
    assert "since 1 May 2026, 18:30 UTC" in text
    assert "Last error: HTTP 500." in text
    assert "5 deliveries have not arrived" in text
    assert "Screen in the hall (" in text


def test_only_valid_addresses_in_notify_are_notified_once_each(endpoints: EndpointFixture) -> None:
    """Read `notify` when the email is sent."""
    endpoints.subscribe(URL, notify=[ANN, " Ann@example.com", "nonsense", BOB])
    endpoints.fail(5)
    endpoints.collect_notices()
    assert addresses(endpoints) == [ANN, BOB]


@pytest.mark.parametrize("gone", ["people", "event", "endpoint"])
def test_no_notice_is_sent_after_a_removal(endpoints: EndpointFixture, gone: str) -> None:
    """Read the settings and the event when the email is sent."""
    endpoints.fail(5)
    if gone == "event":
        endpoints.delete(f"events/{EVENT}")
    else:
        url = OTHER if gone == "endpoint" else URL
        endpoints.subscribe(url, notify=[] if gone == "people" else [ANN])
    assert endpoints.collect_notices(30) == []
    assert (endpoints.endpoint_record() is None) == (gone == "endpoint")


@pytest.mark.parametrize(("notify", "subjects"), [([ANN, BOB], [FAILING]), ([ANN], [])])
def test_an_unreachable_address_gets_no_notice(
    endpoints: EndpointFixture, notify: list[str], subjects: list[str]
) -> None:
    """A hard bounce or a complaint ends emails to the address. Nothing is queued without one."""
    endpoints.subscribe(URL, notify=notify)
    until = NOW + timedelta(days=300)
    endpoints.put(f"users/{guest_uid(address_hash(ANN))}", {"unreachableUntil": until})
    endpoints.put(f"users/{guest_uid(address_hash(BOB))}", {"emailPreferences": {}})
    endpoints.fail(5)
    assert endpoints.collect_notices(30) == subjects
    assert [task.queue for task in endpoints.queued] == [NOTICE_QUEUE]
    assert [copy.address for mail in endpoints.mails for copy in mail.copies] == [BOB] * len(
        subjects
    )


@pytest.mark.parametrize(("name", "at_most"), [("tenant t1", 200), (f"address {ANN}", 24)])
def test_a_notice_over_a_daily_limit_is_sent_when_the_limit_allows(
    endpoints: EndpointFixture, name: str, at_most: int
) -> None:
    """Count the emails of a tenant and of an address by the day."""
    limit = endpoints.process().rate_limits.keyed("EMAIL_PREFS_KEY")
    for _ in range(at_most):
        assert limit.allows("notices", name, at_most, timedelta(days=1))
    endpoints.fail(5)
    assert endpoints.collect_notices(60) == []
    endpoints.now += timedelta(hours=6)
    assert endpoints.collect_notices(5) == [FAILING]


def test_emails_that_cannot_be_sent_are_not_counted(
    endpoints: EndpointFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 8: the limits count emails, and the operator may need hours to correct a setting."""
    endpoints.fail(5)
    with monkeypatch.context() as broken:
        broken.setitem(KEYS, "SENDGRID_API_KEY", ("",))
        for _ in range(24):
            endpoints.now += timedelta(minutes=5)
            with pytest.raises(MisconfiguredError):
                endpoints.process().notifier.notify(EVENT)
    assert endpoints.collect_notices(5) == [FAILING]


def test_an_address_at_its_limit_uses_nothing_of_its_tenants_limit(
    endpoints: EndpointFixture,
) -> None:
    """Other people of the tenant still get their notices."""
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
def test_a_rejected_email_is_sent_by_the_next_sweep(
    endpoints: EndpointFixture, answer: Answer, *, again: bool
) -> None:
    """An email that may have been accepted is never repeated."""
    endpoints.mail_answers = [answer]
    endpoints.fail(5)
    assert endpoints.collect_notices(5) == [FAILING]
    assert endpoints.collect_notices(5) == ([FAILING] if again else [])
    assert endpoints.collect_notices(60) == []


def test_a_rejected_address_does_not_affect_the_others(endpoints: EndpointFixture) -> None:
    """The email provider names the address and accepts the others."""
    endpoints.subscribe(URL, notify=[ANN, BOB])
    endpoints.mail_answers = [BAD]
    endpoints.fail(5)
    assert endpoints.collect_notices() == [FAILING, FAILING]
    assert addresses(endpoints) == [BOB]
    assert endpoints.collect_notices(60) == []


@pytest.mark.parametrize(
    ("partly", "reached"),
    [
        (PartlyAccepted(frozenset({0}), frozenset(), BadAddresses(frozenset({0}))), 1),
        (PartlyAccepted(frozenset({0}), frozenset({1}), None), 2),
        (PartlyAccepted(frozenset(), frozenset({0}), Later("lost", None)), 1),
    ],
)
def test_a_notice_that_some_addresses_have_is_not_repeated(
    partly: PartlyAccepted, reached: int
) -> None:
    """A mail server answers for each address. The log counts the addresses that have the notice."""

    class PartlyMailer:
        def send(self, _: EmailMessage) -> SendOutcome:
            return partly

    mailer: Any = PartlyMailer()
    message = EmailMessage(
        sender="a@example.com",
        subject="s",
        text="t",
        html="h",
        copies=[Copy(address=address, headers={}) for address in (ANN, BOB)],
    )
    assert _send_without_rejected(mailer, message) == (Accepted(""), reached)
