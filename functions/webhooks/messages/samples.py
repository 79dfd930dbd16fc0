"""A made-up message of each event type, to show a receiver what one looks like (spec 4.6).

Names say "Test", and the event has no photos. The payloads are made as those of real messages are.
"""

from datetime import datetime
from typing import Any, Final

from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent
from functions.webhooks.messages import payloads
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import MILESTONES
from functions.webhooks.messages.payloads import Payload

_MODERATOR: Final = "test-moderator@example.com"
_PHOTO: Final = {
    "url": "https://example.com/test.jpg",
    "uploaderName": "Test Guest",
    "uploaderEmail": "test-guest@example.com",
    "approvedBy": _MODERATOR,
    "rejectedBy": _MODERATOR,
    "reason": "Test",
}
_EVENT: Final = {
    "name": "Test Event",
    "template": "test",
    "galleryUrl": "https://example.com/test",
}


def sample(event_type: EventType, now: datetime) -> Payload:
    """The `data` of a made-up message of that type, of something that happened `now`."""

    def photo(status: str) -> Photo:
        fields: dict[str, Any] = {**_PHOTO, "status": status}
        return Photo.read("test", fields, created=now, updated=now)

    event = WallEvent.read(_EVENT, updated=now)
    pending = photo("pending")
    return {
        EventType.PHOTO_UPLOADED: payloads.photo_uploaded(pending),
        EventType.PHOTO_APPROVED: payloads.photo_approved(photo("approved"), by_moderator=True),
        EventType.PHOTO_REJECTED: payloads.photo_rejected(photo("rejected")),
        EventType.EVENT_PUBLISHED: payloads.event_published(event),
        EventType.EVENT_ARCHIVED: payloads.event_archived(event, photo_count=0),
        EventType.MILESTONE_REACHED: payloads.milestone_reached(
            MILESTONES[0], reached_at=now, latest=pending
        ),
        EventType.GUEST_JOINED: payloads.guest_joined(pending),
        EventType.PHOTO_DELETED: payloads.photo_deleted(pending),
    }[event_type]
