"""Unconfirmed emails, and how an organizer resends them (spec 4.1)."""

import json

import pytest

from emulator.provider_models.sendgrid import Answer, refused
from functions.call.errors import Code
from functions.mail.mail_status import DeliveryStatus
from functions.recap.ledger.batch import BatchState
from functions.recap.ledger.recap_store import LEASE
from functions.recap.report import RecapResult
from tests.unit.recap.recap_fixture import EVENT, At, RecapFixture, fail, guest

LOST: Answer = Answer(502, {}, b"<html>")
"""The answer of a gateway, which does not know what the email provider did."""
NOTHING = "Every email of the last recap is confirmed."


@pytest.fixture
def fixture() -> RecapFixture:
    """Return a recap to two guests with unconfirmed emails."""
    made = RecapFixture()
    made.guests(2)
    made.answers, made.takes = [LOST], True
    refused = made.refusal(mode="all", subject="Thank you", message="All of you.")
    assert (refused.code, refused.details) == (Code.INTERNAL, {"unconfirmed": 2})
    assert "resendUnconfirmed: true" in refused.message
    return made


def test_guests_without_a_report_get_the_recorded_email_again(fixture: RecapFixture) -> None:
    """A guest with a delivery report has the email. Each other guest gets it again."""
    assert fixture.refusal().code is Code.RESOURCE_EXHAUSTED
    fixture.report_recorder().record([fixture.report(guest(0), DeliveryStatus.DELIVERED)])
    fixture.later(hours=1)
    assert fixture.send(resendUnconfirmed=True) == RecapResult(sent=1, skipped=0)
    assert fixture.addresses == [guest(0), guest(1), guest(1)]
    (_, first), *_, (_, again) = fixture.mails
    assert (again.subject, "All of you." in again.text) == ("Thank you", True)
    assert first.subject == again.subject
    recap = fixture.recap()
    counts = {name: recap[name] for name in ("state", "sent", "unknown", "left", "mode")}
    assert counts == {"state": "sent", "sent": 2, "unknown": 0, "left": 0, "mode": "all"}
    assert fixture.send(resendUnconfirmed=True) == RecapResult(0, 0, NOTHING)
    refused = fixture.refusal()
    assert refused.details == {
        "reason": "cooldown",
        "possibleFrom": "2026-05-02T13:00:00.000Z",  # a day from the last mail
        "lastRecap": {"sent": 2, "skipped": 0, "unconfirmed": 0},
    }


def test_the_error_has_no_counts_if_the_last_recap_is_unreadable(fixture: RecapFixture) -> None:
    """Spec 7.1: the counts are an addition, without which the code is the same."""
    refused = fixture.refusal(At("get locks", fail, number=2))
    assert refused.code is Code.RESOURCE_EXHAUSTED
    assert "lastRecap" not in (refused.details or {})


def test_reports_of_both_emails_are_recorded(fixture: RecapFixture) -> None:
    """The first mail may be reported late: a complaint about that mail counts as well."""
    late = fixture.report(guest(0), DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME)
    assert fixture.send(resendUnconfirmed=True).sent == 2
    assert (
        fixture.report_recorder().record([late, fixture.report(guest(1), DeliveryStatus.DELIVERED)])
        == 2
    )
    assert (fixture.recap()["complained"], fixture.recap()["delivered"]) == (1, 1)
    fixture.later(hours=25)
    assert fixture.send().skipped == 1


def test_opt_outs_since_are_honoured(fixture: RecapFixture) -> None:
    """Spec 4.1, rule 3: a guest who has opted out since gets no second mail."""
    fixture.opt_out(guest(0))
    result = fixture.send(resendUnconfirmed=True)
    assert (result.sent, result.skipped) == (1, 1)
    assert fixture.addresses[2:] == [guest(1)]


def test_mails_that_were_never_sent_are_left_to_a_plain_call() -> None:
    """A call sends exactly the unconfirmed mails again, and its notes name the others."""
    fixture = RecapFixture()
    fixture.guests(3)
    fixture.answers = [LOST]
    fixture.refusal()
    result = fixture.send(resendUnconfirmed=True)
    assert (result.sent, fixture.addresses) == (2, [guest(0), guest(1)])
    [note] = result.notes
    assert note.startswith("1 email of that recap was never sent.")
    assert fixture.send().sent == 1
    assert fixture.addresses == [guest(0), guest(1), guest(2)]


