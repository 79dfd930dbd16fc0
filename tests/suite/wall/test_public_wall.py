"""PUBLIC_WALL: copies of approved photos, with the deployed trigger."""

from datetime import UTC, datetime
from typing import Any

from google.cloud import firestore

from bench.costs import COSTS
from emulator.firestore_watch import wait_for
from functions.wall import public_wall
from tests.suite.operations import Operations, counting_documents
from tests.suite.process import FirestoreWrite, FunctionProcess, silenced

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
PENDING = {
    "status": "pending",
    "url": "https://example.com/1.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "uploaderUid": "u1",
    "createdAt": NOW,
}
APPROVED = PENDING | {"status": "approved"}
REJECTED = PENDING | {"status": "rejected"}
PUBLIC = {
    "url": "https://example.com/1.jpg",
    "thumbUrl": None,
    "uploaderName": "Ann",
    "createdAt": NOW,
    "featured": False,
}


def test_the_wall_follows_moderation(event: firestore.DocumentReference) -> None:
    """The copy follows an approval, a feature, a take-down and a deletion."""
    photo = event.collection("photos").document("p1")
    copied = event.collection("wall").document("p1")

    def becomes(expected: dict[str, Any] | None) -> None:
        wanted = [expected | {"id": "p1"}] if expected else []
        assert wait_for(copied, lambda found: found == wanted, 120) == wanted

    photo.set(PENDING)
    photo.update({"status": "approved"})
    becomes(PUBLIC)
    photo.update({"featured": True})
    becomes(PUBLIC | {"featured": True})
    photo.update({"status": "rejected"})
    becomes(None)
    photo.update({"status": "approved", "featured": False})
    becomes(PUBLIC)
    photo.delete()
    becomes(None)


def test_there_is_no_public_wall_without_the_parameter(
    db: firestore.Client, event: firestore.DocumentReference
) -> None:
    """Without PUBLIC_WALL no photo is copied, and hiding a photo deletes an older copy."""
    made, older = (event.collection("wall").document(photo) for photo in ("p1", "p2"))
    with silenced(event.id):
        event.collection("photos").document("p1").set(APPROVED)
        older.set(PUBLIC)
    writes = [
        FirestoreWrite(
            db, f"{event.path}/photos/{copied.id}", event_id=event.id, before=old, after=new
        )
        for copied, old, new in ((made, PENDING, APPROVED), (older, APPROVED, REJECTED))
    ]
    with FunctionProcess("onPhotoWritten", is_trigger=True, PUBLIC_WALL="false") as trigger:
        assert [trigger.send_write(write) for write in writes] == [200, 200]
    assert not made.get().exists
    assert not older.get().exists


def test_the_cost_of_a_copy(event: firestore.DocumentReference, counted: Operations) -> None:
    """A copy costs one read and one write."""
    with silenced(event.id):
        event.collection("photos").document("p1").set(APPROVED)

    public_wall.copy(counting_documents(counted), event.id, "p1")

    assert counted.cost() == COSTS["with PUBLIC_WALL, the copy of an approved photo"]
