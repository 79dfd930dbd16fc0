"""Which queue a first attempt waits in (design 2)."""

from collections import Counter
from datetime import UTC, datetime

import main
from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.first_queues import ORDINARY, SLOW, slow_task, spread
from functions.webhooks.messages.event_type import EventType

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def task(event_id: str, queue: str = ORDINARY[0]) -> Task:
    """A task of an event."""
    return Task(queue=queue, name="d1-1", data={"eventId": event_id}, due=NOW)


def test_every_queue_is_deployed() -> None:
    """A queue has the name of its function."""
    for name in (*ORDINARY, SLOW):
        assert callable(getattr(main, name))


def test_an_event_stays_on_its_queue() -> None:
    """All of its first attempts share one; many events share all of them about evenly."""
    assert spread(task("e1"), 4) == spread(task("e1"), 4)
    used = Counter(spread(task(f"event-{number}"), 4).queue for number in range(4000))
    assert used.keys() == set(ORDINARY)
    assert min(used.values()) > 800


def test_fewer_queues_may_be_used() -> None:
    """`DELIVERY_QUEUES`; what cannot be is the nearest that can."""
    for queues, expected in ((1, 1), (2, 2), (0, 1), (-1, 1), (9, 4)):
        used = {spread(task(f"event-{number}"), queues).queue for number in range(100)}
        assert used == set(ORDINARY[:expected])


def test_retries_stay_where_they_are() -> None:
    """Only first attempts are spread."""
    retry = task("e1", "retryWebhookAfter1s")
    assert spread(retry, 4) == retry


def test_the_slow_queues_task_stands_in_for_another() -> None:
    """Also for a sweep's, whose name is another than the one that was lost."""
    delivery = Delivery.create(
        cause="w1",
        event_id="e1",
        event=EventType.PHOTO_UPLOADED,
        url="https://example.com/hook",
        data={},
        now=NOW,
    )
    for again in ("", "-sweep7"):
        slow = slow_task(delivery, again)
        assert (slow.queue, slow.name) == (SLOW, f"{delivery.id}-1{again}")
        request = AttemptRequest.read(dict(slow.data))
        assert (request.slow, request.again, request.attempt) == (True, again, 1)
        assert not AttemptRequest.read(dict(attempt_task(delivery).data)).slow
