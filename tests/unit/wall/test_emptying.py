"""What was under a deleted event goes; its id is never given out again."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from functions.wall.emptying import SETTLED, NotEmptyYetError, OrphanCleanup, Tombstone

PAGE = 2
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Crash(Exception):  # noqa: N818 - it is no error, it is a power cut
    """The process ends here."""


class World:
    """A database in memory with a clock of its own; `on` hooks run before a call of that name.

    A tombstone is a version, and the time of the deletion, or None once it is marked.
    """

    def __init__(self) -> None:
        self.now = NOON
        self.seconds = 0.0
        self.documents: set[str] = set()
        self.tombstones: dict[str, tuple[float, datetime | None]] = {}
        self.on: dict[str, Callable[[], None]] = {}

    def put_tombstone(self, event_id: str, at: datetime) -> None:
        """See `DeletedEvents`."""
        self._at("put_tombstone")
        self.tombstones[event_id] = (self.seconds, at)

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """See `DeletedEvents`."""
        del at
        self._at("mark_emptied")
        if self.tombstones[tombstone.event_id][0] == tombstone.version:
            self.tombstones[tombstone.event_id] = (self.seconds, None)

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """See `DeletedEvents`."""
        return [
            Tombstone(event_id, version)
            for event_id, (version, at) in self.tombstones.items()
            if at and at < before
        ]

    def page(self, event_id: str) -> Sequence[str]:
        """See `DeletedEvents`."""
        self._at("page")
        return sorted(path for path in self.documents if path.startswith(f"events/{event_id}/"))[
            :PAGE
        ]

    def delete(self, orphans: Sequence[str]) -> None:
        """See `DeletedEvents`."""
        self._at("delete")
        self.documents.difference_update(orphans)

    def _at(self, call: str) -> None:
        self.seconds += 1
        hook = self.on.pop(call, None)
        if hook:
            hook()

    @property
    def is_marked(self) -> bool:
        """Whether the tombstone of the party stands, and no sweep looks at it any more."""
        return self.tombstones["party"][1] is None


@pytest.fixture
def world() -> World:
    """An event that was deleted with seven documents under it, and one that was not."""
    world = World()
    world.documents = {f"events/party/photos/{n}" for n in range(7)} | {"events/other/photos/1"}
    return world


@pytest.fixture
def emptying(world: World) -> OrphanCleanup:
    """The use case, in that world."""
    return OrphanCleanup(
        deleted_events=world, now=lambda: world.now, monotonic=lambda: world.seconds
    )


@pytest.mark.parametrize("call", ["page", "delete"])
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
    """It fails before the function is stopped, so that Eventarc runs it again."""

    def stall() -> None:
        world.seconds += 3600

    world.on["delete"] = stall
    with pytest.raises(NotEmptyYetError):
        emptying.empty("party")
    assert len(world.documents) == 8 - PAGE

    emptying.empty("party")
    assert world.documents == {"events/other/photos/1"}


def test_the_sweep_deletes_what_a_function_wrote_that_was_still_at_work(
    world: World, emptying: OrphanCleanup
) -> None:
    """And marks the tombstone, but not before every such function has ended."""
    emptying.empty("party")
    world.documents.add("events/party/deliveries/late")
    world.now += SETTLED

    emptying.sweep()
    assert not world.is_marked
    world.now += timedelta(seconds=1)
    emptying.sweep()

    assert world.documents == {"events/other/photos/1"}
    assert world.is_marked


def test_the_sweep_goes_on_where_nobody_else_does(world: World, emptying: OrphanCleanup) -> None:
    """Eventarc gives up after a day."""
    world.put_tombstone("party", world.now)
    world.now += SETTLED + timedelta(days=1)

    emptying.sweep()

    assert world.documents == {"events/other/photos/1"}
    assert world.is_marked


def test_a_trigger_that_runs_again_during_the_sweep_is_swept_after(
    world: World, emptying: OrphanCleanup
) -> None:
    """The tombstone was written anew, and what is written then still goes."""
    emptying.empty("party")
    world.now += SETTLED + timedelta(seconds=1)
    world.on["mark_emptied"] = lambda: world.put_tombstone("party", world.now)
    emptying.sweep()

    assert not world.is_marked
