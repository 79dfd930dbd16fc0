"""Documents under a deleted event are deleted, and its ID is never used again."""

from datetime import timedelta

import pytest

from functions.firestore.model import Query
from functions.wall.retention import QUIET_AFTER_DELETE, OrphanCleanup, TimeUpError
from tests.in_memory.through import Crash
from tests.unit.wall.wall_fixture import WallFixture
from tests.unit.webhooks.webhook_fixture import crashes

PAGE = 2
TOMBSTONE = "deletedEvents/party"


def under_events(wall: WallFixture) -> set[str]:
    """Return the paths of all documents under events."""
    found = wall.firestore.query(Query(collection="events/", group=True))
    return {document.path for document in found}


def is_marked(wall: WallFixture) -> bool:
    """Return whether the party has a permanent tombstone that no sweep reads."""
    return "deletedAt" not in wall.fields(TOMBSTONE)


@pytest.fixture
def wall() -> WallFixture:
    """Return a wall with a deleted event that left seven documents, and another event."""
    wall = WallFixture()
    wall.put(*(f"events/party/photos/{n}" for n in range(7)), "events/other/photos/1", n=1)
    return wall


@pytest.fixture
def emptying(wall: WallFixture) -> OrphanCleanup:
    """Return the use case on that wall."""
    return OrphanCleanup(wall.documents, wall.clock, page_size=PAGE)


@pytest.mark.parametrize("call", ["find party", "write each photos"])
def test_the_next_run_continues_after_a_crash(
    call: str, wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The tombstone remains, and all documents under the event are deleted."""
    wall.at[call] = crashes
    with pytest.raises(Crash):
        emptying.empty("party")
    emptying.empty("party")

    assert under_events(wall) == {"events/other/photos/1"}
    assert not is_marked(wall)


def test_the_next_run_continues_after_a_timeout(wall: WallFixture, emptying: OrphanCleanup) -> None:
    """The run fails before the function's timeout, so that Eventarc repeats it."""

    def stall() -> None:
        wall.seconds += 3600

    wall.at["write each photos"] = stall
    with pytest.raises(TimeUpError):
        emptying.empty("party")
    assert len(under_events(wall)) == 8 - PAGE

    emptying.empty("party")
    assert under_events(wall) == {"events/other/photos/1"}


def test_the_sweep_deletes_documents_of_functions_that_were_still_running(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The sweep marks the tombstone once every function that was at work has ended."""
    emptying.empty("party")
    wall.put("events/party/deliveries/late", n=1)
    wall.now += QUIET_AFTER_DELETE

    emptying.sweep()
    assert not is_marked(wall)
    wall.now += timedelta(seconds=1)
    emptying.sweep()

    assert under_events(wall) == {"events/other/photos/1"}
    assert is_marked(wall)


def test_an_event_that_is_restored_keeps_its_documents(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """An operator restores a backup, also while the trigger is run again or before the sweep."""
    emptying.empty("party")
    wall.now += timedelta(minutes=5)
    wall.put("events/party", "events/party/photos/1", n=1)
    emptying.empty("party")
    wall.now += QUIET_AFTER_DELETE
    emptying.sweep()
    assert under_events(wall) == {"events/party/photos/1", "events/other/photos/1"}
    assert is_marked(wall)

    wall.delete("events/party")
    emptying.empty("party")
    assert under_events(wall) == {"events/other/photos/1"}


def test_an_event_created_before_the_tombstone_inherits_nothing(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """A script deletes an event without a tombstone, so the ID is free until the trigger runs."""
    wall.put("events/party", n=1)
    wall.at["write each photos"] = crashes
    with pytest.raises(Crash):
        emptying.empty("party")
    emptying.empty("party")
    assert under_events(wall) == {"events/other/photos/1"}


@pytest.mark.parametrize("fault", [TimeUpError, ConnectionError])
def test_a_failed_event_does_not_delay_the_others(
    fault: type[Exception], wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The next sweep starts with other events, and a later one continues."""

    def fail() -> None:
        wall.seconds += 3600
        if fault is not TimeUpError:
            raise fault

    wall.put(*(f"events/huge/photos/{n}" for n in range(2 * PAGE)), n=1)
    for event in ("huge", "party"):
        wall.put(f"deletedEvents/{event}", deletedAt=wall.now)
        wall.now += timedelta(minutes=1)
    wall.now += QUIET_AFTER_DELETE
    wall.at["find huge"] = fail
    with pytest.raises(fault):
        emptying.sweep()
    wall.at["find huge"] = fail
    emptying.sweep()
    assert is_marked(wall)

    del wall.at["find huge"]
    wall.now += QUIET_AFTER_DELETE + timedelta(seconds=1)
    emptying.sweep()
    assert under_events(wall) == {"events/other/photos/1"}


def test_a_second_deletion_during_the_sweep_is_swept_later(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """Documents that were written in between are also deleted."""
    emptying.empty("party")
    wall.now += QUIET_AFTER_DELETE + timedelta(seconds=1)
    wall.at["update deletedEvents"] = lambda: wall.put(TOMBSTONE, deletedAt=wall.now)
    emptying.sweep()

    assert not is_marked(wall)
