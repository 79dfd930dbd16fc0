"""Erasing a guest while others write the same records (docs/privacy.md)."""

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
    """Firestore where somebody else writes a document just before the write of that number."""

    number = -1

    def write_each(self, writes: Sequence[Write], **how: float) -> Sequence[Written | Exception]:
        """See `Documents`."""
        answers: list[Written | Exception] = []
        for write in writes:
            if self.number == 0:
                self.commit(Merge(write.path, {"seen": True}))
            self.number -= 1
            answers += super().write_each([write], **how)
        return answers


@pytest.mark.parametrize("overtaken", range(6))
@pytest.mark.parametrize("has_box", [False, True])
def test_an_opt_out_survives_an_erasure_that_is_overtaken(overtaken: int, *, has_box: bool) -> None:
    """A bounce, a click or the trigger writes a record between the walk and any write of it."""
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
