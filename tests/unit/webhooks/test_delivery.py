"""Spec 2.5, 3.4, 7.3 and 8: the life of a delivery, its retry schedule, its rounds, its tasks."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from functions.webhooks.deliveries.delivery import (
    LOG_KEPT,
    Attempt,
    AttemptRequest,
    Delivery,
    attempt_task,
)
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.message import EventType

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)
ATTEMPTS = len(RETRY_SCHEDULE)
FAILURES = [500] * ATTEMPTS


def delivery(url: str = "https://example.com/hook", cause: str = "write-1") -> Delivery:
    """A delivery as it is created."""
    return Delivery.create(
        cause=cause,
        event_id="e1",
        event_type=EventType.PHOTO_UPLOADED,
        url=url,
        endpoint="screen",
        data={},
        now=NOW,
    )


def attempt(number: int, status: int | None, milliseconds: int = 0, round_: int = 0) -> Attempt:
    """An attempt that began at NOW."""
    return Attempt(number=number, at=NOW, status=status, milliseconds=milliseconds, round=round_)


def after(made: Delivery, *statuses: int | None) -> Delivery:
    """`made` after attempts that were answered so; None is a time-out."""
    for status in statuses:
        made = made.after(attempt(made.due_attempt, status, round_=made.round))
    return made


@pytest.mark.parametrize(
    ("status", "acknowledged"),
    [(200, True), (201, True), (204, True), (299, True)]
    + [(code, False) for code in (100, 199, 300, 301, 304, 400, 401, 404, 410, 429, 500, 503)],
)
def test_only_2xx_acknowledges(status: int, *, acknowledged: bool) -> None:
    """Spec 4.3: a 2xx stops retries, anything else triggers them."""
    assert attempt(1, status).acknowledged is acknowledged


def test_the_ladder() -> None:
    """Spec 8: one initial attempt and three retries, after 1 s, 5 s and 30 s."""
    assert [retry_step.delay.total_seconds() for retry_step in RETRY_SCHEDULE] == [0, 1, 5, 30]
    assert len({retry_step.queue for retry_step in RETRY_SCHEDULE}) == len(RETRY_SCHEDULE)


def test_a_wait_begins_when_the_attempt_ended() -> None:
    """Spec 3.4: a receiver that took its five seconds is left alone for the whole wait."""
    assert delivery().after(attempt(1, None, 5000)).next_attempt_at == NOW + timedelta(seconds=6)


def test_one_happening_at_one_url_has_one_id() -> None:
    """Spec 2.5: stable, and different for another happening, type or URL."""
    assert delivery().id == delivery().id
    assert delivery(cause="write-2").id != delivery().id
    assert delivery(url="https://example.com/other").id != delivery().id


@pytest.mark.parametrize("answers", [[200], FAILURES])
def test_no_task_once_the_outcome_is_final(answers: list[int]) -> None:
    """Spec 3.4: a delivery that has ended gets no further attempt."""
    with pytest.raises(ValueError, match="no attempt"):
        attempt_task(after(delivery(), *answers))


@pytest.mark.parametrize("answers", [[], [500], FAILURES[1:]])
def test_a_delivery_that_has_not_ended_is_not_sent_again(answers: list[int]) -> None:
    """There is never more than one round at a time."""
    with pytest.raises(ValueError, match="not ended"):
        after(delivery(), *answers).redelivered(LATER)


def test_it_is_recorded_when_a_delivery_ended() -> None:
    """The last attempt sets the time, and no earlier one."""
    made = delivery()
    for number in range(1, ATTEMPTS + 1):
        assert made.ended_at is None
        made = made.after(attempt(number, 500, 1500))
    assert made.ended_at == NOW + timedelta(seconds=1.5)


def test_the_log_does_not_grow_for_ever() -> None:
    """The last rounds are kept, as many as fit."""
    made = delivery()
    for _ in range(20):
        made = after(made, *FAILURES).redelivered(LATER)

    assert len(made.log) == LOG_KEPT
    assert {attempt.round for attempt in made.log} == set(range(20 - LOG_KEPT // ATTEMPTS, 20))


def test_every_round_has_task_names_of_its_own() -> None:
    """A name stays taken for a day, and a task of an older round is known by its round."""
    first = delivery()
    second = replace(after(first, 200), round=1).redelivered(LATER)

    names = {
        attempt_task(delivery, suffix=again).name
        for delivery in (first, second)
        for again in ("", "-x")
    }

    assert names == {f"{first.id}-1", f"{first.id}-1-x", f"{first.id}-r2-1", f"{first.id}-r2-1-x"}
    assert AttemptRequest.read(attempt_task(first).data) == AttemptRequest("e1", first.id, 1)
    assert AttemptRequest.read(attempt_task(second).data) == AttemptRequest("e1", first.id, 1, 2)
    assert "round" not in attempt_task(first).data


TASK = {"eventId": "e", "deliveryId": "d", "attempt": 1}


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], "x", {}, {"eventId": "e", "deliveryId": 1}),
        TASK | {"attempt": "1"},
        *(TASK | {"round": wrong} for wrong in ("1", 1.5, None, [1])),
    ],
)
def test_a_task_of_somebody_else_is_refused(data: object) -> None:
    """A malformed task of an attempt is refused."""
    with pytest.raises(ValueError, match="not the task"):
        AttemptRequest.read(data)
