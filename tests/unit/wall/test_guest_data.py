"""`keepGuestDataDays`: names and addresses leave an archived event's photos, and not before."""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.firestore.model import Document, Query, Write, Written
from functions.wall.retention import Forgetting, TimeUpError, due_at
from tests.in_memory.through import ServiceError
from tests.unit.wall.wall_fixture import NOON, WallFixture

ARCHIVED = {"status": "archived", "archivedAt": NOON, "keepGuestDataDays": 30}
PAGE = 2


def put_photos(wall: WallFixture, count: int) -> None:
    """Write so many photos of the event."""
    paths = [f"events/e/photos/p{n:03}" for n in range(count)]
    wall.put(*paths, uploaderName="Ann", uploaderEmail="ann@example.com")


def told_of(wall: WallFixture) -> set[str]:
    """Photos that tell of their guest."""
    found = wall.firestore.query(Query(collection="events/e/photos"))
    return {
        photo.id
        for photo in found
        if photo.fields.get("uploaderName") or "uploaderEmail" in photo.fields
    }


def timers_of(wall: WallFixture) -> dict[str, datetime]:
    """When guests of which events are forgotten."""
    found = wall.firestore.query(Query(collection="guestData", group=True))
    return {timer.path.split("/")[1]: timer.fields["dueAt"] for timer in found}


@pytest.fixture
def wall() -> WallFixture:
    """An event, archived at noon, with five photos."""
    wall = WallFixture()
    wall.put("events/e", **ARCHIVED)
    put_photos(wall, 5)
    return wall


@pytest.fixture
def forgetting(wall: WallFixture) -> Forgetting:
    """The use case in that wall."""
    return Forgetting(wall.documents, wall.clock, page_size=PAGE)


@pytest.mark.parametrize(
    ("change", "days"),
    [
        ({}, 30),
        ({"keepGuestDataDays": 1}, 1),
        ({"keepGuestDataDays": 30.0}, 30),
        ({"keepGuestDataDays": 7.5}, None),
        ({"keepGuestDataDays": "30"}, None),
        ({"keepGuestDataDays": float("nan")}, None),
        ({"keepGuestDataDays": float("inf")}, None),
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


@pytest.mark.parametrize(
    "archived_at",
    [
        *(None, "2026-05-01", 1777660200, True),
        *(NOON + timedelta(days=2), NOON.replace(year=2062), NOON.replace(year=9999)),
    ],
)
def test_an_event_without_a_time_of_archiving_gets_that_of_the_write(
    wall: WallFixture, forgetting: Forgetting, archived_at: object
) -> None:
    """A script archived it, perhaps with a later time. A later write doesn't move the time."""
    wall.put("events/e", **(ARCHIVED | {"archivedAt": archived_at}))
    [after] = wall.firestore.query(Query(collection="events"))
    forgetting.event_written(None, after)
    assert wall.fields("events/e")["archivedAt"] == after.written
    wall.now += timedelta(days=1)
    [later] = wall.firestore.query(Query(collection="events"))
    forgetting.event_written(after, later)
    assert timers_of(wall) == {"e": after.written + timedelta(days=30)}


@pytest.mark.parametrize(("days", "errors"), [(30, 0), (None, 0), ("30", 1), (0, 1), (1.5, 1)])
def test_days_that_cannot_be_used_are_logged_once(
    wall: WallFixture,
    forgetting: Forgetting,
    days: object,
    errors: int,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """The guests of such an event are kept, and an operator hears of it."""
    wall.put("events/e", **(ARCHIVED | {"keepGuestDataDays": days}))
    [after] = wall.firestore.query(Query(collection="events"))
    forgetting.event_written(None, after)
    forgetting.event_written(after, after)
    assert capfdbinary.readouterr().out.count(b"event.guests-kept") == errors


def test_guests_are_forgotten_when_it_is_time(wall: WallFixture, forgetting: Forgetting) -> None:
    """Guests are forgotten in all photos when the timer is due, and not a moment before."""
    of_another_app = "lists/e/guestData/1"
    wall.put(of_another_app, dueAt=NOON)
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30) - timedelta(seconds=1)
    forgetting.sweep()
    assert len(told_of(wall)) == 5
    wall.now += timedelta(seconds=1)
    wall.at["write each photos"] = lambda: wall.delete("events/e/photos/p001")
    forgetting.sweep()
    assert told_of(wall) == set()
    assert wall.fields(of_another_app) == {"dueAt": NOON}
    wall.delete(of_another_app)
    assert timers_of(wall) == {}


@pytest.mark.parametrize("path", ["lists/e/guestData/{}", "guestData/{}", "events/e/guestData/{}"])
def test_an_apps_own_collection_keeps_no_guests(
    wall: WallFixture, forgetting: Forgetting, path: str
) -> None:
    """Documents of an app with the same fields are passed over, however many are due earlier."""
    foreign = [path.format(number) for number in range(30)]
    wall.put(*foreign, dueAt=NOON)
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert told_of(wall) == set()
    assert all(wall.fields(document) == {"dueAt": NOON} for document in foreign)


@pytest.mark.parametrize("status", ["published", None])
def test_an_event_that_lives_again_keeps_its_guests(
    wall: WallFixture, forgetting: Forgetting, status: str | None
) -> None:
    """The timer has no effect where the event is published again or deleted."""
    forgetting.schedule("e")
    if status:
        wall.put("events/e", **(ARCHIVED | {"status": status}))
    else:
        wall.delete("events/e")
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(told_of(wall)), timers_of(wall)) == (5, {})


def test_an_event_that_is_archived_meanwhile_has_its_timer(
    wall: WallFixture, forgetting: Forgetting
) -> None:
    """Triggers run at once: one that has seen the event published deletes no later timer."""

    def archived_again() -> None:
        wall.put("events/e", **ARCHIVED)
        forgetting.schedule("e")

    wall.put("events/e", **(ARCHIVED | {"status": "published"}))
    wall.at = {"end events": archived_again}
    forgetting.schedule("e")
    assert timers_of(wall) == {"e": NOON + timedelta(days=30)}


def test_an_event_that_is_archived_anew_during_the_sweep_keeps_its_timer(
    wall: WallFixture, forgetting: Forgetting
) -> None:
    """It was published in between, and guests may have uploaded photos."""
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30)

    def archived_again() -> None:
        wall.put("events/e", **(ARCHIVED | {"archivedAt": wall.now}))
        forgetting.schedule("e")

    wall.at["write each photos"] = archived_again
    forgetting.sweep()
    assert timers_of(wall) == {"e": NOON + timedelta(days=60)}


