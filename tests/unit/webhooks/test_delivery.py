"""Spec 2.5, 3.4, 7.3 and 8: the life of a delivery, and its retry schedule."""

from datetime import UTC, datetime, timedelta

import pytest

from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import Attempt, Delivery
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE
from functions.webhooks.messages.event_type import EventType

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def delivery(url: str = "https://example.com/hook", cause: str = "write-1") -> Delivery:
    """A delivery as it is created."""
    return Delivery.create(
        cause=cause, event_id="e1", event_type=EventType.PHOTO_UPLOADED, url=url, data={}, now=NOW
    )


def attempt(number: int, status: int | None, milliseconds: int = 0) -> Attempt:
    """An attempt that began at NOW."""
    return Attempt(number=number, at=NOW, status=status, milliseconds=milliseconds)


def after(*statuses: int | None) -> Delivery:
    """A delivery whose attempts were answered so; None is a time-out."""
    made = delivery()
    for number, status in enumerate(statuses, start=1):
        made = made.after(attempt(number, status))
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
    assert [retry_step.attempt for retry_step in RETRY_SCHEDULE] == [1, 2, 3, 4]
    assert len({retry_step.queue for retry_step in RETRY_SCHEDULE}) == len(RETRY_SCHEDULE)


def test_a_wait_begins_when_the_attempt_ended() -> None:
    """Spec 3.4: a receiver that took its five seconds is left alone for the whole wait."""
    assert delivery().after(attempt(1, None, 5000)).next_attempt_at == NOW + timedelta(seconds=6)


def test_one_happening_at_one_url_has_one_id() -> None:
    """Spec 2.5: stable, and different for another happening, type or URL."""
    assert delivery().id == delivery().id
    assert delivery(cause="write-2").id != delivery().id
    assert delivery(url="https://example.com/other").id != delivery().id


@pytest.mark.parametrize("answers", [[200], [500] * len(RETRY_SCHEDULE)])
def test_no_task_once_the_outcome_is_final(answers: list[int]) -> None:
    """Spec 3.4: no further attempts."""
    with pytest.raises(ValueError, match="no attempt"):
        attempt_task(after(*answers))


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], "x", {}, {"eventId": "e", "deliveryId": 1}),
        {"eventId": "e", "deliveryId": "d", "attempt": "1"},
    ],
)
def test_a_task_of_somebody_else_is_refused(data: object) -> None:
    """A malformed task of an attempt is refused."""
    with pytest.raises(ValueError, match="eventId"):
        AttemptRequest.read(data)
