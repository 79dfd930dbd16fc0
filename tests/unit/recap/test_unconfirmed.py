"""Mails that the mail service did not confirm, and how an organizer sends them again (spec 4.1)."""

import json

import pytest

from emulator.provider_models.sendgrid import Answer, refused
from functions.call.errors import Code
from functions.mail.mail_status import DeliveryStatus
from functions.recap.ledger.batch import BatchState
from functions.recap.ledger.recap_store import LEASE
from functions.recap.report import RecapResult
from tests.unit.recap.parts import EVENT, At, House, fail, guest

LOST: Answer = Answer(502, {}, b"<html>")
"""The answer of a gateway, which does not know what the mail service did."""
NOTHING = "Every email of the last recap is confirmed."


@pytest.fixture
def house() -> House:
    """A recap to two guests, who may have the mail."""
    made = House()
    made.guests(2)
    made.answers, made.takes = [LOST], True
    refused = made.refusal(mode="all", subject="Thank you", message="All of you.")
    assert (refused.code, refused.details) == (Code.INTERNAL, {"unconfirmed": 2})
    assert "resendUnconfirmed: true" in refused.message
    return made


def test_the_unheard_get_the_recorded_mail_again_within_the_cooldown(house: House) -> None:
    """A guest with a mail event has the mail; each other guest gets the same mail once more."""
    assert house.refusal().code is Code.RESOURCE_EXHAUSTED
    house.mail_events().record([house.told(guest(0), DeliveryStatus.DELIVERED)])
    house.later(hours=1)
    assert house.send(resendUnconfirmed=True) == RecapResult(sent=1, skipped=0)
    assert house.addresses == [guest(0), guest(1), guest(1)]
    (_, first), *_, (_, again) = house.mails
    assert (again.subject, "All of you." in again.text) == ("Thank you", True)
    assert first.subject == again.subject
    recap = house.recap()
    counts = {name: recap[name] for name in ("state", "sent", "unknown", "left", "mode")}
    assert counts == {"state": "sent", "sent": 2, "unknown": 0, "left": 0, "mode": "all"}
    assert house.send(resendUnconfirmed=True) == RecapResult(0, 0, NOTHING)
    refused = house.refusal()
    assert refused.details == {
        "reason": "cooldown",
        "possibleFrom": "2026-05-02T13:00:00.000Z",  # a day from the last mail
        "lastRecap": {"sent": 2, "skipped": 0, "unconfirmed": 0},
    }


def test_a_refusal_stands_where_the_last_recap_cannot_be_read(house: House) -> None:
    """Spec 7.1: the counts are an addition, without which the code is the same."""
    refused = house.refusal(At("get locks", fail, number=2))
    assert refused.code is Code.RESOURCE_EXHAUSTED
    assert "lastRecap" not in (refused.details or {})


def test_reports_of_either_mail_are_recorded(house: House) -> None:
    """The first mail may be reported late: a complaint about that mail counts as well."""
    late = house.told(guest(0), DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME)
    assert house.send(resendUnconfirmed=True).sent == 2
    assert house.mail_events().record([late, house.told(guest(1), DeliveryStatus.DELIVERED)]) == 2
    assert (house.recap()["complained"], house.recap()["delivered"]) == (1, 1)
    house.later(hours=25)
    assert house.send().skipped == 1


def test_opt_outs_since_are_honoured(house: House) -> None:
    """Spec 4.1, rule 3: a guest who has opted out since gets no second mail."""
    house.opt_out(guest(0))
    result = house.send(resendUnconfirmed=True)
    assert (result.sent, result.skipped) == (1, 1)
    assert house.addresses[2:] == [guest(1)]


def test_mails_that_were_never_sent_are_left_to_a_plain_call() -> None:
    """A call sends exactly the unconfirmed mails again, and its notes name the others."""
    house = House()
    house.guests(3)
    house.answers = [LOST]
    house.refusal()
    result = house.send(resendUnconfirmed=True)
    assert (result.sent, house.addresses) == (2, [guest(0), guest(1)])
    [note] = result.notes
    assert note.startswith("1 email of that recap was never sent.")
    assert house.send().sent == 1
    assert house.addresses == [guest(0), guest(1), guest(2)]


