"""Requests whose emails have different outcomes, as with a mail server (spec 3.3)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.call.errors import CallError
from functions.firestore.model import ChangedMeanwhileError
from functions.mail.message import GUEST_LABEL, RECAP_LABEL, EmailMessage
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Cause,
    Later,
    PartlyAccepted,
    Refused,
    SendOutcome,
    Unknown,
)
from functions.recap.dispatch import MAX_REFUSALS
from functions.recap.ledger.batch import BatchState
from functions.recap.recap_arguments import RecapArguments
from functions.recap.report import RecapResult
from tests.in_memory.through import Crash, Through, at_once
from tests.unit.recap.recap_fixture import EVENT, ORGANIZER, RecapFixture, guest

NONE: frozenset[int] = frozenset()


@dataclass
class ScriptedMailer:
    """A mailer with these outcomes, then `Accepted`."""

    outcomes: list[SendOutcome] = field(default_factory=list)
    mailed: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    requests: list[list[str]] = field(default_factory=list)
    key_name = "SMTP_PASSWORD"
    recipients_per_request = 4

    def check(self) -> None:
        """Implement `Mailer.check`."""

    def send(self, message: EmailMessage) -> SendOutcome:
        """Implement `Mailer.send`."""
        outcome = self.outcomes.pop(0) if self.outcomes else Accepted("")
        to = [copy.address for copy in message.copies]
        self.requests.append(to)
        self.keys += [
            f"{copy.labels[RECAP_LABEL]}/{copy.labels[GUEST_LABEL]}" for copy in message.copies
        ]
        if isinstance(outcome, Accepted):
            self.mailed += to
        if isinstance(outcome, PartlyAccepted):
            sent = outcome.accepted | outcome.unknown
            self.mailed += [address for index, address in enumerate(to) if index in sent]
        return outcome


def send(
    fixture: RecapFixture, mailer: Any, through: Through = at_once, **arguments: Any
) -> RecapResult:
    """Send the recap."""
    read = RecapArguments.read({"eventId": EVENT, **arguments})
    fixture.mailer = mailer
    return fixture.process(through).recap_sender.send(ORGANIZER, read)


def fails(
    fixture: RecapFixture, mailer: Any, through: Through = at_once, **arguments: Any
) -> CallError:
    """Send the recap, and return the error of the call."""
    with pytest.raises(CallError) as error:
        send(fixture, mailer, through, **arguments)
    return error.value


def counts(fixture: RecapFixture) -> tuple[int, int, int, int]:
    """Return the recorded numbers: sent, unknown, skipped, left."""
    recap = fixture.recap()
    return recap["sent"], recap["unknown"], recap["skipped"], recap["left"]


ONE_BAD = PartlyAccepted(frozenset({0, 2, 3}), NONE, BadAddresses(frozenset({0})))
ONE_LATER = PartlyAccepted(frozenset({0, 1, 2}), NONE, Later("rcpt: 450", None))
ONE_UNKNOWN = PartlyAccepted(frozenset({0}), frozenset({1}), Later("lost", None))


def test_bad_address_is_skipped_and_the_others_have_the_email(fixture: RecapFixture) -> None:
    """A 550 for one recipient costs no other recipient the email, and no second request."""
    fixture.guests(4)
    mailer = ScriptedMailer([ONE_BAD])
    assert send(fixture, mailer).skipped == 1
    assert mailer.mailed == [guest(0), guest(2), guest(3)]
    assert len(mailer.requests) == 1
    assert counts(fixture) == (3, 0, 1, 0)


def test_later_recipient_is_sent_again_with_pauses(fixture: RecapFixture) -> None:
    """A 450 for one recipient is repeated for this recipient only, with the usual pauses."""
    fixture.guests(4)
    again = Later("rcpt: 450", None)
    mailer = ScriptedMailer([ONE_LATER, again, again])
    assert send(fixture, mailer).sent == 4
    assert mailer.requests == [[guest(n) for n in range(4)], *[[guest(3)]] * 3]
    assert fixture.slept == [1.0, 2.0, 4.0]
    assert counts(fixture) == (4, 0, 0, 0)


def test_recipient_who_stays_later_is_left_for_the_next_call(fixture: RecapFixture) -> None:
    """The call ends with an error, and the next call sends to this recipient only."""
    fixture.guests(4)
    mailer = ScriptedMailer([ONE_LATER, *[Later("rcpt: 450", None)] * 5])
    fails(fixture, mailer)
    assert counts(fixture) == (3, 0, 0, 1)
    assert fixture.recap()["state"] == "interrupted"
    fixture.later(minutes=11)
    assert send(fixture, mailer).sent == 1
    assert sorted(mailer.mailed) == [guest(n) for n in range(4)]
    assert counts(fixture) == (4, 0, 0, 0)


def test_unknown_email_ends_the_call_and_is_not_repeated(fixture: RecapFixture) -> None:
    """Emails that were not tried are left. `resendUnconfirmed` repeats the unknown email only."""
    fixture.guests(4)
    mailer = ScriptedMailer([ONE_UNKNOWN])
    error = fails(fixture, mailer)
    assert error.details == {"unconfirmed": 1}
    assert counts(fixture) == (2, 1, 0, 2)
    fixture.later(minutes=11)
    assert mailer.requests == [[guest(n) for n in range(4)]]
    fails_again = send(fixture, mailer)
    assert fails_again.sent == 2
    assert mailer.requests[1:] == [[guest(2), guest(3)]]
    send(fixture, mailer, resendUnconfirmed=True)
    assert mailer.requests[2:] == [[guest(1)]]
    assert counts(fixture) == (4, 0, 0, 0)
    assert len({key for key in mailer.keys if key.endswith(mailer.keys[1][-8:])}) == 1


@dataclass
class CrashAtCall:
    """Ends the process before or after the effect of one call of Firestore."""

    number: int
    before: bool

    def __call__(self, what: str, effect: Callable[[], Any], *, retried: bool = True) -> Any:
        """Run the effect, or stop the process."""
        del what, retried
        self.number -= 1
        if self.number == 0 and self.before:
            raise Crash
        answer = effect()
        if self.number == 0:
            raise Crash
        return answer


@pytest.mark.parametrize("outcome", [ONE_BAD, ONE_LATER, ONE_UNKNOWN])
@pytest.mark.parametrize("before", [False, True])
def test_crash_repeats_no_email(outcome: PartlyAccepted, *, before: bool) -> None:
    """Whenever the process ends, no guest has two emails, and at most a request is unknown."""
    has_crashed, number = True, 0
    while has_crashed:
        has_crashed, number = False, number + 1
        fixture, mailer = RecapFixture(), ScriptedMailer([outcome])
        fixture.guests(7)
        try:
            with suppress(CallError):
                send(fixture, mailer, CrashAtCall(number, before))
        except Crash:
            has_crashed = True
        for _ in range(2):
            fixture.later(minutes=11)
            with suppress(CallError):
                send(fixture, mailer)
        assert len(mailer.mailed) == len(set(mailer.mailed))
        sent, unknown, skipped, left = counts(fixture)
        assert (sent + skipped, left) == (7, 0)
        assert unknown <= mailer.recipients_per_request + len(outcome.unknown)
    assert number > 10


def test_lost_answer_to_the_record_of_a_divided_batch(fixture: RecapFixture) -> None:
    """Read the record instead, and count each email once."""
    fixture.guests(4)
    mailer = ScriptedMailer([ONE_LATER])
    lost: list[str] = []

    def through(what: str, effect: Callable[[], Any], *, retried: bool = True) -> Any:
        del retried
        answer = effect()
        fixture.later(seconds=1)
        if what == "update locks" and mailer.requests and not lost:
            lost.append(what)
            raise ChangedMeanwhileError  # as the client's repetition of the commit
        return answer

    assert send(fixture, mailer, through).sent == 4
    assert lost
    assert counts(fixture) == (4, 0, 0, 0)


def test_other_holder_is_respected(fixture: RecapFixture) -> None:
    """A call without the lock moves no recipient. The emails count as unknown."""
    fixture.guests(4)
    mailer = ScriptedMailer([ONE_LATER])

    def take_over() -> None:
        fixture.later(minutes=11)
        with suppress(CallError):
            send(fixture, ScriptedMailer([Refused("no")]))

    original = mailer.send

    def send_late(message: EmailMessage) -> SendOutcome:
        outcome = original(message)
        take_over()
        return outcome

    mailer.send = send_late  # type: ignore[method-assign]
    fails(fixture, mailer)
    states = {batch.state for batch in fixture.batches()}
    assert states == {BatchState.UNKNOWN}
    assert counts(fixture) == (4, 4, 0, 0)


def test_many_refusals_end_the_call(fixture: RecapFixture) -> None:
    """A mail server blocks a client that fails to sign in for each of 417 batches."""
    fixture.guests(4 * MAX_REFUSALS + 8)
    mailer = ScriptedMailer([Refused("sign-in: 535", Cause.KEY)] * 100)
    assert "SMTP_PASSWORD" in fails(fixture, mailer).message
    assert len(mailer.requests) == MAX_REFUSALS


def test_request_may_be_unknown_as_a_whole(fixture: RecapFixture) -> None:
    """All its emails count as sent."""
    fixture.guests(2)
    mailer = ScriptedMailer([Unknown("no reply")])
    assert fails(fixture, mailer).details == {"unconfirmed": 2}