def test_more_days_are_waited_for(wall: WallFixture, forgetting: Forgetting) -> None:
    """The event as it is when the timer is due decides, and the timer follows."""
    forgetting.schedule("e")
    wall.put("events/e", **(ARCHIVED | {"keepGuestDataDays": 60}))
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(told_of(wall)), timers_of(wall)) == (5, {"e": NOON + timedelta(days=60)})


def test_a_large_event_keeps_no_other_event_waiting(
    wall: WallFixture, forgetting: Forgetting
) -> None:
    """What a sweep has no time for waits behind other events, and goes on where it stopped."""
    put_photos(wall, 200)  # to read them all takes longer than a sweep has
    wall.put("events/small", **ARCHIVED)
    wall.put("events/small/photos/p", uploaderName="Ben")
    forgetting.schedule("e")
    forgetting.schedule("small")
    wall.now = NOON + timedelta(days=30)
    timers = []
    for _ in range(8):
        wall.now += timedelta(minutes=5)
        with contextlib.suppress(TimeUpError):
            forgetting.sweep()
        timers.append(set(timers_of(wall)))
    assert timers[:2] == [{"e", "small"}, {"e"}]
    assert (told_of(wall), timers[-1]) == (set(), set())


def test_a_photo_whose_write_fails_is_written_again(
    wall: WallFixture, forgetting: Forgetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep walks through the photos until every write has succeeded."""
    documents = forgetting.documents
    write_each = documents.write_each

    def busy(writes: Sequence[Write]) -> Sequence[Written | Exception]:
        monkeypatch.setattr(documents, "write_each", write_each)
        return [ServiceError("busy"), *write_each(writes[1:])]

    monkeypatch.setattr(documents, "write_each", busy)
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (told_of(wall), timers_of(wall)) == (set(), {})