@pytest.mark.parametrize("again", [True, False])
def test_what_the_mail_service_refuses_again_can_be_sent_again(
    house: House, *, again: bool
) -> None:
    """The first mails may have arrived, so that the cooldown stays; and no mail gets lost."""
    house.takes = False
    house.answers = [refused(401)]
    assert house.refusal(resendUnconfirmed=True).code is Code.INTERNAL
    assert house.send(resendUnconfirmed=again).sent == 2
    assert house.refusal().code is Code.RESOURCE_EXHAUSTED
    assert len(house.recaps()) == 1


def test_a_plain_call_continues_a_recap_whose_mails_were_refused_the_second_time(
    house: House,
) -> None:
    """The call sends no newcomer a mail of the older recap, and the first mails stay on record."""
    complaint = house.told(guest(0), DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME)
    house.answers, house.takes = [refused(401)], False
    house.refusal(resendUnconfirmed=True)
    house.photo("newcomer@example.com")
    preview = house.preview()
    assert house.send().sent == preview.recipients == 2
    assert house.addresses == [guest(0), guest(1)] * 2
    assert house.mail_events().record([complaint]) == 1


@pytest.mark.parametrize(("guests", "resends"), [(3, False), (1, True), (3, True)])
def test_a_complaint_counts_after_the_email_was_confirmed(guests: int, *, resends: bool) -> None:
    """The email left with a request that was refused, and its reports name that request's batch."""
    house = House()
    house.guests(guests)
    if resends:
        house.answers, house.takes = [LOST], True
        house.refusal()
    house.answers, house.takes = [refused(401)], True
    house.refusal(resendUnconfirmed=resends)
    complaint = house.told(guest(0), DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME)
    house.mail_events().record([house.told(guest(0), DeliveryStatus.DELIVERED)])
    house.takes = False
    house.send()
    assert house.mail_events().record([complaint]) == 1
    assert house.recap()["complained"] == 1
    house.later(hours=25)
    assert house.send().skipped == 1


def test_another_recap_that_has_begun_meanwhile_stays_as_it_is(house: House) -> None:
    """The call was for the recap before, whose texts are not those of the new one."""
    house.later(hours=24)

    def begin_another() -> None:
        house.send(subject="Another")

    refused = house.refusal(At("get recaps", begin_another), resendUnconfirmed=True)
    assert refused.code is Code.ABORTED
    assert house.addresses == [guest(0), guest(1)] * 2


@pytest.mark.parametrize("crashed", [False, True])
def test_an_unconfirmed_batch_alerts_the_operator(
    capfd: pytest.CaptureFixture[str], *, crashed: bool
) -> None:
    """An error is logged where no answer came, or where the process ended before its record."""
    house = House()
    house.guests(2)
    if crashed:
        house.crash("mailer.send")
        house.now += LEASE
        result = house.send(resendUnconfirmed=True)
        assert result.sent == 2
    else:
        house.answers = [LOST]
        house.refusal()
    lines = map(json.loads, capfd.readouterr().out.splitlines())
    (line, *_) = [line for line in lines if line.get("state") == "unknown"]
    assert (line["severity"], line["message"]) == ("ERROR", "recap.batch")
    assert (line["eventId"], line["recipients"]) == (EVENT, 2)
    assert crashed or [batch.state for batch in house.batches()] == [BatchState.UNKNOWN]


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("reported", [[0], [1], [0, 1]])
def test_a_guest_with_a_report_gets_no_second_email(
    house: House, reported: list[int], *, again: bool
) -> None:
    """The second request is refused, and then the mail service reports on the first emails."""
    house.answers, house.takes = [Answer(503, {}, refused(503).body)] * 6, False
    house.refusal(resendUnconfirmed=True)
    house.answers = []
    house.mail_events().record(
        [house.told(guest(number), DeliveryStatus.DELIVERED) for number in reported]
    )
    house.later(minutes=50)
    result = house.send(resendUnconfirmed=again)
    rest = [guest(number) for number in (0, 1) if number not in reported]
    assert house.addresses == [guest(0), guest(1), *rest]
    assert (result.sent, house.recap()["sent"], house.recap()["left"]) == (len(rest), 2, 0)
    assert house.recap()["state"] == "sent"
