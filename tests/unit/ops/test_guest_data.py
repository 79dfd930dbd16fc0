"""Erasing a guest while others write the same records (docs/privacy.md)."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from functions.wall.address import address_hash, guest_uid
from ops.documents import Document, Write, raw
from ops.guest_data import GuestData

BOX: Final = f"users/{guest_uid(address_hash('ann@example.com'))}"


class Records:
    """User records; `overtaken` is called before each write, and may write as well."""

    def __init__(self, overtaken: Callable[[str], bool], **users: dict[str, Any]) -> None:
        self._overtaken = overtaken
        self.documents: dict[str, Document] = {}
        for path, fields in users.items():
            self.put(path, fields)

    def put(self, path: str, fields: dict[str, Any]) -> None:
        """Write a record."""
        known = self.documents.get(path)
        version = str(int(known.version) + 1 if known else 1)
        values = {name: raw(value) for name, value in fields.items()}
        self.documents[path] = Document(path, values, version)

    def walk(self, collection: str = "", **_: object) -> Iterator[Document]:
        """See `Documents`."""
        yield from list(self.documents.values()) if collection == "users" else ()

    def write(self, writes: Sequence[Write]) -> int:
        """See `Documents`: a write whose document was changed is not made."""
        for write in writes:
            if self._overtaken(write.path):
                self.put(write.path, {**self._fields(write.path), "seen": True})
            there = self.documents.get(write.path)
            if (there.version if there else "") == write.version:
                values = {**(there.raw if there else {}), **write.raw}
                kept = {name: value for name, value in values.items() if name not in write.delete}
                version = str(int(write.version or 0) + 1)
                self.documents[write.path] = Document(write.path, kept, version)
        return len(writes)

    def _fields(self, path: str) -> dict[str, Any]:
        return self.documents[path].fields if path in self.documents else {}


@pytest.mark.parametrize("overtaken", range(6))
@pytest.mark.parametrize("has_box", [False, True])
def test_an_opt_out_survives_an_erasure_that_is_overtaken(overtaken: int, *, has_box: bool) -> None:
    """A bounce, a click or the trigger writes a record between the walk and any write of it."""
    writes = iter(range(100))
    account = {"email": "Ann@example.com", "emailPreferences": {"recap": False}}
    box = {BOX: {"accounts": {"u1": True}}} if has_box else {}
    records = Records(lambda _: next(writes) == overtaken, **{"users/u1": account}, **box)
    now = datetime(2026, 5, 1, tzinfo=UTC)
    GuestData(records, "ann@example.com", None, now=lambda: now).erase(dry_run=False)  # type: ignore[arg-type]
    assert records.documents[BOX].fields["emailPreferences"] == {"recap": False}
    assert "email" not in records.documents["users/u1"].fields
