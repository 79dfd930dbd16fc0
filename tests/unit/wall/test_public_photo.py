"""What of a photo guests may list, with PUBLIC_WALL."""

from datetime import UTC, datetime
from typing import Any

import pytest

from functions.firestore.model import Document
from functions.wall.public_wall import public_fields

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
EARLIER = datetime(2026, 5, 1, 18, 0, tzinfo=UTC)
APPROVED: dict[str, Any] = {
    "status": "approved",
    "url": "https://example.com/1.jpg",
    "thumbUrl": "https://example.com/1-small.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "uploaderUid": "u1",
    "createdAt": EARLIER,
    "approvedBy": "moderator@example.com",
    "reason": "blurred",
    "featured": True,
}


def _photo(fields: dict[str, Any]) -> Document:
    return Document("events/e1/photos/p1", fields, 1, created=NOW)


def test_an_approved_photo_is_public_without_what_tells_of_people() -> None:
    """The copy has no address, no uid and no field of moderation."""
    assert public_fields(_photo(APPROVED)) == {
        "url": "https://example.com/1.jpg",
        "thumbUrl": "https://example.com/1-small.jpg",
        "uploaderName": "Ann",
        "createdAt": EARLIER,
        "featured": True,
    }


@pytest.mark.parametrize("status", ["pending", "rejected", "Approved", None, 1])
def test_any_other_photo_is_not_public(status: object) -> None:
    """Only a photo with the status `approved` is public (spec 3.1)."""
    assert public_fields(_photo(APPROVED | {"status": status})) is None


def test_what_cannot_be_read_is_left_out() -> None:
    """The copy always has a time, because pages of the wall are ordered by time."""
    assert public_fields(_photo({"status": "approved", "url": 1, "featured": "yes"})) == {
        "url": None,
        "thumbUrl": None,
        "uploaderName": None,
        "createdAt": NOW,
        "featured": False,
    }
