"""What was under a deleted event goes, whatever comes in between; nothing of a new one does."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from functions.wall.emptying import SETTLED, NotEmptyYetError, Orphan, OrphanCleanup, Tombstone

PAGE = 2
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Crash(Exception):  # noqa: N818 - it is no error, it is a power cut
    """The process ends here."""


class World:
    """A database in memory with a clock of its own; `on` hooks run before a call of that name."""

    def __init__(self) -> None:
        self.now = NOON
        self.seconds = 0.0
        self.documents: dict[str, Orphan] = {}
        self.events: dict[str, datetime] = {}
        self.tombstones: dict[str, tuple[int, datetime, datetime | None]] = {}
        self.on: dict[str, Callable[[], None]] = {}

    def put(self, path: str) -> None:
        """Write the document at `path`, `events/{eventId}/…`."""
        found = self.documents.get(path)
        created = found.created if found else self.now
        self.documents[path] = Orphan(path, created, self._version())

    def put_tombstone(self, event_id: str, at: datetime) -> Tombstone:
        """See `DeletedEvents`."""
        self._at("put_tombstone")
        version = self._version()
        self.tombstones[event_id] = (version, at, None)
        return Tombstone(event_id, version)

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """See `DeletedEvents`."""
        self._at("mark_emptied")
        version, deleted, _ = self.tombstones[tombstone.event_id]
        if version == tombstone.version:
            self.tombstones[tombstone.event_id] = (self._version(), deleted, at)

    def forget(self, tombstone: Tombstone) -> None:
        """See `DeletedEvents`."""
        self._at("forget")
        if self.tombstones[tombstone.event_id][0] == tombstone.version:
            del self.tombstones[tombstone.event_id]

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """See `DeletedEvents`."""
        return [
            Tombstone(event_id, version)
            for event_id, (version, at, _) in self.tombstones.items()
            if at < before
        ]

    def page(self, event_id: str, after: str | None) -> Sequence[Orphan]:
        """See `DeletedEvents`."""
        self._at("page")
        under = sorted(path for path in self.documents if path.startswith(f"events/{event_id}/"))
        left = (path for path in under if after is None or path > after)
        return [self.documents[path] for path in islice(left, PAGE)]

    def created(self, event_id: str) -> datetime | None:
        """See `DeletedEvents`."""
        return self.events.get(event_id)

    def delete(self, orphans: Sequence[Orphan]) -> None:
        """See `DeletedEvents`."""
        self._at("delete")
        for orphan in orphans:
            if self.documents.get(orphan.path) == orphan:
                del self.documents[orphan.path]

    def _at(self, call: str) -> None:
        self.seconds += 1
        hook = self.on.pop(call, None)
        if hook:
            hook()

    def _version(self) -> int:
        self.seconds += 1
        return int(self.seconds)


@pytest.fixture
def world() -> World:
    """An event that was deleted with seven documents under it, and one that was not."""
    world = World()
    for n in range(7):
        world.put(f"events/party/photos/{n}")
    world.put("events/other/photos/1")
    world.now += timedelta(hours=1)
    return world


@pytest.fixture
def emptying(world: World) -> OrphanCleanup:
    """The use case, in that world."""
    return OrphanCleanup(
        deleted_events=world, now=lambda: world.now, monotonic=lambda: world.seconds
    )


def emptied(world: World) -> datetime | None:
    """What the tombstone of the party says."""
    return world.tombstones["party"][2]


def test_everything_under_a_deleted_event_goes_and_nothing_else(
    world: World, emptying: OrphanCleanup
) -> None:
    """Page by page; and then an event of that id may be made."""
    emptying.empty("party")

    assert world.documents.keys() == {"events/other/photos/1"}
    assert emptied(world) == world.now


@pytest.mark.parametrize("call", ["page", "delete", "mark_emptied"])
def test_a_crash_anywhere_loses_nothing(call: str, world: World, emptying: OrphanCleanup) -> None:
    """The tombstone stays, and the next run goes on."""

    def crash() -> None:
        raise Crash

    world.on[call] = crash
    with pytest.raises(Crash):
        emptying.empty("party")
    assert emptied(world) is None

    emptying.empty("party")
    assert world.documents.keys() == {"events/other/photos/1"}
    assert emptied(world) == world.now


def test_a_run_that_takes_too_long_is_gone_on_with(world: World, emptying: OrphanCleanup) -> None:
    """It fails before the function is stopped, so that Eventarc runs it again."""

    def stall() -> None:
        world.seconds += 3600

    world.on["delete"] = stall
    with pytest.raises(NotEmptyYetError):
        emptying.empty("party")
    assert len(world.documents) == 8 - PAGE
    assert emptied(world) is None

    emptying.empty("party")
    assert emptied(world) == world.now


def test_what_is_written_meanwhile_goes_too(world: World, emptying: OrphanCleanup) -> None:
    """Also where the walk has been already."""
    world.on["delete"] = lambda: world.put("events/party/deliveries/late")

    emptying.empty("party")

    assert world.documents.keys() == {"events/other/photos/1"}


def test_an_event_made_anew_by_a_script_keeps_what_is_its_own(
    world: World, emptying: OrphanCleanup
) -> None:
    """Only what is older than the event that stands there now belonged to an earlier one."""

    def make_anew() -> None:
        world.now += timedelta(seconds=1)
        world.events["party"] = world.now
        world.documents.pop("events/party/photos/6")
        world.put("events/party/photos/6")
        world.put("events/party/settings/webhooks")

    world.on["delete"] = make_anew
    emptying.empty("party")

    own = {"events/party/photos/6", "events/party/settings/webhooks"}
    assert world.documents.keys() == own | {"events/other/photos/1"}


def test_a_document_that_was_made_anew_after_it_was_read_stays(
    world: World, emptying: OrphanCleanup
) -> None:
    """A deletion holds for the version that was read."""
    world.documents = {"events/party/photos/1": Orphan("events/party/photos/1", NOON, 1)}

    def make_anew() -> None:
        world.events["party"] = world.now
        found = world.documents["events/party/photos/1"]
        world.documents["events/party/photos/1"] = replace(found, created=world.now, version=2)

    world.on["delete"] = make_anew
    emptying.empty("party")

    assert world.documents.keys() == {"events/party/photos/1"}


def test_of_two_runs_the_later_one_says_that_it_is_done(
    world: World, emptying: OrphanCleanup
) -> None:
    """The event was deleted once more meanwhile: what the first run saw says nothing."""
    later: list[Tombstone] = []
    world.on["mark_emptied"] = lambda: later.append(world.put_tombstone("party", world.now))

    emptying.empty("party")

    assert emptied(world) is None
    world.mark_emptied(later[0], world.now)
    assert emptied(world) == world.now


def test_the_sweep_deletes_what_a_function_wrote_that_was_still_at_work(
    world: World, emptying: OrphanCleanup
) -> None:
    """And forgets the event, but not before every such function has ended."""
    emptying.empty("party")
    world.put("events/party/deliveries/late")
    world.now += SETTLED

    emptying.sweep()
    assert "party" in world.tombstones
    world.now += timedelta(seconds=1)
    emptying.sweep()

    assert world.documents.keys() == {"events/other/photos/1"}
    assert world.tombstones == {}


def test_the_sweep_goes_on_where_nobody_else_does(world: World, emptying: OrphanCleanup) -> None:
    """Eventarc gives up after a day."""
    world.put_tombstone("party", world.now)
    world.now += SETTLED + timedelta(days=1)

    emptying.sweep()

    assert world.documents.keys() == {"events/other/photos/1"}
    assert world.tombstones == {}
