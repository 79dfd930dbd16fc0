"""The public copies of approved photos, with PUBLIC_WALL."""

import inspect
from datetime import UTC, datetime
from typing import Any

import pytest

import main
from functions.firestore.model import Delete, Document, Put, Update
from functions.wall import public_wall
from functions.wall.public_wall import public_fields
from tests.in_memory.documents import InMemoryDocuments

PHOTO = "events/e1/photos/p1"
COPY = "events/e1/wall/p1"

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


@pytest.mark.parametrize(
    ("fields", "public"),
    [
        (
            APPROVED,
            {
                "url": "https://example.com/1.jpg",
                "thumbUrl": "https://example.com/1-small.jpg",
                "uploaderName": "Ann",
                "createdAt": EARLIER,
                "featured": True,
            },
        ),
        (
            {"status": "approved", "url": 1, "featured": "yes"},
            {
                **dict.fromkeys(("url", "thumbUrl", "uploaderName")),
                "createdAt": NOW,  # the wall is sorted by time
                "featured": False,
            },
        ),
        *(
            (APPROVED | {"status": status}, None)
            for status in ("pending", "rejected", "Approved", None, 1)
        ),
    ],
)
def test_a_public_photo_has_no_address_uid_or_moderation_field(
    fields: dict[str, Any], public: dict[str, Any] | None
) -> None:
    """Spec 3.1: only approved photos are public. The copy always has a time."""
    assert public_fields(Document(PHOTO, fields, 1, created=NOW)) == public


def test_a_copy_exists_only_while_the_photo_is_approved() -> None:
    """A late trigger reads the present photo."""
    documents = InMemoryDocuments()
    documents.commit(Put(PHOTO, APPROVED))
    public_wall.copy(documents, "e1", "p1")
    assert documents.get(COPY)
    for write in (Update(PHOTO, {"status": "rejected"}), Delete(PHOTO)):
        documents.commit(Put(COPY, {"url": "late"}), write)
        public_wall.copy(documents, "e1", "p1")
        assert documents.get(COPY) is None


@pytest.mark.parametrize("fails", ["wall", "webhooks"])
@pytest.mark.parametrize("trigger", ["photo_written", "event_written"])
def test_the_wall_is_updated_before_the_webhooks(
    monkeypatch: pytest.MonkeyPatch, trigger: str, fails: str
) -> None:
    """A fault of one does not prevent the other. Then the trigger fails and is repeated."""
    done = []

    def handler_of(room: str) -> Any:
        def handler(*_: Any, **__: Any) -> None:
            done.append(room)
            if room == fails:
                raise ConnectionError(room)

        return handler

    monkeypatch.setattr("main.service", lambda: None)
    for room, module in (
        ("wall", "wall_triggers"),
        ("webhooks", "webhook_triggers"),
    ):
        monkeypatch.setattr(f"functions.handlers.{module}.{trigger}", handler_of(room))
    function = {"photo_written": main.onPhotoWritten, "event_written": main.onEventWritten}[trigger]
    with pytest.raises(ConnectionError, match=fails):
        inspect.unwrap(function)(None)
    assert done == ["wall", "webhooks"]
