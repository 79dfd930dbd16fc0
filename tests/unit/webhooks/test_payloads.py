"""Spec 6.1 and 4.3: the fields of every event type, and the envelope."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from functions.ports import wire_time
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.events import EventType, Milestone, Payload, WebhookMessage
from tests.in_memory.records import new_delivery

CREATED = datetime(2026, 5, 1, 18, 30, 0, 123_456, tzinfo=UTC)
LATER = datetime(2026, 5, 1, 20, 45, tzinfo=timezone(timedelta(hours=2)))
FIELDS: Mapping[str, Any] = {
    "url": "https://example.com/p1.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "uploaderUid": "u1",
    "createdAt": CREATED,
}


def photo(**fields: Any) -> Photo:
    """Return a photo with the fields of spec 2.2, changed by `fields`."""
    return Photo.read("p1", {**FIELDS, **fields}, created=CREATED, updated=LATER)


APPROVED = photo(status="approved", approvedAt=LATER, approvedBy="mod@example.com")
REJECTED = photo(status="rejected", rejectedAt=LATER, rejectedBy="mod@example.com", reason="blurry")
EVENT = WallEvent.read(
    {
        "status": "published",
        "name": "Midsummer",
        "template": "garden",
        "galleryUrl": "https://example.com/g/1",
        "publishedAt": CREATED,
        "archivedAt": LATER,
    },
    updated=LATER,
)


def data(
    event_type: EventType, about: Photo | WallEvent, *, photo_count: int = 0, **fields: Any
) -> Payload:
    """Return the `data` of a message about `about`, written when `about` was."""
    message = WebhookMessage("write-1", event_type, about, about.updated_at, **fields)
    return message.payload(photo_count)


TABLE: list[tuple[EventType, Payload, Payload]] = [
    (
        EventType.PHOTO_UPLOADED,
        data(EventType.PHOTO_UPLOADED, photo(status="pending")),
        {
            "photo": {
                "id": "p1",
                "status": "pending",
                "url": "https://example.com/p1.jpg",
                "uploaderName": "Ann",
                "uploaderEmail": "ann@example.com",
                "createdAt": "2026-05-01T18:30:00.123Z",
            }
        },
    ),
    (
        EventType.PHOTO_APPROVED,
        data(EventType.PHOTO_APPROVED, APPROVED),
        {
            "photo": {
                "id": "p1",
                "status": "approved",
                "url": "https://example.com/p1.jpg",
                "uploaderName": "Ann",
                "approvedAt": "2026-05-01T18:45:00.000Z",
                "approvedBy": "mod@example.com",
            }
        },
    ),
    (
        EventType.PHOTO_REJECTED,
        data(EventType.PHOTO_REJECTED, REJECTED),
        {
            "photo": {
                "id": "p1",
                "status": "rejected",
                "uploaderName": "Ann",
                "rejectedAt": "2026-05-01T18:45:00.000Z",
                "rejectedBy": "mod@example.com",
                "reason": "blurry",
            }
        },
    ),
    (
        EventType.EVENT_PUBLISHED,
        data(EventType.EVENT_PUBLISHED, EVENT),
        {
            "eventName": "Midsummer",
            "template": "garden",
            "publishedAt": "2026-05-01T18:30:00.123Z",
            "galleryUrl": "https://example.com/g/1",
        },
    ),
    (
        EventType.EVENT_ARCHIVED,
        data(EventType.EVENT_ARCHIVED, EVENT, photo_count=321),
        {"archivedAt": "2026-05-01T18:45:00.000Z", "photoCount": 321},
    ),
    (
        EventType.MILESTONE_REACHED,
        data(EventType.MILESTONE_REACHED, photo(), milestone=Milestone(number=100)),
        {
            "milestone": 100,
            "reachedAt": "2026-05-01T18:45:00.000Z",
            "latestPhoto": {"id": "p1", "uploaderName": "Ann"},
        },
    ),
    (
        EventType.GUEST_JOINED,
        data(EventType.GUEST_JOINED, photo()),
        {
            "uploaderName": "Ann",
            "uploaderEmail": "ann@example.com",
            "firstPhotoId": "p1",
            "joinedAt": "2026-05-01T18:30:00.123Z",
        },
    ),
    (
        EventType.PHOTO_DELETED,
        data(EventType.PHOTO_DELETED, APPROVED),
        {"photo": {"id": "p1", "deletedAt": wire_time(APPROVED.updated_at)}},
    ),
]


def test_the_table_has_every_event_type() -> None:
    """See spec 6.1."""
    assert [event for event, _, _ in TABLE] == list(EventType)


@pytest.mark.parametrize(("event", "actual", "expected"), TABLE)
def test_data_has_exactly_the_fields_of_the_table(
    event: EventType, actual: Payload, expected: Payload
) -> None:
    """Spec 6.1, nested as in design 3.9."""
    assert expected == actual, event


def test_an_automatic_approval_has_no_moderator() -> None:
    """Design 3.14: `approvedBy` is null and `approvedAt` is `createdAt`."""
    approved: Any = data(EventType.PHOTO_APPROVED, APPROVED, is_moderated=False)
    assert approved["photo"]["approvedBy"] is None
    assert approved["photo"]["approvedAt"] == "2026-05-01T18:30:00.123Z"


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        (
            EventType.PHOTO_UPLOADED,
            {
                "id": "p1",
                "status": "pending",
                "url": None,
                "uploaderName": None,
                "uploaderEmail": None,
                "createdAt": "2026-05-01T18:30:00.123Z",
            },
        ),
        (
            EventType.PHOTO_REJECTED,
            {
                "id": "p1",
                "status": "pending",
                "uploaderName": None,
                "rejectedAt": wire_time(LATER),
                "rejectedBy": None,
                "reason": None,
            },
        ),
    ],
)
def test_a_missing_field_or_one_of_a_wrong_type_is_null(
    event_type: EventType, expected: Payload
) -> None:
    """Send every field of the table for any photo that a client wrote."""
    odd = Photo.read(
        "p1",
        {"url": 7, "uploaderName": ["Ann"], "createdAt": "yesterday", "reason": {"a": 1}},
        created=CREATED,
        updated=LATER,
    )
    assert data(event_type, odd) == {"photo": expected}


def test_the_envelope_has_the_fields_of_the_specification() -> None:
    """See spec 4.3."""
    happened = {"uploaderName": "Zoë ✓"}
    delivery = new_delivery(now=CREATED, event_type=EventType.GUEST_JOINED, data=happened)
    assert json.loads(delivery.body) == {
        "event": "guest.joined",
        "eventId": "e1",
        "deliveryId": delivery.id,
        "timestamp": "2026-05-01T18:30:00.123Z",
        "data": happened,
    }
