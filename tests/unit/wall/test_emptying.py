"""What was under a deleted event goes; its id is never given out again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from functions.firestore.model import Put, Query
from functions.outside import Clock
from functions.wall.retention import SETTLED, OrphanCleanup, TimeUpError
from tests.in_memory.documents import Firestore, InMemoryDocuments

T = TypeVar("T")

PAGE = 2
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Crash(Exception):  # noqa: N818 - it is no error, it is a power cut
    """The process ends here."""


class World:
    """Firestore with a clock of its own; `on` hooks run before a call of that name."""

    def __init__(self) -> None:
        """An event that was deleted with seven documents under it, and one that was not."""
        self.now = NOON
        self.seconds = 0.0
        self.on: dict[str, Callable[[], None]] = {}
        self.firestore = Firestore(lambda: self.now)
        self.add(*(f"events/party/photos/{n}" for n in range(7)), "events/other/photos/1")
        self.through = InMemoryDocuments(self.firestore, self._at)

    def put_tombstone(self) -> None:
        """The event is deleted now."""
        self.firestore.commit(Put("deletedEvents/party", {"deletedAt": self.now}))

    def add(self, *paths: str) -> None:
        """Write such documents."""
        self.firestore.commit(*(Put(path, {"n": 1}) for path in paths))

    def _at(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        self.seconds += 1
        hook = self.on.pop(what, None)
        if hook:
            hook()
        return effect()

    @property
    def documents(self) -> set[str]:
        """Paths of all documents under events."""
        found = self.firestore.query(Query(collection="photos", group=True))
        found = [*found, *self.firestore.query(Query(collection="deliveries", group=True))]
        return {document.path for document in found}

    @property
    def is_marked(self) -> bool:
        """Whether the tombstone of the party stands, and no sweep looks at it any more."""
        found = self.firestore.get("deletedEvents/party")
        assert found is not None
        return "deletedAt" not in found.fields


@pytest.fixture
def world() -> World:
    """The deleted event."""
    return World()


@pytest.fixture
def emptying(world: World) -> OrphanCleanup:
    """The use case, in that world."""
    clock = Clock(lambda: world.now, lambda: world.seconds, lambda _: None)
    return OrphanCleanup(world.through, clock, page_size=PAGE)


@pytest.mark.parametrize("call", ["find party", "write each photos"])
def test_a_crash_anywhere_loses_nothing(call: str, world: World, emptying: OrphanCleanup) -> None:
    """The tombstone stays, and the next run goes on: everything under the event goes."""

    def crash() -> None:
        raise Crash

    world.on[call] = crash
    with pytest.raises(Crash):
        emptying.empty("party")
    emptying.empty("party")

    assert world.documents == {"events/other/photos/1"}
    assert not world.is_marked


def test_a_run_that_takes_too_long_is_gone_on_with(world: World, emptying: OrphanCleanup) -> None:
    """The run fails before the function is stopped, so that Eventarc runs it again."""

    def stall() -> None:
        world.seconds += 3600

    world.on["write each photos"] = stall
    with pytest.raises(TimeUpError):
        emptying.empty("party")
    assert len(world.documents) == 8 - PAGE

    emptying.empty("party")
    assert world.documents == {"events/other/photos/1"}


def test_the_sweep_deletes_what_a_function_wrote_that_was_still_at_work(
    world: World, emptying: OrphanCleanup
) -> None:
    """The sweep marks the tombstone once every function that was at work has ended."""
    emptying.empty("party")
    world.add("events/party/deliveries/late")
    world.now += SETTLED

    emptying.sweep()
    assert not world.is_marked
    world.now += timedelta(seconds=1)
    emptying.sweep()

    assert world.documents == {"events/other/photos/1"}
    assert world.is_marked


def test_the_sweep_goes_on_where_nobody_else_does(world: World, emptying: OrphanCleanup) -> None:
    """The sweep empties an event whose trigger Eventarc has given up after a day."""
    world.put_tombstone()
    world.now += SETTLED + timedelta(days=1)

    emptying.sweep()

    assert world.documents == {"events/other/photos/1"}
    assert world.is_marked


def test_a_trigger_that_runs_again_during_the_sweep_is_swept_after(
    world: World, emptying: OrphanCleanup
) -> None:
    """After a second deletion, documents written later are deleted as well."""
    emptying.empty("party")
    world.now += SETTLED + timedelta(seconds=1)
    world.on["update deletedEvents"] = world.put_tombstone
    emptying.sweep()

    assert not world.is_marked
