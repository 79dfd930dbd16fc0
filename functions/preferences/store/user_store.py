"""User records in Firestore: `users/{uid}` (design 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from functions.documents.documents import Documents
from functions.documents.write import Merge
from functions.preferences import accounts, reach
from functions.preferences.preferences import FIELD, Flag
from functions.wall.address import guest_uid

CALL_SECONDS: Final = 10.0
"""Limit of one call with its retries; a person is waiting."""


@dataclass(frozen=True, slots=True)
class UserStore:
    """Reads and writes user records; all methods except `mark_reachable` are one round trip."""

    documents: Documents

    def find(self, uid: str) -> Mapping[str, Any] | None:
        """Address and preferences of the user; None without a record."""
        found = self.documents.get(_path(uid), ["email", FIELD], seconds=CALL_SECONDS)
        return found.fields if found else None

    def choose(self, uid: str, choices: Mapping[Flag, bool]) -> None:
        """Set some flags and leave all other fields alone; creates a missing record.

        A guest who turns recaps on is mailed again, even after a hard bounce.
        """
        flags = {(FIELD, flag.value): value for flag, value in choices.items()}
        mailed_again = uid.startswith(guest_uid("")) and choices.get(Flag.RECAP)
        self._write(Merge(_path(uid), flags, delete=[reach.FIELD] if mailed_again else []))

    def mark_reachable(self, uid: str) -> None:
        """Undo `mark_unreachable`: one read, and one write if the mark is set."""
        found = self.documents.get(_path(uid), [reach.FIELD], seconds=CALL_SECONDS)
        if found and found.fields:
            self._write(Merge(_path(uid), delete=[reach.FIELD]))

    def mark_unreachable(self, uid: str, until: datetime) -> None:
        """Note that the address of this record accepts no mail (see `reach`)."""
        self._write(Merge(_path(uid), {reach.FIELD: until}))

    def note_account(self, record: str, uid: str) -> None:
        """List the account `uid` in the record of its address (see `accounts`)."""
        self._write(Merge(_path(record), {(accounts.FIELD, uid): True}))

    def _write(self, write: Merge) -> None:
        self.documents.commit(write, seconds=CALL_SECONDS)


def _path(uid: str) -> str:
    return f"users/{uid}"
