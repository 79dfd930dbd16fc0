"""A made-up message of each event type, to show a receiver what one looks like (spec 4.6).

Names say "Test", and the event has no photos. The payloads are made as those of real messages are.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final

from functions.wall.photo import Photo, PhotoStatus
from functions.wall.wall_event import EventStatus, WallEvent
from functions.webhooks.messages import payloads
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import MILESTONES
from functions.webhooks.messages.payloads import Payload

_MODERATOR: Final = "test-moderator@example.com"


def sample(event_type: EventType, now: datetime) -> Payload:
    """The `data` of a made-up message of that type, of something that happened `now`."""
    photo = _photo(now)
    approved = replace(photo, status=PhotoStatus.APPROVED, approved_at=now, approved_by=_MODERATOR)
    rejected = replace(photo, status=PhotoStatus.REJECTED, rejected_at=now, rejected_by=_MODERATOR)
    samples = {
        EventType.PHOTO_UPLOADED: payloads.photo_uploaded(photo),
        EventType.PHOTO_APPROVED: payloads.photo_approved(approved, by_moderator=True),
        EventType.PHOTO_REJECTED: payloads.photo_rejected(replace(rejected, reason="Test")),
        EventType.EVENT_PUBLISHED: payloads.event_published(_event(EventStatus.PUBLISHED, now)),
        EventType.EVENT_ARCHIVED: payloads.event_archived(
            _event(EventStatus.ARCHIVED, now), photo_count=0
        ),
        EventType.MILESTONE_REACHED: payloads.milestone_reached(
            MILESTONES[0], reached_at=now, latest=photo
        ),
        EventType.GUEST_JOINED: payloads.guest_joined(photo),
        EventType.PHOTO_DELETED: payloads.photo_deleted(photo),
    }
    return samples[event_type]


def _photo(now: datetime) -> Photo:
    """A photo that nobody uploaded."""
    return Photo(
        id="test",
        status=PhotoStatus.PENDING,
        url="https://example.com/test.jpg",
        uploader_name="Test Guest",
        uploader_email="test-guest@example.com",
        uploader_uid="test",
        created_at=now,
        updated_at=now,
        approved_at=None,
        approved_by=None,
        rejected_at=None,
        rejected_by=None,
        reason=None,
    )


def _event(status: EventStatus, now: datetime) -> WallEvent:
    """An event that nobody gives."""
    return WallEvent(
        status=status,
        name="Test Event",
        template="test",
        gallery_url="https://example.com/test",
        published_at=now,
        archived_at=now if status is EventStatus.ARCHIVED else None,
        updated_at=now,
    )
