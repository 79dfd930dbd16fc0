"""Export and erasure of a guest's data (docs/privacy.md)."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import pytest

from functions.email_address import address_hash, guest_uid
from functions.firestore.model import Merge, Put, Write, Written
from ops.guest_data import GuestData
from tests.in_memory.documents import InMemoryDocuments

BOX: Final = f"users/{guest_uid(address_hash('ann@example.com'))}"


class Overtaken(InMemoryDocuments):
    """Firestore with another write just before the write of that number."""

    number = -1

    def write_each(self, writes: Sequence[Write], **how: float) -> Sequence[Written | Exception]:
        """Write each document, after the other write."""
        answers: list[Written | Exception] = []
        for write in writes:
            if self.number == 0:
                self.commit(Merge(write.path, {"seen": True}))
            self.number -= 1
            answers += super().write_each([write], **how)
        return answers


@pytest.mark.parametrize("overtaken", range(6))
@pytest.mark.parametrize("has_box", [False, True])
def test_an_opt_out_survives_an_erasure_with_concurrent_writes(
    overtaken: int, *, has_box: bool
) -> None:
    """A bounce, a click or the trigger can write a record during the erasure."""
    documents = Overtaken()
    account = {"email": "Ann@example.com", "emailPreferences": {"recap": False}}
    documents.commit(Put("users/u1", account))
    if has_box:
        documents.commit(Put(BOX, {"accounts": {"u1": True}}))
    documents.number = overtaken
    now = datetime(2026, 5, 1, tzinfo=UTC)
    GuestData(documents, "ann@example.com", None, now=lambda: now).erase(dry_run=False)
    box, user = documents.get_all([BOX, "users/u1"])
    assert box is not None
    assert user is not None
    assert box.fields["emailPreferences"] == {"recap": False}
    assert "email" not in user.fields


@pytest.mark.parametrize(
    ("event_type", "data"),
    [
        ("photo.approved", {"photo": {"id": "p1", "uploaderName": "Ann"}}),
        ("guest.joined", {"firstPhotoId": "p1", "uploaderEmail": "Ann@example.com"}),
        ("milestone.reached", {"milestone": 100, "latestPhoto": {"id": "p1"}}),
        ("photo.approved", {"photo": {"id": "p2", "uploaderName": "Ben"}}),
        ("guest.joined", {"firstPhotoId": "p2", "uploaderEmail": "ben@example.com"}),
    ],
)
def test_an_export_has_nothing_of_the_organizer_and_of_other_guests(
    event_type: str, data: dict[str, object]
) -> None:
    """URLs contain passwords and keys, and receivers answer with other guests' addresses."""
    documents, now = InMemoryDocuments(), datetime(2026, 5, 1, tzinfo=UTC)
    documents.commit(
        Put("events/e", {"tenantId": "t"}),
        Put("events/e/photos/p1", {"uploaderEmail": "ann@example.com"}),
        Put("events/e/photos/p2", {"uploaderEmail": "ben@example.com"}),
    )
    body = {"event": event_type, "eventId": "e", "timestamp": "2026-05-01T00:00:00.000Z"}
    delivery = {
        "url": "https://ann:password@example.com/hook?key=secret&of=ann@example.com",
        "body": json.dumps(body | {"deliveryId": "d", "data": data}),
        "log": [{"attempt": 1, "answer": "ben@example.com and ann@example.com"}],
    }
    documents.commit(Put("events/e/deliveries/d", delivery))
    export = GuestData(documents, "ann@example.com", None, now=lambda: now).export()
    is_own = "p1" in json.dumps(data)
    assert export["deliveries"] == [
        {"document": "events/e/deliveries/d", **body, "data": data if is_own else {}}
    ]