@pytest.mark.parametrize("again", [True, False])
def test_emails_that_are_rejected_again_can_be_resent(
    fixture: RecapFixture, *, again: bool
) -> None:
    """The cooldown remains, as the first emails may have arrived. No email is lost."""
    fixture.takes = False
    fixture.answers = [refused(401)]
    assert fixture.refusal(resendUnconfirmed=True).code is Code.INTERNAL
    assert fixture.send(resendUnconfirmed=again).sent == 2
    assert fixture.refusal().code is Code.RESOURCE_EXHAUSTED
    assert len(fixture.recaps()) == 1


def test_a_plain_call_continues_a_recap_whose_mails_were_refused_the_second_time(
    fixture: RecapFixture,
) -> None:
    """The call sends no newcomer a mail of the older recap, and the first mails stay on record."""
    complaint = fixture.report(guest(0), DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME)
    fixture.answers, fixture.takes = [refused(401)], False
    fixture.refusal(resendUnconfirmed=True)
    fixture.photo("newcomer@example.com")
    preview = fixture.preview()
    assert fixture.send().sent == preview.recipients == 2
    assert fixture.addresses == [guest(0), guest(1)] * 2
    assert fixture.report_recorder().record([complaint]) == 1


@pytest.mark.parametrize(("guests", "resends"), [(3, False), (1, True), (3, True)])
def test_a_complaint_counts_after_the_email_was_confirmed(guests: int, *, resends: bool) -> None:
    """The email left with a request that was refused, and its reports name that request's batch."""
    fixture = RecapFixture()
    fixture.guests(guests)
    if resends:
        fixture.answers, fixture.takes = [LOST], True
        fixture.refusal()
    fixture.answers, fixture.takes = [refused(401)], True
    fixture.refusal(resendUnconfirmed=resends)
    complaint = fixture.report(guest(0), DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME)
    fixture.report_recorder().record([fixture.report(guest(0), DeliveryStatus.DELIVERED)])
    fixture.takes = False
    fixture.send()
    assert fixture.report_recorder().record([complaint]) == 1
    assert fixture.recap()["complained"] == 1
    fixture.later(hours=25)
    assert fixture.send().skipped == 1


def test_another_recap_that_has_begun_meanwhile_stays_as_it_is(fixture: RecapFixture) -> None:
    """The call was for the earlier recap, which has other texts."""
    fixture.later(hours=24)

    def begin_another() -> None:
        fixture.send(subject="Another")

    refused = fixture.refusal(At("get recaps", begin_another), resendUnconfirmed=True)
    assert refused.code is Code.ABORTED
    assert fixture.addresses == [guest(0), guest(1)] * 2


@pytest.mark.parametrize("crashed", [False, True])
def test_an_unconfirmed_batch_alerts_the_operator(
    capfd: pytest.CaptureFixture[str], *, crashed: bool
) -> None:
    """Log an error without an answer, and if the process stopped before its record."""
    fixture = RecapFixture()
    fixture.guests(2)
    if crashed:
        fixture.crash("mailer.send")
        fixture.now += LEASE
        result = fixture.send(resendUnconfirmed=True)
        assert result.sent == 2
    else:
        fixture.answers = [LOST]
        fixture.refusal()
    lines = map(json.loads, capfd.readouterr().out.splitlines())
    (line, *_) = [line for line in lines if line.get("state") == "unknown"]
    assert (line["severity"], line["message"]) == ("ERROR", "recap.batch")
    assert (line["eventId"], line["recipients"]) == (EVENT, 2)
    assert crashed or [batch.state for batch in fixture.batches()] == [BatchState.UNKNOWN]


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("reported", [[0], [1], [0, 1]])
def test_a_guest_with_a_report_gets_no_second_email(
    fixture: RecapFixture, reported: list[int], *, again: bool
) -> None:
    """The second request is refused, and then the email provider reports on the first emails."""
    fixture.answers, fixture.takes = [Answer(503, {}, refused(503).body)] * 6, False
    fixture.refusal(resendUnconfirmed=True)
    fixture.answers = []
    fixture.report_recorder().record(
        [fixture.report(guest(number), DeliveryStatus.DELIVERED) for number in reported]
    )
    fixture.later(minutes=50)
    result = fixture.send(resendUnconfirmed=again)
    rest = [guest(number) for number in (0, 1) if number not in reported]
    assert fixture.addresses == [guest(0), guest(1), *rest]
    assert (result.sent, fixture.recap()["sent"], fixture.recap()["left"]) == (len(rest), 2, 0)
    assert fixture.recap()["state"] == "sent"
