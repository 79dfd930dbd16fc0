"""`keepGuestDataDays`: names and addresses are removed from photos of an archived event."""

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
    """Write photos of the event."""
    paths = [f"events/e/photos/p{n:03}" for n in range(count)]
    wall.put(*paths, uploaderName="Ann", uploaderEmail="ann@example.com")


def photos_with_guests(wall: WallFixture) -> set[str]:
    """Return the photos with data of their guest."""
    found = wall.firestore.query(Query(collection="events/e/photos"))
    return {
        photo.id
        for photo in found
        if photo.fields.get("uploaderName") or "uploaderEmail" in photo.fields
    }


def timers_of(wall: WallFixture) -> dict[str, datetime]:
    """Return the times at which the guests of each event are forgotten."""
    found = wall.firestore.query(Query(collection="guestData", group=True))
    return {timer.path.split("/")[1]: timer.fields["dueAt"] for timer in found}


@pytest.fixture
def wall() -> WallFixture:
    """Return an event, archived at noon, with five photos."""
    wall = WallFixture()
    wall.put("events/e", **ARCHIVED)
    put_photos(wall, 5)
    return wall


@pytest.fixture
def forgetting(wall: WallFixture) -> Forgetting:
    """Return the use case on that wall."""
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
    """Without the field, and before archiving, guest data is kept."""
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
def test_an_invalid_number_of_days_is_logged_once(
    wall: WallFixture,
    forgetting: Forgetting,
    days: object,
    errors: int,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """The guest data of such an event is kept, and an alert informs the operator."""
    wall.put("events/e", **(ARCHIVED | {"keepGuestDataDays": days}))
    [after] = wall.firestore.query(Query(collection="events"))
    forgetting.event_written(None, after)
    forgetting.event_written(after, after)
    assert capfdbinary.readouterr().out.count(b"event.guests-kept") == errors


def test_guests_are_forgotten_when_the_timer_is_due(
    wall: WallFixture, forgetting: Forgetting
) -> None:
    """Not a second earlier, and in all photos."""
    of_another_app = "lists/e/guestData/1"
    wall.put(of_another_app, dueAt=NOON)
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30) - timedelta(seconds=1)
    forgetting.sweep()
    assert len(photos_with_guests(wall)) == 5
    wall.now += timedelta(seconds=1)
    wall.at["write each photos"] = lambda: wall.delete("events/e/photos/p001")
    forgetting.sweep()
    assert photos_with_guests(wall) == set()
    assert wall.fields(of_another_app) == {"dueAt": NOON}
    wall.delete(of_another_app)
    assert timers_of(wall) == {}


@pytest.mark.parametrize("path", ["lists/e/guestData/{}", "guestData/{}", "events/e/guestData/{}"])
def test_timers_of_an_apps_own_collection_are_ignored(
    wall: WallFixture, forgetting: Forgetting, path: str
) -> None:
    """They have the same fields and are due earlier."""
    foreign = [path.format(number) for number in range(30)]
    wall.put(*foreign, dueAt=NOON)
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert photos_with_guests(wall) == set()
    assert all(wall.fields(document) == {"dueAt": NOON} for document in foreign)


@pytest.mark.parametrize("status", ["published", None])
def test_a_republished_or_deleted_event_loses_its_timer(
    wall: WallFixture, forgetting: Forgetting, status: str | None
) -> None:
    """Its guest data is kept."""
    forgetting.schedule("e")
    if status:
        wall.put("events/e", **(ARCHIVED | {"status": status}))
    else:
        wall.delete("events/e")
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(photos_with_guests(wall)), timers_of(wall)) == (5, {})


def test_a_late_trigger_deletes_no_newer_timer(wall: WallFixture, forgetting: Forgetting) -> None:
    """The late trigger has seen the event published."""

    def archived_again() -> None:
        wall.put("events/e", **ARCHIVED)
        forgetting.schedule("e")

    wall.put("events/e", **(ARCHIVED | {"status": "published"}))
    wall.at = {"end events": archived_again}
    forgetting.schedule("e")
    assert timers_of(wall) == {"e": NOON + timedelta(days=30)}


def test_an_event_archived_again_during_the_sweep_keeps_its_new_timer(
    wall: WallFixture, forgetting: Forgetting
) -> None:
    """It was published in between, so guests may have uploaded photos."""
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30)

    def archived_again() -> None:
        wall.put("events/e", **(ARCHIVED | {"archivedAt": wall.now}))
        forgetting.schedule("e")

    wall.at["write each photos"] = archived_again
    forgetting.sweep()
    assert timers_of(wall) == {"e": NOON + timedelta(days=60)}


def test_a_larger_number_of_days_moves_the_timer(wall: WallFixture, forgetting: Forgetting) -> None:
    """Read the event when the timer is due."""
    forgetting.schedule("e")
    wall.put("events/e", **(ARCHIVED | {"keepGuestDataDays": 60}))
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (len(photos_with_guests(wall)), timers_of(wall)) == (5, {"e": NOON + timedelta(days=60)})


def test_a_large_event_does_not_delay_the_others(wall: WallFixture, forgetting: Forgetting) -> None:
    """If a sweep has no time left, a later one continues, after other events."""
    put_photos(wall, 200)  # more than a sweep has time for
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
    assert (photos_with_guests(wall), timers[-1]) == (set(), set())


def test_a_failed_write_of_a_photo_is_repeated(
    wall: WallFixture, forgetting: Forgetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep ends only after every write has succeeded."""
    documents = forgetting.documents
    write_each = documents.write_each

    def busy(writes: Sequence[Write]) -> Sequence[Written | Exception]:
        monkeypatch.setattr(documents, "write_each", write_each)
        return [ServiceError("busy"), *write_each(writes[1:])]

    monkeypatch.setattr(documents, "write_each", busy)
    forgetting.schedule("e")
    wall.now = NOON + timedelta(days=30)
    forgetting.sweep()
    assert (photos_with_guests(wall), timers_of(wall)) == (set(), {})
