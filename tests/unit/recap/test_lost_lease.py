"""Calls that are delayed beyond their lease (design 3.41). The simulation has the rest."""

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import pytest

from emulator.provider_models.sendgrid import accepted, refused
from functions.call.errors import CallError
from functions.email_address import address_hash
from functions.firestore.model import ChangedMeanwhileError
from functions.recap.ledger.batch import BatchState
from functions.recap.ledger.recap_store import LEASE
from functions.recap.report import RecapResult
from tests.unit.recap.recap_fixture import NOON, At, RecapFixture, fail, guest

T = TypeVar("T")

GUESTS = 5
"""Three batches."""

Step = tuple[str, int]
TAKE, PHOTOS, REQUEST, SETTLE = (
    (call, 1) for call in ("end locks", "find photos", "mailer.send", "update batches")
)
PLAN, START, LAST_START, RELEASE = (("update locks", number) for number in (1, 2, 4, 5))


@pytest.fixture
def fixture() -> RecapFixture:
    """Return an event with some guests."""
    made = RecapFixture()
    made.guests(GUESTS)
    return made


def another_call(fixture: RecapFixture) -> None:
    """Let the lease expire, and let another call continue."""
    fixture.now += LEASE
    with contextlib.suppress(CallError):
        fixture.send()


def held_up(fixture: RecapFixture, step: Step, *, before: bool) -> RecapResult | CallError:
    """Run a call during which another one starts and ends."""
    what, number = step
    try:
        return fixture.send(At(what, lambda: another_call(fixture), before, number))
    except CallError as refused:
        return refused


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("step", [TAKE, PHOTOS, PLAN, START, REQUEST, SETTLE, RELEASE])
def test_no_guest_gets_two_emails_from_a_delayed_call(
    fixture: RecapFixture, step: Step, *, before: bool
) -> None:
    """Another call has continued and ended before the delayed call runs again.

    Guests without an email are reported, as their request may have been sent.
    """
    held_up(fixture, step, before=before)
    assert set(Counter(fixture.addresses).values()) == {1}
    unknown = [batch.recipients for batch in fixture.batches() if batch.state is BatchState.UNKNOWN]
    reported = {recipient for recipients in unknown for recipient in recipients}
    without = {
        address_hash(person)
        for person in map(guest, range(GUESTS))
        if person not in fixture.addresses
    }
    assert without <= reported
    assert bool(without) is ((step, before) == (START, False))


@pytest.mark.parametrize(
    ("step", "minutes"),
    [(SETTLE, 10), (RELEASE, 0)],  # the call in between sends the other batches
)
def test_a_late_record_of_the_end_does_not_change_the_cooldown(
    fixture: RecapFixture, step: Step, minutes: int
) -> None:
    """The cooldown counts from the last email."""
    held_up(fixture, step, before=True)
    fixture.now = NOON.replace(day=2)
    fixture.later(minutes=minutes, seconds=-1)
    possible_from = f"2026-05-02T12:{minutes:02}:00.000Z"
    refused = fixture.refusal()
    assert f"The next recap is possible from {possible_from}" in refused.message
    assert (refused.details or {})["possibleFrom"] == possible_from
    fixture.later(seconds=1)
    assert fixture.send().sent == GUESTS


def test_a_continued_recap_restarts_the_cooldown(fixture: RecapFixture) -> None:
    """Spec 3.3: the cooldown is 24 hours from the last email."""
    fixture.answers = [accepted("made-up"), *[refused(403)] * 2]
    fixture.refusal()
    fixture.later(hours=23)
    assert fixture.send().sent == GUESTS - 2
    fixture.later(hours=23, minutes=59)
    assert "The next recap is possible from 2026-05-03T11:00:00" in fixture.refusal().message
    fixture.later(minutes=1)
    assert fixture.send().sent == GUESTS


@pytest.mark.parametrize("step", [START, SETTLE, RELEASE])
def test_an_error_after_the_effect_of_a_write_is_not_counted_twice(
    fixture: RecapFixture, step: Step
) -> None:
    """The answer and the record have the sum of the batches."""
    what, number = step
    try:
        answered = fixture.send(At(what, fail, number=number)).sent
    except CallError as refused:
        answered = int(refused.message.split()[0])
    sent = sum(len(batch.recipients) for batch in fixture.batches() if batch.state.counts_as_sent)
    assert (answered, fixture.recap()["sent"]) == (sent, sent)


@pytest.mark.parametrize(("step", "sent"), [(START, GUESTS - 2), (RELEASE, GUESTS)])
def test_an_answer_says_that_a_record_is_missing(
    fixture: RecapFixture, step: Step, sent: int
) -> None:
    """The batch may be recorded as started, or the lock as held, until the lease expires."""
    what, number = step
    assert fixture.refusal(At(what, fail, number=number)).message == (
        f"{sent} emails were sent, but not every result was saved. Try again in ten minutes to "
        "send the rest."
    )


def test_a_suspended_machine_sends_nothing_after_its_lease(
    fixture: RecapFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A monotonic clock may not include the suspension."""
    monkeypatch.setattr(RecapFixture, "monotonic", lambda _: 0.0)
    held_up(fixture, START, before=False)
    assert fixture.addresses == [guest(number) for number in range(2, GUESTS)]


@pytest.mark.parametrize("step", [START, LAST_START, SETTLE, RELEASE])
def test_a_write_whose_answer_was_lost_is_recognised(fixture: RecapFixture, step: Step) -> None:
    """The repeated commit fails and finds the record of the first one."""

    def lose() -> None:
        raise ChangedMeanwhileError

    def in_time(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        fixture.later(seconds=1)  # so that no write leaves the lock as it was
        return lost(what, effect, retried=retried)

    lost = At(step[0], lose, number=step[1])
    assert fixture.send(in_time) == RecapResult(sent=GUESTS, skipped=0)
    assert (fixture.recap()["state"], fixture.recap()["sent"]) == ("sent", GUESTS)


def test_a_contended_lock_is_acquired_after_repetitions(fixture: RecapFixture) -> None:
    """Repeat a failed transaction, as calls hold the lock only briefly."""

    def contended() -> None:
        raise ChangedMeanwhileError

    assert fixture.send(At("end locks", contended, before=True)).sent == GUESTS


def test_a_late_start_of_a_recap_that_another_call_gave_up_sends_nothing(
    fixture: RecapFixture,
) -> None:
    """The start fails even if the batch is unchanged."""

    def give_up_and_begin_anew() -> None:
        fixture.answers = [refused(401)] * 3
        another_call(fixture)  # fails, so that no cooldown follows
        fixture.send()

    fixture.refusal(At("update locks", give_up_and_begin_anew, before=True, number=2))
    assert len(fixture.recaps()) == 2
    assert Counter(fixture.addresses) == Counter(guest(number) for number in range(GUESTS))
