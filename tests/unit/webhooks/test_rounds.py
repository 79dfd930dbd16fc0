"""A delivery that is sent again: another round of the same delivery."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import LOG_KEPT, Attempt, Delivery
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE
from functions.webhooks.messages.event_type import EventType

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)
ATTEMPTS = len(RETRY_SCHEDULE)
FAILURES = [500] * ATTEMPTS


def delivery(**fields: Any) -> Delivery:
    """A delivery as it is created."""
    given: dict[str, Any] = {"url": "https://example.com/hook"} | fields
    return Delivery.create(
        cause="write-1",
        event_id="e1",
        event_type=EventType.PHOTO_UPLOADED,
        data={},
        now=NOW,
        **given,
    )


def after(made: Delivery, *statuses: int) -> Delivery:
    """`made` after attempts that were answered so."""
    for status in statuses:
        number = made.due_attempt
        made = made.after(
            Attempt(number=number, at=NOW, status=status, milliseconds=0, round=made.round)
        )
    return made


@pytest.mark.parametrize("answers", [[], [500], FAILURES[1:]])
def test_what_has_not_ended_does_not_begin_again(answers: list[int]) -> None:
    """There is never more than one round at a time."""
    with pytest.raises(ValueError, match="not ended"):
        after(delivery(), *answers).next_round(LATER)


def test_it_is_recorded_when_a_delivery_ended() -> None:
    """With the last attempt, and not before."""
    made = delivery()
    for number in range(1, ATTEMPTS + 1):
        assert made.ended_at is None
        made = made.after(Attempt(number=number, at=LATER, status=500, milliseconds=1500))
    assert made.ended_at == LATER + timedelta(seconds=1.5)


def test_the_log_does_not_grow_for_ever() -> None:
    """The last rounds are kept, as many as fit."""
    made = delivery()
    for _ in range(20):
        made = after(made, *FAILURES).next_round(LATER)

    assert len(made.log) == LOG_KEPT
    assert {attempt.round for attempt in made.log} == set(range(20 - LOG_KEPT // ATTEMPTS, 20))


def test_every_round_has_task_names_of_its_own() -> None:
    """A name stays taken for a day, and a task of an older round is known by its round."""
    first = delivery()
    second = replace(after(first, 200), round=1).next_round(LATER)

    names = {
        attempt_task(delivery, suffix=again).name
        for delivery in (first, second)
        for again in ("", "-x")
    }

    assert names == {f"{first.id}-1", f"{first.id}-1-x", f"{first.id}-r2-1", f"{first.id}-r2-1-x"}
    assert AttemptRequest.read(attempt_task(first).data) == AttemptRequest("e1", first.id, 1)
    assert AttemptRequest.read(attempt_task(second).data) == AttemptRequest("e1", first.id, 1, 2)
    assert "round" not in attempt_task(first).data


@pytest.mark.parametrize("in_round", ["1", 1.5, None, [1]])
def test_a_task_whose_round_is_no_number_is_none_of_ours(in_round: object) -> None:
    """Only the service makes tasks."""
    data = {"eventId": "e1", "deliveryId": "d1", "attempt": 1, "round": in_round}
    with pytest.raises(ValueError, match="not the task"):
        AttemptRequest.read(data)
