"""Calls that are held up for longer than their lease (design 3.41); the simulation has the rest."""

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
from tests.unit.recap.parts import NOON, At, House, fail, guest

T = TypeVar("T")

GUESTS = 5
"""Three batches."""

Step = tuple[str, int]
TAKE, PHOTOS, REQUEST, SETTLE = (
    (call, 1) for call in ("end locks", "find photos", "mailer.send", "update batches")
)
PLAN, START, LAST_START, RELEASE = (("update locks", number) for number in (1, 2, 4, 5))


@pytest.fixture
def house() -> House:
    """An event with some guests."""
    made = House()
    made.guests(GUESTS)
    return made


def another_call(house: House) -> None:
    """The lease passes, and another call goes on."""
    house.now += LEASE
    with contextlib.suppress(CallError):
        house.send()


def held_up(house: House, step: Step, *, before: bool) -> RecapResult | CallError:
    """A call during which another one comes and goes."""
    what, number = step
    try:
        return house.send(At(what, lambda: another_call(house), before, number))
    except CallError as refused:
        return refused


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("step", [TAKE, PHOTOS, PLAN, START, REQUEST, SETTLE, RELEASE])
def test_nobody_gets_two_mails_however_long_a_call_is_held_up(
    house: House, step: Step, *, before: bool
) -> None:
    """Another call has continued and has ended before the call that was held up at a step wakes.

    Guests without a mail are reported: the request was about to leave, and nobody knows.
    """
    held_up(house, step, before=before)
    assert set(Counter(house.addresses).values()) == {1}
    unknown = [batch.recipients for batch in house.batches() if batch.state is BatchState.UNKNOWN]
    reported = {recipient for recipients in unknown for recipient in recipients}
    without = {
        address_hash(person)
        for person in map(guest, range(GUESTS))
        if person not in house.addresses
    }
    assert without <= reported
    assert bool(without) is ((step, before) == (START, False))


@pytest.mark.parametrize(
    ("step", "minutes"),
    [(SETTLE, 10), (RELEASE, 0)],  # the call in between sends the other batches
)
def test_the_cooldown_counts_from_the_last_mail_whenever_the_end_is_recorded(
    house: House, step: Step, minutes: int
) -> None:
    """A late record of the end neither shortens the cooldown nor begins it anew."""
    held_up(house, step, before=True)
    house.now = NOON.replace(day=2)
    house.later(minutes=minutes, seconds=-1)
    possible_from = f"2026-05-02T12:{minutes:02}:00.000Z"
    refused = house.refusal()
    assert f"The next recap is possible from {possible_from}" in refused.message
    assert (refused.details or {})["possibleFrom"] == possible_from
    house.later(seconds=1)
    assert house.send().sent == GUESTS


def test_a_recap_that_is_continued_begins_the_cooldown_anew(house: House) -> None:
    """Spec 3.3: 24 hours from the last mail, so that nobody gets two recaps within an hour."""
    house.answers = [accepted("made-up"), *[refused(403)] * 2]
    house.refusal()
    house.later(hours=23)
    assert house.send().sent == GUESTS - 2
    house.later(hours=23, minutes=59)
    assert "The next recap is possible from 2026-05-03T11:00:00" in house.refusal().message
    house.later(minutes=1)
    assert house.send().sent == GUESTS


@pytest.mark.parametrize("step", [START, SETTLE, RELEASE])
def test_an_error_after_the_effect_of_a_write_is_not_counted_twice(
    house: House, step: Step
) -> None:
    """The answer and the record say what the batches add up to."""
    what, number = step
    try:
        answered = house.send(At(what, fail, number=number)).sent
    except CallError as refused:
        answered = int(refused.message.split()[0])
    sent = sum(len(batch.recipients) for batch in house.batches() if batch.state.counts_as_sent)
    assert (answered, house.recap()["sent"]) == (sent, sent)


@pytest.mark.parametrize(("step", "sent"), [(START, GUESTS - 2), (RELEASE, GUESTS)])
def test_an_answer_says_that_a_record_is_missing(house: House, step: Step, sent: int) -> None:
    """A batch may be under way by its record, or the lock may still be held, for the lease."""
    what, number = step
    assert house.refusal(At(what, fail, number=number)).message == (
        f"{sent} emails were sent, but not every result was saved. Try again in ten minutes to "
        "send the rest."
    )


def test_a_machine_that_stood_still_sends_nothing_after_its_lease(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A monotonic clock may not count a sleep of the machine: the lease does."""
    monkeypatch.setattr(House, "monotonic", lambda _: 0.0)
    held_up(house, START, before=False)
    assert house.addresses == [guest(number) for number in range(2, GUESTS)]


@pytest.mark.parametrize("step", [START, LAST_START, SETTLE, RELEASE])
def test_a_write_whose_answer_was_lost_is_recognised(house: House, step: Step) -> None:
    """The repeated commit fails, as the record is what the first one has written."""

    def lose() -> None:
        raise ChangedMeanwhileError

    def in_time(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        house.later(seconds=1)  # so that no write leaves the lock as it was
        return lost(what, effect, retried=retried)

    lost = At(step[0], lose, number=step[1])
    assert house.send(in_time) == RecapResult(sent=GUESTS, skipped=0)
    assert (house.recap()["state"], house.recap()["sent"]) == ("sent", GUESTS)


def test_a_lock_that_other_calls_write_is_taken_in_the_end(house: House) -> None:
    """A transaction that gives up is begun again, because calls hold the lock only shortly."""

    def contended() -> None:
        raise ChangedMeanwhileError

    assert house.send(At("end locks", contended, before=True)).sent == GUESTS


def test_a_late_start_of_a_recap_that_another_call_gave_up_sends_nothing(house: House) -> None:
    """A start fails where another call gave the recap up, even if the batch is as planned."""

    def give_up_and_begin_anew() -> None:
        house.answers = [refused(401)] * 3
        another_call(house)  # fails, so that no cooldown follows
        house.send()

    house.refusal(At("update locks", give_up_and_begin_anew, before=True, number=2))
    assert len(house.recaps()) == 2
    assert Counter(house.addresses) == Counter(guest(number) for number in range(GUESTS))
