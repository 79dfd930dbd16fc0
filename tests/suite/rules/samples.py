"""Documents that are right in every field: what differs in a test is what the test is about."""

from datetime import UTC, datetime
from typing import Any, Final

from google.cloud.firestore import SERVER_TIMESTAMP

from tests.suite.rules.cast import TENANT, Cast, Who

PAST: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)

Fields = dict[str, Any]


def draft() -> Fields:
    """An event as an admin creates it."""
    return {"tenantId": TENANT, "name": "Garden party", "status": "draft", "autoApprove": False}


def event(status: str = "published", **further: Any) -> Fields:
    """A recorded event."""
    times: Fields = {"publishedAt": None, "archivedAt": None}
    if status != "draft":
        times["publishedAt"] = PAST
    if status == "archived":
        times["archivedAt"] = PAST
    return draft() | {"template": "classic", "status": status} | times | further


def upload(uid: str) -> Fields:
    """A photo as a guest uploads it under moderation."""
    return {
        "status": "pending",
        "url": "https://example.com/photo.jpg",
        "uploaderName": "Guest",
        "uploaderEmail": "guest@example.com",
        "uploaderUid": uid,
        "createdAt": SERVER_TIMESTAMP,
    }


def photo(uid: str, status: str = "pending") -> Fields:
    """A recorded photo."""
    moderated: dict[str, Fields] = {
        "pending": {},
        "approved": {"approvedAt": PAST, "approvedBy": "moderator@example.com"},
        "rejected": {
            "rejectedAt": PAST,
            "rejectedBy": "moderator@example.com",
            "reason": "blurred",
        },
    }
    return upload(uid) | {"status": status, "createdAt": PAST} | moderated[status]


def approval(email: str) -> Fields:
    """What a moderator with that address writes to approve a photo."""
    return {"status": "approved", "approvedAt": SERVER_TIMESTAMP, "approvedBy": email}


def rejection(email: str) -> Fields:
    """What a moderator with that address writes to reject a photo."""
    return {
        "status": "rejected",
        "rejectedAt": SERVER_TIMESTAMP,
        "rejectedBy": email,
        "reason": "blurred",
    }


def settings() -> Fields:
    """Webhook settings."""
    return {"urls": ["https://example.com/hook"], "urlsChangedAt": SERVER_TIMESTAMP}


def recorded(path: str, cast: Cast) -> Fields:
    """The document at the template `path`, as it is before somebody comes."""
    match path.split("/")[-2:]:
        case ["events", _]:
            return event()
        case ["photos", _]:
            return photo(cast.uid(Who.UPLOADER))
        case ["settings", _]:
            return settings()
        case ["users", _]:
            return {"email": "guest@example.com", "emailPreferences": {"recap": True}}
        case _:
            return {"any": "thing"}


def creation(path: str, cast: Cast, who: Who) -> Fields:
    """What `who` would create at the template `path`."""
    match path.split("/")[-2:]:
        case ["events", _]:
            return draft()
        case ["photos", _]:
            return upload(cast.uid(who))
        case ["settings", _]:
            return settings()
        case ["users", _]:
            return {"emailPreferences": {"recap": False}}
        case _:
            return {"any": "thing"}


def change(path: str, cast: Cast, who: Who) -> Fields:
    """What `who` would change at the template `path`."""
    match path.split("/")[-2:]:
        case ["events", _]:
            return {"name": "Garden party, moved inside"}
        case ["photos", _]:
            return approval(cast.email(who))
        case ["settings", _]:
            return {"urls": [], "urlsChangedAt": SERVER_TIMESTAMP}
        case ["users", _]:
            return {"emailPreferences": {"recap": False}}
        case _:
            return {"any": "other thing"}
