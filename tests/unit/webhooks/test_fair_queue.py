"""Design 2: a busy event delays its own deliveries and not those of other events."""

import random
import tracemalloc
from datetime import timedelta

import pytest

from functions import parameters
from functions.webhooks.deliveries.fair_queue import BURST_SECONDS, BURSTS_AT_ONCE, FairQueue
from tests.unit.clock import Clock, NamedTenants

A_SECOND = 50
BURST = 12


@pytest.fixture
def clock() -> Clock:
    """Return the clock of the process."""
    return Clock()


@pytest.fixture
def queue(clock: Clock) -> FairQueue:
    """Return the queue of a new process."""
    return FairQueue(A_SECOND, clock.process, NamedTenants())


def waits(queue: FairQueue, event_id: str, count: int) -> list[float]:
    """Return the delays of the event's next deliveries in seconds."""
    return [round(queue.delay_for(event_id).total_seconds(), 6) for _ in range(count)]


def test_a_photo_is_due_at_once_at_all_20_urls(clock: Clock) -> None:
    """Spec 8: an event has at most 20 URLs. The rate is the deployed one."""
    deployed = FairQueue(
        parameters.from_deploy().event_deliveries_a_second, clock.process, NamedTenants()
    )
    assert waits(deployed, "e1", 20) == [0] * 20


def test_only_the_backlog_of_the_own_tenant_and_event_delays_a_delivery(clock: Clock) -> None:
    """The numbers are those of the example in the docstring of `fair_queue`."""
    queue = FairQueue(4, clock.process, NamedTenants())
    due = [
        queue.delay_for(event).total_seconds()
        for event in ["a1 of A"] * 5 + ["a2 of A", "b1 of B", "b1 of B", "a1 of A", "b1 of B"]
    ]
    assert due == [0, 0.25, 0.5, 0.75, 1, 0.25, 0, 0.5, 5.5, 1]


def test_an_event_below_its_share_never_waits(queue: FairQueue, clock: Clock) -> None:
    """Twenty other events have a backlog, and the bursts that they used are available again."""
    for number in range(20):
        waits(queue, f"flood-{number}", 500)
    clock.now += BURSTS_AT_ONCE * BURST_SECONDS
    for _ in range(30):
        assert waits(queue, "quiet", 2) == [0, 0]
        clock.now += 1


def test_the_bursts_of_new_events_are_limited_in_total(queue: FairQueue, clock: Clock) -> None:
    """The first delivery of each new event is still due at once."""
    crowd = [waits(queue, f"new-{number}", BURST) for number in range(20)]
    assert [event[0] for event in crowd] == [0] * 20
    assert sum(event.count(0) for event in crowd) == 20 + BURSTS_AT_ONCE * BURST
    assert waits(queue, "later", 2)[0] == 0
    assert waits(queue, "later", 1)[0] > 0
    clock.now += BURST / A_SECOND
    assert waits(queue, "latest", BURST) == [0] * BURST


@pytest.mark.parametrize("events", [1, 20, 1000])
def test_a_tenant_is_not_delayed_by_the_events_of_another(
    queue: FairQueue, clock: Clock, events: int
) -> None:
    """A tenant that uses less than its half never waits, for any number of the other's events."""
    for number in range(40 * A_SECOND):
        for flood in range(4):
            queue.delay_for(f"{(4 * number + flood) % events} of crowd")
        if number % 5 == 0 and number > A_SECOND:
            assert waits(queue, f"{number % 3} of neighbor", 2) == [0, 0]
        clock.now += 1 / A_SECOND


@pytest.mark.parametrize("rounds", [1, 3])
def test_all_events_of_a_tenant_share_one_rate(queue: FairQueue, rounds: int) -> None:
    """A thousand new events do not get a thousand first deliveries at once."""
    due = sorted(
        wait for number in range(1000) for wait in waits(queue, f"{number} of crowd", rounds)
    )
    for begin, end in zip(due, due[A_SECOND:], strict=False):
        assert end - begin >= (A_SECOND / 2 - BURST - 1) / A_SECOND
    assert due.count(0) <= 2 * BURST


