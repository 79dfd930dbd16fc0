"""A message: something noteworthy that happened at an event, for the URLs that take its type.

A write of a document makes messages (spec 3.1 and 3.2). The body of a message holds its payload:
the fields of spec 6.1, as nested objects. Every field is always there; an unknown one is null.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self, TypeAlias

from functions.ports import wire_time
from functions.wall.wall_event import EventStatus, Photo, PhotoStatus, WallEvent


class EventType(StrEnum):
    """Name of an event type, as it stands in the body and in `Wall-Event-Type` (spec 6.1)."""

    PHOTO_UPLOADED = "photo.uploaded"
    PHOTO_APPROVED = "photo.approved"
    PHOTO_REJECTED = "photo.rejected"
    EVENT_PUBLISHED = "event.published"
    EVENT_ARCHIVED = "event.archived"
    MILESTONE_REACHED = "milestone.reached"
    GUEST_JOINED = "guest.joined"
    PHOTO_DELETED = "photo.deleted"


BY_DEFAULT: Final = frozenset(EventType) - {EventType.PHOTO_DELETED}
"""The seven types of a URL that lists none."""

MILESTONES: Final = (100, 500, 1000, 5000, 10_000)
"""Numbers of photos at which an event sends `milestone.reached`."""

Payload: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """`events/{eventId}/milestones/{number}`: when it was reached, and by which photo.

    Neither is known of a milestone that was passed; it is recorded, and nobody is notified.
    """

    number: int
    photo_id: str | None = None
    reached_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What happened, for the receivers that take `event_type`.

    Attributes:
        cause: Names the write, the milestone or the guest; the same name at every run.
        event_type: Its type.
        about: What the payload describes; for `photo.deleted` the photo as it was before, with the
            time of the deletion.
        written_at: When Firestore took the write that tells of it.
        milestone: The milestone to record together with the deliveries.
        wait: How much later than they are recorded its deliveries are due.
        is_moderated: Whether a moderator approved the photo. Under auto-approve nobody did, at the
            moment of the upload.
    """

    cause: str
    event_type: EventType
    about: Photo | WallEvent
    written_at: datetime
    milestone: Milestone | None = None
    wait: timedelta = timedelta(0)
    is_moderated: bool = True

    @classmethod
    def of_milestone(
        cls, event_id: str, milestone: Milestone, photo: Photo, *, delay_seconds: int = 0
    ) -> Self:
        """The message that `photo` brought the event to the milestone; once (design 3.11).

        Of several milestones of one photo each is due a second after the one before, so that
        receivers get them in order.
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
    def of_guest(cls, event_id: str, first_photo: Photo) -> Self:
        """The message that a guest has joined.

        Named after the guest, not the write: another spelling of the address, or a first photo
        after all others were deleted, is the same guest and makes the same delivery. A guest
        without an address is known by `uploader_uid` (design 3.12).
        """
        known_by = (
            f"guest\n{first_photo.guest}"
            if first_photo.guest
            else f"guest without an address\n{first_photo.uploader_uid}"
        )
        cause, written_at = f"{event_id}\n{known_by}", first_photo.updated_at
        return cls(cause, EventType.GUEST_JOINED, first_photo, written_at)

    def payload(self, photo_count: int) -> Payload:  # noqa: PLR0911 - the table of spec 6.1
        """The `data` of the body; `photo_count` counts in `event.archived` alone."""
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
                    # Not `uploaderUid`, by which a guest without an address is known.
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
) -> Sequence[Message]:
    """The messages of one write of a photo (spec 3.1); none for most writes.

    `write_id` names the write; `before` is None for an upload. `after` is None for a deletion, and
    `before` has the time of the deletion then.
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
    if later is None and earlier is PhotoStatus.APPROVED:  # receivers know of no other photo
        types.append(EventType.PHOTO_DELETED)
    return [
        Message(write_id, kind, photo, photo.updated_at, is_moderated=before is not None)
        for kind in types
    ]


def messages_of_event(
    write_id: str, before: WallEvent | None, after: WallEvent | None
) -> Sequence[Message]:
    """The messages of one write of an event (spec 3.2); none for most writes.

    An archived event is not live: publishing it again is going live again.
    """
    was_live = before is not None and before.status is EventStatus.PUBLISHED
    match was_live, after and after.status:
        case False, EventStatus.PUBLISHED:
            event_type = EventType.EVENT_PUBLISHED
        case True, EventStatus.ARCHIVED:
            event_type = EventType.EVENT_ARCHIVED
        case _:
            return []
    return [Message(write_id, event_type, after, after.updated_at)] if after else []


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


def sample(event_type: EventType, now: datetime) -> Payload:
    """The `data` of a made-up message of that type, to show a receiver what one looks like.

    Something has happened `now`; names say "Test", and the event has no photos (spec 4.6).
    """
    about: Photo | WallEvent
    if event_type in (EventType.EVENT_PUBLISHED, EventType.EVENT_ARCHIVED):
        about = WallEvent.read(_EVENT, updated=now)
    else:
        fields: dict[str, Any] = {**_PHOTO, "status": _STATUS.get(event_type, "pending")}
        about = Photo.read("test", fields, created=now, updated=now)
    milestone = Milestone(number=MILESTONES[0])
    return Message("sample", event_type, about, now, milestone).payload(0)
