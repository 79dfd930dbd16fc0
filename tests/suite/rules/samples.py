"""Valid documents. A test changes only the field that it is about."""

from datetime import UTC, datetime
from typing import Final

from google.cloud.firestore import SERVER_TIMESTAMP

from tests.suite.rules.cast import TENANT
from tests.suite.rules.client import Client, Fields

PAST: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def draft() -> Fields:
    """Return an event as an admin creates it."""
    return {"tenantId": TENANT, "name": "Garden party", "status": "draft", "autoApprove": False}


def event(status: object = "published", **further: object) -> Fields:
    """Return a recorded event."""
    times = {
        "publishedAt": None if status == "draft" else PAST,
        "archivedAt": PAST if status == "archived" else None,
    }
    return draft() | {"template": "classic", "status": status} | times | further


def upload(guest: Client) -> Fields:
    """Return a photo as `guest` uploads it under moderation."""
    return {
        "status": "pending",
        "url": "https://example.com/photo.jpg",
        "uploaderName": "Guest",
        "uploaderEmail": "guest@example.com",
        "uploaderUid": guest.uid,
        "createdAt": SERVER_TIMESTAMP,
    }


def photo(guest: Client, status: str = "pending") -> Fields:
    """Return a recorded photo of `guest`."""
    by = "moderator@example.com"
    moderated: dict[str, Fields] = {
        "pending": {},
        "approved": {"approvedAt": PAST, "approvedBy": by},
        "rejected": {"rejectedAt": PAST, "rejectedBy": by, "reason": "blurred"},
    }
    return upload(guest) | {"status": status, "createdAt": PAST} | moderated[status]


def approval(by: Client) -> Fields:
    """Return the fields that a moderator writes to approve a photo."""
    made = {"approvedAt": SERVER_TIMESTAMP, "approvedBy": by.email, "decidedByUid": by.uid}
    return {"status": "approved"} | made


def rejection(by: Client) -> Fields:
    """Return the fields that a moderator writes to reject a photo."""
    made = {"rejectedAt": SERVER_TIMESTAMP, "rejectedBy": by.email, "decidedByUid": by.uid}
    return {"status": "rejected", "reason": "blurred"} | made


def settings() -> Fields:
    """Webhook settings."""
    return {"urls": ["https://example.com/hook"], "urlsChangedAt": SERVER_TIMESTAMP}