def test_a_quiet_event_precedes_a_busy_one_of_its_tenant(queue: FairQueue, clock: Clock) -> None:
    """The events of a tenant share its rate."""
    waits(queue, "busy of t1", 500)
    clock.now += 1
    assert waits(queue, "quiet of t1", 3) == pytest.approx([0, 0, 0])
    assert waits(queue, "busy of t1", 1)[0] > 400 / A_SECOND


def test_a_delivery_that_was_already_recorded_counts_once(queue: FairQueue, clock: Clock) -> None:
    """A repeated trigger returns the delays that it took."""
    first = waits(queue, "e1 of t1", BURST + 4)
    for _ in range(100):
        waits(queue, "e1 of t1", 2)
        queue.undo("e1 of t1")
        queue.undo("e1 of t1")
    assert waits(queue, "e1 of t1", 1)[0] == pytest.approx(first[-1] + 1 / A_SECOND)
    clock.now += (BURST + 5) / A_SECOND
    assert waits(queue, "e1 of t1", BURST) == [0] * BURST


@pytest.mark.parametrize("floods", [2, 9])
@pytest.mark.parametrize("taken_back", [0, 1, 3])
def test_no_delivery_of_an_event_is_due_before_an_earlier_one(
    queue: FairQueue, clock: Clock, floods: int, taken_back: int
) -> None:
    """Keep the order when the backlog of other tenants ends. An idle event is due at once."""
    for number in range(floods):
        waits(queue, f"flood-{number}", 100)
    due = []
    while clock.now < 1000 + 150 * (floods + 1) / A_SECOND:
        due.append(clock.now + queue.delay_for("busy").total_seconds())
        for _ in range(taken_back):
            queue.delay_for("busy")
        for _ in range(taken_back):
            queue.undo("busy")
        clock.now += 0.1
    assert due == sorted(due)
    assert due[-1] - clock.now < 100 * (floods + 1) / A_SECOND
    clock.now = due[-1] + 0.001
    assert waits(queue, "busy", 2) == [0, 0]


def test_a_delayed_delivery_is_not_overtaken(queue: FairQueue) -> None:
    """A second milestone waits a second, and later deliveries wait behind it."""
    assert queue.delay_for("e1", timedelta(seconds=1)) == timedelta(seconds=1)
    assert queue.delay_for("e1") >= timedelta(seconds=1)


def test_the_rate_of_a_busy_event_is_never_exceeded(queue: FairQueue, clock: Clock) -> None:
    """Check every window of two seconds, beyond the burst."""
    due = []
    chance = random.Random(3)  # noqa: S311 - chance, not a secret
    for _ in range(3_000):
        clock.now += chance.expovariate(4 * A_SECOND)
        due.append(clock.now + queue.delay_for("busy").total_seconds())
    assert due == sorted(due)
    for begin, end in zip(due, due[2 * A_SECOND :], strict=False):
        assert end - begin >= (2 * A_SECOND - BURST - 1) / A_SECOND


def test_a_long_flood_uses_constant_memory(queue: FairQueue, clock: Clock) -> None:
    """Store one entry for a flood while another event waits, not one for each delivery."""
    waits(queue, "busy", BURST)
    tracemalloc.start()
    for millisecond in range(4_000):
        clock.now += 0.001
        queue.delay_for("flood")
        if millisecond % 20 == 0:
            queue.delay_for("busy")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 10_000


def test_events_without_a_backlog_are_forgotten(queue: FairQueue, clock: Clock) -> None:
    """A process that has served many events keeps about a thousand."""
    tracemalloc.start()
    for number in range(8_000):
        clock.now += 0.1
        queue.delay_for(f"e{number}")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 400_000
