"""User records in Firestore: `users/{uid}` (design 4)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from functions.firestore.model import Document, Documents, Merge, time
from functions.ports import Accounts
from functions.preferences.preferences import (
    ACCOUNTS,
    CHOSEN_AT,
    MAX_ACCOUNTS,
    PREFERENCES,
    UNREACHABLE,
    UNREACHABLE_UNTIL,
    AddressRecords,
    Flag,
    account_ids,
    address_record_id,
    chosen,
    listed_in,
    own_record_id,
)
from functions.wall.address import is_guest_uid

CALL_SECONDS: Final = 10.0
"""Limit of one call with its retries; a person is waiting."""

_FIELDS: Final = ("email", PREFERENCES, ACCOUNTS, UNREACHABLE)


@dataclass(frozen=True, slots=True)
class UserStore:
    """Reads and writes user records."""

    documents: Documents

    def find(self, uid: str, box: str | None = None) -> AddressRecords:
        """The records of the address that a link is about: one read, and one of further records.

        `uid` is the account that the link names, or the record of the address; `box` is the record
        of the mailbox. Links without `box` are about the mailbox of the account, or of `uid`.
        """
        records = self._read({uid, box or uid})
        is_account = not is_guest_uid(uid)
        if box is None:
            box = address_record_id(records.get(uid)) if is_account else uid
            if box is None:
                return AddressRecords(named=uid, accounts={uid: records.get(uid, {})})
            records |= self._read([box])
        address = box
        if not is_account:
            address = uid
        elif address_record_id(records.get(uid)) == box:
            address = own_record_id(records[uid])
        listed = account_ids(records.get(box))
        records |= self._read({address, *listed} - {uid, box})
        own = {box: records.get(box, {})} | {key: records[key] for key in records if key == address}
        others = {key: record for key, record in records.items() if key not in own}
        return AddressRecords.of(box, address, own, others, named=uid)

    def choose(
        self, of: AddressRecords, choices: Mapping[Flag, bool], at: datetime
    ) -> AddressRecords:
        """Set some flags in all records of an address, and leave all other fields alone.

        Accounts with another address of the mailbox only have flags turned off. A guest who turns
        recaps on is mailed again, even after a hard bounce, at each address of the mailbox.

        Returns:
            The records with these flags, without another read.
        """
        off = {flag: value for flag, value in choices.items() if not value}
        is_reached = bool(choices.get(Flag.RECAP))
        bounced = {uid for record in of.own.values() for uid in listed_in(record, UNREACHABLE)}
        reached = [UNREACHABLE_UNTIL, UNREACHABLE] if is_reached else []
        self._write(
            *(_merge(uid, choices, at, delete=reached) for uid in of.own),
            *(_merge(uid, choices, at) for uid in of.accounts),
            *(_merge(uid, off, at) for uid in of.relatives if off),
            *(
                Merge(_path(uid), delete=[UNREACHABLE_UNTIL])
                for uid in sorted(bounced - of.own.keys())
                if is_reached
            ),
        )
        return of.changed(choices)

    def free(self, box: str, uid: str, on: Collection[Flag], at: datetime) -> None:
        """Turn flags of a mailbox on that its owner turned on in the account `uid` at that time.

        A later choice by a link stays, and so does a complaint.
        """
        own = self.find(uid, box).own

        def decide(current: Document | None) -> Sequence[Merge]:
            record = current.fields if current else {}
            later = time(record.get(CHOSEN_AT))
            if later and at <= later:
                return []
            records = {**own, box: record}
            is_off = any(chosen(it, flag) is False for it in records.values() for flag in on)
            choices = dict.fromkeys(on, True)
            return [_merge(key, choices, at) for key in records] if is_off else []

        self.documents.transact(_path(box), decide)

    def mark_unreachable(self, uid: str, until: datetime, mailbox: str | None = None) -> None:
        """Note that the address of this record accepts no mail (see `UNREACHABLE_UNTIL`).

        The record `mailbox` lists it, because the links in mails lead there.
        """
        writes = [Merge(_path(uid), {UNREACHABLE_UNTIL: until})]
        if mailbox not in (None, uid):
            writes.append(Merge(_path(mailbox), {(UNREACHABLE, uid): True}))
        self._write(*writes)

    def list_account(self, box: str, uid: str, accounts: Accounts) -> None:
        """List the account `uid` in the record of its mailbox: a read, and a write if it is new.

        In a full list a verified account takes the place of an account that is not.
        """
        listed = account_ids(self._read([box]).get(box))
        if uid in listed:
            return
        if len(listed) < MAX_ACCOUNTS:
            self._write(Merge(_path(box), {(ACCOUNTS, uid): True}))
            return
        addresses = accounts.verified_addresses([uid, *listed])
        owned = {it for it in addresses if address_record_id({"email": addresses[it]}) == box}
        unverified = set(listed) - owned

        def decide(current: Document | None) -> Sequence[Merge]:
            ids = account_ids(current.fields if current else None)
            if uid in ids or not unverified.intersection(ids):
                return []
            kept = sorted(ids, key=unverified.__contains__)[: MAX_ACCOUNTS - 1]
            return [Merge(_path(box), {ACCOUNTS: dict.fromkeys([uid, *kept], True)})]

        if uid in owned:
            self.documents.transact(_path(box), decide)

    def _read(self, uids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        paths = [_path(uid) for uid in sorted(uids)]
        users = self.documents.get_all(paths, _FIELDS, seconds=CALL_SECONDS) if paths else []
        return {user.id: user.fields for user in users if user}

    def _write(self, *writes: Merge) -> None:
        if writes:
            self.documents.commit(*writes, seconds=CALL_SECONDS)


def _merge(
    uid: str, choices: Mapping[Flag, bool], at: datetime, delete: Sequence[str] = ()
) -> Merge:
    fields: dict[str | tuple[str, str], Any] = {CHOSEN_AT: at}
    fields |= {(PREFERENCES, flag.value): value for flag, value in choices.items()}
    return Merge(_path(uid), fields, delete=delete)


def _path(uid: str) -> str:
    return f"users/{uid}"
