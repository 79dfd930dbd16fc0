"""Webhook messages: the event types, and the messages that follow from a Firestore write.

Spec 3.1 and 3.2 define which write causes which message, and spec 6.1 the fields of the payload.
Every field is always present. An unknown value is null.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self, TypeAlias

from functions.ports import wire_time
from functions.wall.wall_event import EventStatus, Photo, PhotoStatus, WallEvent


class EventType(StrEnum):
    """Name of an event type, as in the body and in `Wall-Event-Type` (spec 6.1)."""

    PHOTO_UPLOADED = "photo.uploaded"
    PHOTO_APPROVED = "photo.approved"
    PHOTO_REJECTED = "photo.rejected"
    EVENT_PUBLISHED = "event.published"
    EVENT_ARCHIVED = "event.archived"
    MILESTONE_REACHED = "milestone.reached"
    GUEST_JOINED = "guest.joined"
    PHOTO_DELETED = "photo.deleted"


BY_DEFAULT: Final = frozenset(EventType) - {EventType.PHOTO_DELETED}
"""The seven event types of a URL without a list of types."""

LABELS: Final[Mapping[EventType, str]] = {
    EventType.PHOTO_UPLOADED: "A photo was uploaded",
    EventType.PHOTO_APPROVED: "A photo was approved",
    EventType.PHOTO_REJECTED: "A photo was rejected",
    EventType.EVENT_PUBLISHED: "The event was published",
    EventType.EVENT_ARCHIVED: "The event was archived",
    EventType.MILESTONE_REACHED: "A milestone was reached",
    EventType.GUEST_JOINED: "A guest joined",
    EventType.PHOTO_DELETED: "An approved photo was deleted",
}
"""The names of the event types for people."""

MILESTONES: Final = (100, 500, 1000, 5000, 10_000)
"""Photo counts at which an event sends `milestone.reached`."""

Payload: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """The record `events/{eventId}/milestones/{number}`.

    `reached_at` and `photo_id` are None if the event passed the milestone before its URLs last
    changed. No message is sent for such a milestone (design 3.11).
    """

    number: int
    photo_id: str | None = None
    reached_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """A webhook message for the endpoints that subscribe to `event_type`.

    Attributes:
        cause: Name of the write, milestone or guest. The same name each time a trigger runs.
        event_type: Event type of the message.
        about: Subject of the payload. For `photo.deleted` the deleted photo, with the time of the
            deletion.
        written_at: Time of the Firestore write that caused the message.
        milestone: The milestone to record together with the deliveries.
        wait: Delay of the deliveries after they are recorded.
        is_moderated: Whether a moderator approved the photo. False for an upload under
            auto-approve.
    """

    cause: str
    event_type: EventType
    about: Photo | WallEvent
    written_at: datetime
    milestone: Milestone | None = None
    wait: timedelta = timedelta(0)
    is_moderated: bool = True

    @classmethod
    def milestone_reached(
        cls, event_id: str, milestone: Milestone, photo: Photo, *, delay_seconds: int
    ) -> Self:
        """Create the message that `photo` reached the milestone (design 3.11).

        If a photo reaches several milestones, each message is due a second after the message before
        it, so that receivers get the messages in order.
        """
        return cls(
            f"{event_id}\nmilestone\n{milestone.number}",
            EventType.MILESTONE_REACHED,
            photo,
            photo.updated_at,
            milestone,
            wait=timedelta(seconds=delay_seconds),
        )

    @classmethod
    def guest_joined(cls, event_id: str, first_photo: Photo) -> Self:
        """Create the message that a guest has joined.

        The cause names the guest and not the write. The same guest therefore has the same delivery,
        even with another spelling of the address, or with a new first photo after all others were
        deleted. Without an address, `uploader_uid` identifies the guest (design 3.12).
        """
        known_by = (
            f"guest\n{first_photo.guest}"
            if first_photo.guest
            else f"guest without an address\n{first_photo.uploader_uid}"
        )
        cause, written_at = f"{event_id}\n{known_by}", first_photo.updated_at
        return cls(cause, EventType.GUEST_JOINED, first_photo, written_at)

    def payload(self, photo_count: int) -> Payload:  # noqa: PLR0911 - the table of spec 6.1
        """Return the `data` of the body. Only `event.archived` uses `photo_count`."""
        match self.event_type, self.about:
            case EventType.PHOTO_UPLOADED, Photo() as photo:
                return {
                    "photo": {
                        "id": photo.id,
                        "status": photo.status,
                        "url": photo.url,
                        "uploaderName": photo.uploader_name,
                        "uploaderEmail": photo.uploader_email,
                        "createdAt": wire_time(photo.created_at),
                    }
                }
            case EventType.PHOTO_APPROVED, Photo() as photo:
                moderated_at = photo.approved_at or photo.updated_at
                approved_at = moderated_at if self.is_moderated else photo.created_at
                return {
                    "photo": {
                        "id": photo.id,
                        "status": photo.status,
                        "url": photo.url,
                        "uploaderName": photo.uploader_name,
                        "approvedAt": wire_time(approved_at),
                        "approvedBy": photo.approved_by if self.is_moderated else None,
                    }
                }
            case EventType.PHOTO_REJECTED, Photo() as photo:
                return {
                    "photo": {
                        "id": photo.id,
                        "status": photo.status,
                        "uploaderName": photo.uploader_name,
                        "rejectedAt": wire_time(photo.rejected_at or photo.updated_at),
                        "rejectedBy": photo.rejected_by,
                        "reason": photo.reason,
                    }
                }
            case EventType.PHOTO_DELETED, Photo() as photo:
                return {"photo": {"id": photo.id, "deletedAt": wire_time(photo.updated_at)}}
            case EventType.GUEST_JOINED, Photo() as photo:
                return {
                    "uploaderName": photo.uploader_name,
                    # Not `uploaderUid`, which identifies a guest without an address.
                    "uploaderEmail": photo.uploader_email if photo.guest else None,
                    "firstPhotoId": photo.id,
                    "joinedAt": wire_time(photo.created_at),
                }
            case EventType.MILESTONE_REACHED, Photo() as photo if self.milestone:
                return {
                    "milestone": self.milestone.number,
                    "reachedAt": wire_time(self.written_at),
                    "latestPhoto": {"id": photo.id, "uploaderName": photo.uploader_name},
                }
            case EventType.EVENT_PUBLISHED, WallEvent() as event:
                return {
                    "eventName": event.name,
                    "template": event.template,
                    "publishedAt": wire_time(event.published_at or event.updated_at),
                    "galleryUrl": event.gallery_url,
                }
            case EventType.EVENT_ARCHIVED, WallEvent() as event:
                return {
                    "archivedAt": wire_time(event.archived_at or event.updated_at),
                    "photoCount": photo_count,
                }
        raise ValueError(self.event_type)


def messages_of_photo(
    write_id: str, before: Photo | None, after: Photo | None
) -> Sequence[WebhookMessage]:
    """Return the messages of one write of a photo (spec 3.1). Most writes have none.

    Args:
        write_id: ID of the write.
        before: The photo before the write, or None for an upload. For a deletion, with the time of
            the deletion.
        after: The photo after the write, or None for a deletion.
    """
    photo = after or before
    if photo is None:
        return []
    earlier, later = before and before.status, after and after.status
    types = []
    if earlier is None:
        types.append(EventType.PHOTO_UPLOADED)
    if later is PhotoStatus.APPROVED and earlier is not PhotoStatus.APPROVED:
        types.append(EventType.PHOTO_APPROVED)
    if later is PhotoStatus.REJECTED and earlier in (PhotoStatus.PENDING, PhotoStatus.APPROVED):
        types.append(EventType.PHOTO_REJECTED)
    if later is None and earlier is PhotoStatus.APPROVED:  # receivers know only approved photos
        types.append(EventType.PHOTO_DELETED)
    return [
        WebhookMessage(write_id, kind, photo, photo.updated_at, is_moderated=before is not None)
        for kind in types
    ]


def messages_of_event(
    write_id: str, before: WallEvent | None, after: WallEvent | None
) -> Sequence[WebhookMessage]:
    """Return the messages of one write of an event (spec 3.2). Most writes have none.

    An archived event is not live. If it is published again, it sends `event.published` again.
    """
    was_live = before is not None and before.status is EventStatus.PUBLISHED
    match was_live, after and after.status:
        case False, EventStatus.PUBLISHED:
            event_type = EventType.EVENT_PUBLISHED
        case True, EventStatus.ARCHIVED:
            event_type = EventType.EVENT_ARCHIVED
        case _:
            return []
    return [WebhookMessage(write_id, event_type, after, after.updated_at)] if after else []


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
_STATUS: Final = {EventType.PHOTO_APPROVED: "approved", EventType.PHOTO_REJECTED: "rejected"}


def sample(event_type: EventType, now: datetime, *, is_complete: bool = True) -> Payload:
    """Return the `data` of a sample message of that type (spec 4.6).

    The sample happened `now`, its names contain "Test", and its event has no photos. If it is not
    complete, its optional fields are null.
    """
    about: Photo | WallEvent
    if event_type in (EventType.EVENT_PUBLISHED, EventType.EVENT_ARCHIVED):
        about = WallEvent.read(_EVENT if is_complete else {}, updated=now)
    else:
        fields: dict[str, Any] = {"status": _STATUS.get(event_type, "pending")}
        fields |= _PHOTO if is_complete else {}
        about = Photo.read("test", fields, created=now, updated=now)
    milestone = Milestone(number=MILESTONES[0])
    return WebhookMessage("sample", event_type, about, now, milestone).payload(0)
