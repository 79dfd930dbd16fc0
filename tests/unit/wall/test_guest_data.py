"""`keepGuestDataDays`: names and addresses leave an archived event's photos, and not before."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.wall.emptying import NotEmptyYetError
from functions.wall.guest_data import Forgetting, GuestPhoto, due_at

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ARCHIVED = {"status": "archived", "archivedAt": NOON, "keepGuestDataDays": 30}
PAGE = 2


class World:
    """Events in memory; `overtake` names a photo that somebody changes once, before a write."""

    def __init__(self) -> None:
        self.now = NOON
        self.seconds = 0.0
        self.events: dict[str, Mapping[str, Any]] = {"e": ARCHIVED}
        self.timers: dict[str, datetime] = {}
        self.photos = {f"p{number}": GuestPhoto(f"p{number}", 1, tells=True) for number in range(5)}
        self.overtake = ""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `GuestPhotos`."""
        return self.events.get(event_id)

    def set_timer(self, event_id: str, at: datetime | None) -> None:
        """See `GuestPhotos`."""
        self.timers.pop(event_id, None)
        if at:
            self.timers[event_id] = at

    def due(self, now: datetime) -> Iterable[str]:
        """See `GuestPhotos`."""
        return [event_id for event_id, at in self.timers.items() if at <= now]

    def page(self, event_id: str, after: str | None) -> Sequence[GuestPhoto]:
        """See `GuestPhotos`."""
        assert event_id == "e"
        ids = [name for name in sorted(self.photos) if name > (after or "")]
        return [self.photos[name] for name in ids[:PAGE]]

    def forget(self, event_id: str, photos: Sequence[GuestPhoto]) -> int:
        """See `GuestPhotos`."""
        assert event_id == "e"
        self.seconds += 1
        taken = [photo for photo in photos if photo.id != self.overtake]
        self.overtake = ""
        for photo in taken:
            self.photos[photo.id] = GuestPhoto(photo.id, 2, tells=False)
        return len(taken)

    @property
    def told_of(self) -> set[str]:
        """Photos that tell of their guest."""
        return {photo.id for photo in self.photos.values() if photo.tells}


@pytest.fixture
def world() -> World:
    """One event, archived at noon, with five photos."""
    return World()


@pytest.fixture
def forgetting(world: World) -> Forgetting:
    """The use case in that world."""
    return Forgetting(photos=world, now=lambda: world.now, monotonic=lambda: world.seconds)


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
    assert due_at({**ARCHIVED, **change}) == expected


def test_guests_are_forgotten_when_it_is_time(world: World, forgetting: Forgetting) -> None:
    """Not a moment before; then in all photos, and once."""
    forgetting.schedule("e")
    world.now = NOON + timedelta(days=30) - timedelta(seconds=1)
    forgetting.sweep()
    assert len(world.told_of) == 5
    world.now += timedelta(seconds=1)
    world.overtake = "p1"
    forgetting.sweep()
    assert (world.told_of, world.timers) == (set(), {})


@pytest.mark.parametrize("status", ["published", None])
def test_an_event_that_lives_again_keeps_its_guests(
    world: World, forgetting: Forgetting, status: str | None
) -> None:
    """The timer of the earlier archiving means nothing then; nor where the event is gone."""
    forgetting.schedule("e")
    world.events = {"e": {**ARCHIVED, "status": status}} if status else {}
    world.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(world.told_of), world.timers) == (5, {})


def test_more_days_are_waited_for(world: World, forgetting: Forgetting) -> None:
    """The event as it is when the timer is due decides, and the timer follows."""
    forgetting.schedule("e")
    world.events = {"e": {**ARCHIVED, "keepGuestDataDays": 60}}
    world.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(world.told_of), world.timers) == (5, {"e": NOON + timedelta(days=60)})


def test_a_large_event_takes_several_sweeps(world: World, forgetting: Forgetting) -> None:
    """The timer stays until the last photo."""
    world.photos = {f"p{n:03}": GuestPhoto(f"p{n:03}", 1, tells=True) for n in range(100)}
    forgetting.schedule("e")
    world.now = NOON + timedelta(days=30)
    with pytest.raises(NotEmptyYetError):
        forgetting.sweep()
    assert 0 < len(world.told_of) < 100
    forgetting.sweep()
    assert (world.told_of, world.timers) == (set(), {})
