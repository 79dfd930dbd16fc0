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
    """Reads and writes user records; a method is one round trip, or two that free an address."""

    documents: Documents

    def find(self, uid: str) -> Mapping[str, Any] | None:
        """Address and preferences of the user; None without a record."""
        found = self.documents.get(_path(uid), ["email", FIELD], seconds=CALL_SECONDS)
        return found.fields if found else None

    def choose(self, uid: str, choices: Mapping[Flag, bool]) -> None:
        """Set some flags and leave all other fields alone; creates a missing record.

        A guest who turns recaps on is mailed again, even after a hard bounce, at each address of
        the mailbox.
        """
        flags = {(FIELD, flag.value): value for flag, value in choices.items()}
        if not uid.startswith(guest_uid("")) or not choices.get(Flag.RECAP):
            self._write(Merge(_path(uid), flags))
            return
        found = self.documents.get(_path(uid), [reach.OTHERS], seconds=CALL_SECONDS)
        others = sorted(found.fields.get(reach.OTHERS, {})) if found else []
        self._write(
            Merge(_path(uid), flags, delete=[reach.FIELD, reach.OTHERS]),
            *(Merge(_path(other), delete=[reach.FIELD]) for other in others),
        )

    def mark_reachable(self, uid: str) -> None:
        """Undo `mark_unreachable`: one read, and one write if the mark is set."""
        found = self.documents.get(_path(uid), [reach.FIELD], seconds=CALL_SECONDS)
        if found and found.fields:
            self._write(Merge(_path(uid), delete=[reach.FIELD]))

    def mark_unreachable(self, uid: str, until: datetime, mailbox: str | None = None) -> None:
        """Note that the address of this record accepts no mail (see `reach`).

        The record `mailbox` lists it, because the links in mails lead there.
        """
        writes = [Merge(_path(uid), {reach.FIELD: until})]
        if mailbox not in (None, uid):
            writes.append(Merge(_path(mailbox), {(reach.OTHERS, uid): True}))
        self._write(*writes)

    def note_account(self, record: str, uid: str) -> None:
        """List the account `uid` in the record of its address (see `accounts`)."""
        self._write(Merge(_path(record), {(accounts.FIELD, uid): True}))

    def _write(self, *writes: Merge) -> None:
        self.documents.commit(*writes, seconds=CALL_SECONDS)


def _path(uid: str) -> str:
    return f"users/{uid}"
