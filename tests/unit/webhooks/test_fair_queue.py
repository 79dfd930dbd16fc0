"""Design 2: a busy event waits for itself, and for no other event."""

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
    """The clock of the process."""
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> FairQueue:
    """A fresh process."""
    return FairQueue(A_SECOND, clock.process, NamedTenants())


def waits(pace: FairQueue, event_id: str, count: int) -> list[float]:
    """Seconds that the next deliveries of the event wait."""
    return [round(pace.delay_for(event_id).total_seconds(), 6) for _ in range(count)]


def test_one_photo_at_every_url_is_due_at_once(clock: Clock) -> None:
    """Spec 8: an event has 20 URLs at most; the pace is the one that is deployed."""
    deployed = FairQueue(
        parameters.from_deploy().event_deliveries_a_second, clock.process, NamedTenants()
    )
    assert waits(deployed, "e1", 20) == [0] * 20


def test_ten_deliveries_are_due_as_the_table_of_the_module_says(clock: Clock) -> None:
    """A tenant's and an event's own backlog make a delivery wait, and no other's does."""
    pace = FairQueue(4, clock.process, NamedTenants())
    due = [
        pace.delay_for(event).total_seconds()
        for event in ["a1 of A"] * 5 + ["a2 of A", "b1 of B", "b1 of B", "a1 of A", "b1 of B"]
    ]
    assert due == [0, 0.25, 0.5, 0.75, 1, 0.25, 0, 0.5, 5.5, 1]


def test_an_event_below_its_share_never_waits(pace: FairQueue, clock: Clock) -> None:
    """Twenty others have deliveries waiting, and the bursts of their beginning have come back."""
    for number in range(20):
        waits(pace, f"flood-{number}", 500)
    clock.now += BURSTS_AT_ONCE * BURST_SECONDS
    for _ in range(30):
        assert waits(pace, "quiet", 2) == [0, 0]
        clock.now += 1


def test_a_crowd_of_new_events_has_few_bursts(pace: FairQueue, clock: Clock) -> None:
    """Each new event has a delivery due at once; all bursts together are bounded."""
    crowd = [waits(pace, f"new-{number}", BURST) for number in range(20)]
    assert [event[0] for event in crowd] == [0] * 20
    assert sum(event.count(0) for event in crowd) == 20 + BURSTS_AT_ONCE * BURST
    assert waits(pace, "later", 2)[0] == 0
    assert waits(pace, "later", 1)[0] > 0
    clock.now += BURST / A_SECOND
    assert waits(pace, "latest", BURST) == [0] * BURST


@pytest.mark.parametrize("events", [1, 20, 1000])
def test_a_tenant_waits_for_no_events_of_another(
    pace: FairQueue, clock: Clock, events: int
) -> None:
    """However many a tenant makes: a neighbour that asks for less than its half never waits."""
    for number in range(40 * A_SECOND):
        for flood in range(4):
            pace.delay_for(f"{(4 * number + flood) % events} of crowd")
        if number % 5 == 0 and number > A_SECOND:
            assert waits(pace, f"{number % 3} of neighbour", 2) == [0, 0]
        clock.now += 1 / A_SECOND


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_events_of_a_tenant_are_due_at_the_pace(pace: FairQueue, rounds: int) -> None:
    """A thousand new ones are no thousand first turns."""
    due = sorted(
        wait for number in range(1000) for wait in waits(pace, f"{number} of crowd", rounds)
    )
    for begin, end in zip(due, due[A_SECOND:], strict=False):
        assert end - begin >= (A_SECOND / 2 - BURST - 1) / A_SECOND
    assert due.count(0) <= 2 * BURST


def test_a_quiet_event_goes_before_a_busy_one_of_its_tenant(pace: FairQueue, clock: Clock) -> None:
    """The events of a tenant share what the tenant gets."""
    waits(pace, "busy of t1", 500)
    clock.now += 1
    assert waits(pace, "quiet of t1", 3) == pytest.approx([0, 0, 0])
    assert waits(pace, "busy of t1", 1)[0] > 400 / A_SECOND


