"""What was under a deleted event goes; its id is never given out again."""

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
    """Paths of all documents under events."""
    found = wall.firestore.query(Query(collection="events/", group=True))
    return {document.path for document in found}


def is_marked(wall: WallFixture) -> bool:
    """Whether the tombstone of the party stands, and no sweep looks at it any more."""
    return "deletedAt" not in wall.fields(TOMBSTONE)


@pytest.fixture
def wall() -> WallFixture:
    """An event that was deleted with seven documents under it, and one that was not."""
    wall = WallFixture()
    wall.put(*(f"events/party/photos/{n}" for n in range(7)), "events/other/photos/1", n=1)
    return wall


@pytest.fixture
def emptying(wall: WallFixture) -> OrphanCleanup:
    """The use case, in that wall."""
    return OrphanCleanup(wall.documents, wall.clock, page_size=PAGE)


@pytest.mark.parametrize("call", ["find party", "write each photos"])
def test_a_crash_anywhere_loses_nothing(
    call: str, wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The tombstone stays, and the next run goes on: everything under the event goes."""
    wall.at[call] = crashes
    with pytest.raises(Crash):
        emptying.empty("party")
    emptying.empty("party")

    assert under_events(wall) == {"events/other/photos/1"}
    assert not is_marked(wall)


def test_a_run_that_takes_too_long_is_gone_on_with(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The run fails before the function is stopped, so that Eventarc runs it again."""

    def stall() -> None:
        wall.seconds += 3600

    wall.at["write each photos"] = stall
    with pytest.raises(TimeUpError):
        emptying.empty("party")
    assert len(under_events(wall)) == 8 - PAGE

    emptying.empty("party")
    assert under_events(wall) == {"events/other/photos/1"}


def test_the_sweep_deletes_what_a_function_wrote_that_was_still_at_work(
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


def test_the_sweep_goes_on_where_nobody_else_does(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The sweep empties an event whose trigger Eventarc has given up after a day."""
    wall.put(TOMBSTONE, deletedAt=wall.now)
    wall.now += QUIET_AFTER_DELETE + timedelta(days=1)

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


def test_an_event_that_a_client_made_before_the_tombstone_inherits_nothing(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """A script deletes an event without a tombstone: until its trigger runs, the id is free."""
    wall.put("events/party", n=1)
    wall.at["write each photos"] = crashes
    with pytest.raises(Crash):
        emptying.empty("party")
    emptying.empty("party")
    assert under_events(wall) == {"events/other/photos/1"}


@pytest.mark.parametrize("fault", [TimeUpError, ConnectionError])
def test_an_event_that_is_not_emptied_keeps_no_other_event_waiting(
    fault: type[Exception], wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """The next sweep begins with other events, and a later sweep goes on."""

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


def test_a_trigger_that_runs_again_during_the_sweep_is_swept_after(
    wall: WallFixture, emptying: OrphanCleanup
) -> None:
    """After a second deletion, documents written later are deleted as well."""
    emptying.empty("party")
    wall.now += QUIET_AFTER_DELETE + timedelta(seconds=1)
    wall.at["update deletedEvents"] = lambda: wall.put(TOMBSTONE, deletedAt=wall.now)
    emptying.sweep()

    assert not is_marked(wall)
