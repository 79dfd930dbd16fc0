"""Which queue a first attempt waits in (design 2)."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import main
from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.first_queues import BUSY, ORDINARY, SLOW, slow_task, spread
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.tenant_queues import BURST_SECONDS, REMEMBERED_SECONDS, TenantQueues
from tests.simulation.database import Set
from tests.simulation.webhooks.parts import Parts, fails

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def task(event_id: str, queue: str = ORDINARY[0]) -> Task:
    """A task of an event."""
    return Task(queue=queue, name="d1-1", data={"eventId": event_id}, due=NOW)


class Events(Parts):
    """Events of tenants, and the queues that their tasks go to."""

    def queues(self, queues: int = 4, *, a_tenant: int = 1, a_second: int = 1000) -> TenantQueues:
        """Those of a process that has just started."""
        return TenantQueues(
            self,
            wall=self.wall(),
            queues=queues,
            a_tenant=a_tenant,
            a_second=a_second,
            monotonic=lambda: self.monotonic,
        )

    def enqueue(self, task: Task) -> None:
        """Be the queue beneath."""
        self.tasks.create(task)

    def owned(self, event_id: str, tenant: object) -> None:
        """Have an event."""
        self.database.commit(Set(f"events/{event_id}", {"tenantId": tenant}))


@pytest.fixture
def events() -> Events:
    """No event but the usual one."""
    return Events()


def test_every_queue_is_deployed() -> None:
    """A queue has the name of its function."""
    for name in (*ORDINARY, BUSY, SLOW):
        assert callable(getattr(main, name))


def test_a_tenant_has_one_queue_for_all_its_events(events: Events) -> None:
    """Many tenants share all of the queues about evenly; one alone floods one alone."""
    queues = events.queues()
    for number in range(40):
        events.owned(f"e{number}", "t1")
        queues.enqueue(replace(task(f"e{number}"), name=f"n{number}"))
    assert len({one.queue for one in events.queued}) == 1
    used = Counter(spread(task("e"), f"tenant-{number}", 4).queue for number in range(4000))
    assert used.keys() == set(ORDINARY)
    assert min(used.values()) > 800


def test_an_event_is_read_once_an_hour(events: Events) -> None:
    """By a process that queues for it."""
    queues = events.queues()
    events.owned("e1", "t1")
    for moment, reads in ((0.0, 1), (REMEMBERED_SECONDS - 1, 1), (REMEMBERED_SECONDS, 2)):
        events.monotonic = moment
        queues.enqueue(replace(task("e1"), name=f"n{moment}"))
        assert events.calls.count("wall.event") == reads


@pytest.mark.parametrize("tenant", [None, 7, ""])
def test_an_event_without_a_tenant_has_its_own_queue(events: Events, tenant: object) -> None:
    """And one that is gone."""
    events.owned("e1", tenant)
    for event_id in ("e1", "gone"):
        events.queues().enqueue(task(event_id))
        assert events.queued[-1] == spread(task(event_id), event_id, 4)


def test_an_event_that_cannot_be_read_holds_up_nothing(events: Events) -> None:
    """Any queue is better than none; the next task looks again."""
    events.owned("e1", "t1")
    queues = events.queues()
    events.at("wall.event", fails)
    queues.enqueue(replace(task("e1"), name="n1"))
    assert events.queued[-1].queue == spread(task("e1"), "e1", 4).queue
    queues.enqueue(replace(task("e1"), name="n2"))
    assert events.queued[-1].queue == spread(task("e1"), "t1", 4).queue


@pytest.mark.parametrize(("queues", "expected"), [(1, 1), (2, 2), (0, 1), (-1, 1), (9, 4)])
def test_fewer_queues_may_be_used(events: Events, queues: int, expected: int) -> None:
    """`DELIVERY_QUEUES`; what cannot be is the nearest that can. With one, nothing is read."""
    spreading = events.queues(queues)
    for number in range(60):
        events.owned(f"e{number}", f"tenant-{number}")
        spreading.enqueue(replace(task(f"e{number}"), name=f"n{number}"))
    assert {one.queue for one in events.queued} == set(ORDINARY[:expected])
    assert (events.calls.count("wall.event") == 0) == (expected == 1)


@pytest.mark.parametrize(
    ("a_tenant", "expected"),
    [(0, {0}), (1, {0}), (2, {0, 1}), (4, {0, 1, 2, 3}), (9, {0, 1, 2, 3})],
)
def test_a_big_tenant_has_several_queues(a_tenant: int, expected: set[int]) -> None:
    """`TENANT_QUEUES`, its first one and those that follow; each takes about as much.

    A task that is made again is on the same one, or it would be another task.
    """
    tasks = [replace(task("e1"), name=f"d{number}-1") for number in range(4000)]
    placed = [spread(one, "t1", 4, a_tenant).queue for one in tasks]
    assert placed == [spread(one, "t1", 4, a_tenant).queue for one in tasks]
    first = ORDINARY.index(spread(task("e1"), "t1", 4).queue)
    used = Counter((ORDINARY.index(one) - first) % 4 for one in placed)
    assert used.keys() == expected
    assert min(used.values()) > 0.8 * len(tasks) / len(expected)


def test_several_queues_are_those_of_the_tenant(events: Events) -> None:
    """Whatever event its deliveries are of."""
    events.owned("e1", "t1")
    spreading = events.queues(4, a_tenant=2)
    for number in range(40):
        spreading.enqueue(replace(task("e1"), name=f"n{number}"))
    assert {one.queue for one in events.queued} == {
        spread(replace(task("e1"), name=f"n{number}"), "t1", 4, 2).queue for number in range(40)
    }
    assert len({one.queue for one in events.queued}) == 2


@pytest.mark.parametrize("queues", [1, 4])
def test_what_an_event_owes_beyond_its_share_goes_to_the_busy_queue(
    events: Events, queues: int
) -> None:
    """`EVENT_DELIVERIES_A_SECOND`, some of it at once; others' events have their own.

    Its slow receivers leave from there as from any other queue.
    """
    spreading = events.queues(queues, a_second=4)

    def owed(event_id: str, moment: float, count: int) -> list[bool]:
        """Whether each of so many first attempts goes to the busy queue."""
        events.monotonic = moment
        before = len(events.queued)
        for number in range(count):
            spreading.enqueue(replace(task(event_id), name=f"{event_id}-{moment}-{number}"))
        found = events.queued[before:]
        assert not any(one.data.get("slow") for one in found)
        return [one.queue == BUSY for one in found]

    at_once = int(4 * BURST_SECONDS)
    assert owed("e1", 100.0, at_once + 3) == [False] * at_once + [True] * 3
    assert owed("e2", 100.0, 1) == [False]
    assert owed("e1", 100.125, 1) == [True]
    assert owed("e1", 100.25, 2) == [False, True]
    assert owed("e1", 200.0, at_once + 1) == [False] * at_once + [True]


def test_retries_stay_where_they_are(events: Events) -> None:
    """Only first attempts are spread."""
    retry = task("e1", "retryWebhookAfter1s")
    events.queues().enqueue(retry)
    assert events.queued[-1] == retry
    assert "wall.event" not in events.calls


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