def test_a_delivery_that_was_recorded_before_counts_once(pace: FairQueue, clock: Clock) -> None:
    """A trigger that is run again, and again."""
    first = waits(pace, "e1 of t1", BURST + 4)
    for _ in range(100):
        waits(pace, "e1 of t1", 2)
        pace.undo("e1 of t1")
        pace.undo("e1 of t1")
    assert waits(pace, "e1 of t1", 1)[0] == pytest.approx(first[-1] + 1 / A_SECOND)
    clock.now += (BURST + 5) / A_SECOND
    assert waits(pace, "e1 of t1", BURST) == [0] * BURST


@pytest.mark.parametrize("floods", [2, 9])
@pytest.mark.parametrize("taken_back", [0, 1, 3])
def test_no_delivery_of_an_event_is_due_before_an_earlier_one(
    pace: FairQueue, clock: Clock, floods: int, taken_back: int
) -> None:
    """Also once other tenants have nothing waiting any more; an idle event is due at once."""
    for number in range(floods):
        waits(pace, f"flood-{number}", 100)
    due = []
    while clock.now < 1000 + 150 * (floods + 1) / A_SECOND:
        due.append(clock.now + pace.delay_for("busy").total_seconds())
        for _ in range(taken_back):
            pace.delay_for("busy")
        for _ in range(taken_back):
            pace.undo("busy")
        clock.now += 0.1
    assert due == sorted(due)
    assert due[-1] - clock.now < 100 * (floods + 1) / A_SECOND
    clock.now = due[-1] + 0.001
    assert waits(pace, "busy", 2) == [0, 0]


def test_a_delivery_that_has_to_wait_is_not_overtaken(pace: FairQueue) -> None:
    """A second milestone waits a second, and later deliveries wait behind it."""
    assert pace.delay_for("e1", timedelta(seconds=1)) == timedelta(seconds=1)
    assert pace.delay_for("e1") >= timedelta(seconds=1)


def test_no_more_becomes_due_than_the_pace(pace: FairQueue, clock: Clock) -> None:
    """Beyond its burst, a busy event has no more deliveries due than the pace, over any time."""
    due = []
    chance = random.Random(3)  # noqa: S311 - chance, not a secret
    for _ in range(3_000):
        clock.now += chance.expovariate(4 * A_SECOND)
        due.append(clock.now + pace.delay_for("busy").total_seconds())
    assert due == sorted(due)
    for begin, end in zip(due, due[2 * A_SECOND :], strict=False):
        assert end - begin >= (2 * A_SECOND - BURST - 1) / A_SECOND


def test_events_that_ended_are_forgotten(pace: FairQueue, clock: Clock) -> None:
    """Events are as many as anybody likes."""
    for number in range(10_000):
        pace.delay_for(f"e{number}")
        clock.now += 1 / A_SECOND
    assert len(pace._tenants) < 10  # noqa: SLF001 - memory is not seen otherwise
    assert len(pace._queue._ends) < 10  # noqa: SLF001


def test_a_long_flood_takes_no_memory(pace: FairQueue, clock: Clock) -> None:
    """Beside an event that waits a little, a flood is remembered once, not for each delivery."""
    waits(pace, "busy", BURST)
    tracemalloc.start()
    for millisecond in range(4_000):
        clock.now += 0.001
        pace.delay_for("flood")
        if millisecond % 20 == 0:
            pace.delay_for("busy")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 10_000


def test_events_with_nothing_due_are_forgotten(pace: FairQueue, clock: Clock) -> None:
    """A process that has served many events remembers a thousand or so."""
    tracemalloc.start()
    for number in range(8_000):
        clock.now += 0.1
        pace.delay_for(f"e{number}")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 400_000


def test_a_fresh_machine_has_a_clock_at_zero(clock: Clock) -> None:
    """Nothing is late because the machine is young."""
    clock.now = 0.0
    assert waits(FairQueue(A_SECOND, clock.process, NamedTenants()), "e1", BURST) == [0] * BURST
