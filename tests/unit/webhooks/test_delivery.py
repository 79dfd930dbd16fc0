"""Spec 2.5, 3.4, 7.3 and 8: states, retry schedule, rounds and tasks of a delivery."""

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import LOG_KEPT, Attempt, Delivery
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from tests.in_memory.records import NOW, new_delivery

LATER = NOW + timedelta(hours=3)
ATTEMPTS = len(RETRY_SCHEDULE)
FAILURES = [500] * ATTEMPTS


def attempt(number: int, status: int | None, milliseconds: int = 0, round_: int = 0) -> Attempt:
    """Return an attempt that began at NOW."""
    return Attempt(number=number, at=NOW, status=status, milliseconds=milliseconds, round=round_)


def after(made: Delivery, *statuses: int | None) -> Delivery:
    """Return `made` after attempts with these answers. None is a timeout."""
    for status in statuses:
        made = made.with_attempt(attempt(made.due_attempt, status, round_=made.round))
    return made


@pytest.mark.parametrize(
    ("status", "acknowledged"),
    [(200, True), (201, True), (204, True), (299, True)]
    + [(code, False) for code in (100, 199, 300, 301, 304, 400, 401, 404, 410, 429, 500, 503)],
)
def test_only_2xx_acknowledges(status: int, *, acknowledged: bool) -> None:
    """Spec 4.3: a 2xx stops retries, anything else triggers them."""
    assert attempt(1, status).acknowledged is acknowledged


@pytest.mark.parametrize("answers", [[200], FAILURES])
def test_an_ended_delivery_has_no_task(answers: list[int]) -> None:
    """Spec 3.4: a delivery that has ended gets no further attempt."""
    with pytest.raises(ValueError, match="no due attempt"):
        attempt_task(after(new_delivery(), *answers))


@pytest.mark.parametrize("answers", [[], [500], FAILURES[1:]])
def test_a_delivery_that_has_not_ended_is_not_redelivered(answers: list[int]) -> None:
    """A delivery has at most one round at a time."""
    with pytest.raises(ValueError, match="not ended"):
        after(new_delivery(), *answers).redelivered(LATER)


def test_the_last_attempt_sets_the_end_of_the_delivery() -> None:
    """Earlier attempts set no time."""
    made = new_delivery()
    for number in range(1, ATTEMPTS + 1):
        assert made.ended_at is None
        made = made.with_attempt(attempt(number, 500, 1500))
    assert made.ended_at == NOW + timedelta(seconds=1.5)


def test_the_log_has_a_maximum_length() -> None:
    """Keep the last rounds."""
    made = new_delivery()
    for _ in range(20):
        made = after(made, *FAILURES).redelivered(LATER)

    assert len(made.log) == LOG_KEPT
    assert {attempt.round for attempt in made.log} == set(range(20 - LOG_KEPT // ATTEMPTS, 20))


def test_every_round_has_task_names_of_its_own() -> None:
    """Cloud Tasks reserves a name for a day. The round identifies tasks of an older one."""
    first = new_delivery()
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
def test_a_malformed_task_is_rejected(data: object) -> None:
    """Raise ValueError instead of an attempt with wrong fields."""
    with pytest.raises(ValueError, match="needs eventId"):
        AttemptRequest.read(data)
