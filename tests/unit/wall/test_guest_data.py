"""`keepGuestDataDays`: names and addresses leave an archived event's photos, and not before."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from functions.firestore.model import Delete, Document, Put, Query, Write, Written
from functions.outside import Clock
from functions.wall.retention import Forgetting, TimeUpError, due_at
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.through import ServiceError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ARCHIVED = {"status": "archived", "archivedAt": NOON, "keepGuestDataDays": 30}
PAGE = 2
T = TypeVar("T")


class World:
    """Firestore; `overtake` names a photo that somebody deletes, before a write."""

    def __init__(self) -> None:
        """One event, archived at noon, with five photos."""
        self.now = NOON
        self.seconds = 0.0
        self.overtake = ""
        self.at: dict[str, Callable[[], object]] = {}
        self.firestore = Firestore(lambda: self.now)
        self.event(ARCHIVED)
        self.photos(5)
        documents = InMemoryDocuments(self.firestore, self._at)
        self.forgetting = Forgetting(
            documents,
            Clock(lambda: self.now, lambda: self.seconds, lambda _: None),
            page_size=PAGE,
        )

    def event(self, fields: Mapping[str, Any] | None) -> None:
        """Write the event, or delete it."""
        self.firestore.commit(Put("events/e", fields) if fields else Delete("events/e"))

    def photos(self, count: int) -> None:
        """Write so many."""
        fields = {"uploaderName": "Ann", "uploaderEmail": "ann@example.com"}
        self.firestore.commit(*(Put(f"events/e/photos/p{n:03}", fields) for n in range(count)))

    def _at(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        self.seconds += what in ("write each photos", "find photos")
        self.at.pop(what, lambda: None)()
        if what == "write each photos" and self.overtake:
            self.firestore.commit(Delete(f"events/e/photos/{self.overtake}"))
            self.overtake = ""
        return effect()

    @property
    def told_of(self) -> set[str]:
        """Photos that tell of their guest."""
        found = self.firestore.query(Query(collection="events/e/photos"))
        return {
            photo.id
            for photo in found
            if photo.fields.get("uploaderName") or "uploaderEmail" in photo.fields
        }

    @property
    def timers(self) -> dict[str, datetime]:
        """When guests of which events are forgotten."""
        found = self.firestore.query(Query(collection="guestData", group=True))
        return {timer.path.split("/")[1]: timer.fields["dueAt"] for timer in found}


@pytest.fixture
def world() -> World:
    """The archived event."""
    return World()


@pytest.fixture
def forgetting(world: World) -> Forgetting:
    """The use case in that world."""
    return world.forgetting


@pytest.mark.parametrize(
    ("change", "days"),
    [
        ({}, 30),
        ({"keepGuestDataDays": 1}, 1),
        ({"keepGuestDataDays": None}, None),
        ({"keepGuestDataDays": 0}, None),
        ({"keepGuestDataDays": True}, None),
        ({"keepGuestDataDays": 3651}, None),
        ({"status": "published"}, None),
        ({"archivedAt": None}, None),
    ],
)
def test_days_count_from_archiving(change: Mapping[str, Any], days: int | None) -> None:
    """Without the field, or before archiving, nobody is forgotten."""
    expected = None if days is None else NOON + timedelta(days=days)
    assert due_at(Document("events/e", {**ARCHIVED, **change}, 1, created=NOON)) == expected


def test_guests_are_forgotten_when_it_is_time(world: World, forgetting: Forgetting) -> None:
    """Guests are forgotten in all photos when the timer is due, and not a moment before."""
    forgetting.schedule("e")
    world.now = NOON + timedelta(days=30) - timedelta(seconds=1)
    forgetting.sweep()
    assert len(world.told_of) == 5
    world.now += timedelta(seconds=1)
    world.overtake = "p001"
    forgetting.sweep()
    assert (world.told_of, world.timers) == (set(), {})


@pytest.mark.parametrize("status", ["published", None])
def test_an_event_that_lives_again_keeps_its_guests(
    world: World, forgetting: Forgetting, status: str | None
) -> None:
    """The timer has no effect where the event is published again or deleted."""
    forgetting.schedule("e")
    world.event({**ARCHIVED, "status": status} if status else None)
    world.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(world.told_of), world.timers) == (5, {})


def test_an_event_that_is_archived_meanwhile_has_its_timer(
    world: World, forgetting: Forgetting
) -> None:
    """Triggers run at once: one that has seen the event published deletes no later timer."""

    def archived_again() -> None:
        world.event(ARCHIVED)
        forgetting.schedule("e")

    world.event({**ARCHIVED, "status": "published"})
    world.at = {"end events": archived_again}
    forgetting.schedule("e")
    assert world.timers == {"e": NOON + timedelta(days=30)}


def test_an_event_that_is_archived_anew_during_the_sweep_keeps_its_timer(
    world: World, forgetting: Forgetting
) -> None:
    """It was published in between, and guests may have uploaded photos."""
    forgetting.schedule("e")
    world.now = NOON + timedelta(days=30)

    def archived_again() -> None:
        world.event({**ARCHIVED, "archivedAt": world.now})
        forgetting.schedule("e")

    world.at["write each photos"] = archived_again
    forgetting.sweep()
    assert world.timers == {"e": NOON + timedelta(days=60)}


def test_more_days_are_waited_for(world: World, forgetting: Forgetting) -> None:
    """The event as it is when the timer is due decides, and the timer follows."""
    forgetting.schedule("e")
    world.event({**ARCHIVED, "keepGuestDataDays": 60})
    world.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(world.told_of), world.timers) == (5, {"e": NOON + timedelta(days=60)})


def test_a_large_event_keeps_no_other_event_waiting(world: World, forgetting: Forgetting) -> None:
    """What a sweep has no time for waits behind other events, and goes on where it stopped."""
    world.photos(200)  # to read them all takes longer than a sweep has
    world.firestore.commit(
        Put("events/small", ARCHIVED), Put("events/small/photos/p", {"uploaderName": "Ben"})
    )
    forgetting.schedule("e")
    forgetting.schedule("small")
    world.now = NOON + timedelta(days=30)
    timers = []
    for _ in range(7):
        world.now += timedelta(minutes=5)
        with contextlib.suppress(TimeUpError):
            forgetting.sweep()
        timers.append(set(world.timers))
    assert timers[:2] == [{"e", "small"}, {"e"}]
    assert (world.told_of, timers[-1]) == (set(), set())


def test_a_photo_whose_write_fails_is_written_again(
    world: World, forgetting: Forgetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep walks through the photos until every write has succeeded."""
    documents = forgetting.documents
    write_each = documents.write_each

    def busy(writes: Sequence[Write]) -> Sequence[Written | Exception]:
        monkeypatch.setattr(documents, "write_each", write_each)
        return [ServiceError("busy"), *write_each(writes[1:])]

    monkeypatch.setattr(documents, "write_each", busy)
    forgetting.schedule("e")
    world.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (world.told_of, world.timers) == (set(), {})
