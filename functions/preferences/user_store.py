"""User records in Firestore: `users/{uid}` (design 4)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from functions.email_address import is_guest_uid
from functions.firestore.model import (
    ChangedMeanwhileError,
    Document,
    Documents,
    Merge,
    as_time,
    write_as_read,
)
from functions.ports import Accounts
from functions.preferences.preferences import (
    ACCOUNTS,
    CHOSEN_AT,
    CHOSEN_FOR_ADDRESS,
    MAX_ACCOUNTS,
    PREFERENCES,
    UNREACHABLE_UNTIL,
    AddressRecords,
    Flag,
    Records,
    account_ids,
    accounts_to_list,
    address_record_id,
    earlier_record_id,
    has_verified,
    stored_choice,
    with_choices,
)

USERS_TIMEOUT_SECONDS: Final = 10.0
"""Timeout of one call, including retries. Short, because a person is waiting."""

FIELDS: Final = ("email", PREFERENCES, ACCOUNTS, CHOSEN_FOR_ADDRESS, UNREACHABLE_UNTIL)
"""The fields that decide which emails an address gets."""


@dataclass(frozen=True, slots=True)
class UserStore:
    """Store of the user records.

    The parameter `auth` of its methods looks up verified addresses.
    """

    documents: Documents

    def find(self, auth: Accounts, uid: str, other: str | None = None) -> AddressRecords:
        """Return the records of the address that a link is about.

        A link with only an account is about the account only, unless the account's address is
        verified. Otherwise anyone could create an account with another person's address.

        Args:
            auth: Firebase Authentication.
            uid: ID of the record of the address. In links of apps and of earlier releases it may be
                the ID of an account.
            other: ID of an account that had the address. In links of earlier releases, ID of the
                record of the mailbox.
        """
        if is_guest_uid(uid):
            return self.of_address(uid, other)
        box = other
        records = self._read({uid, box or uid})
        account = records.get(uid, {})
        address, earlier = address_record_id(account), earlier_record_id(account)
        if box is None:
            if not address or not has_verified(auth.verified_addresses([uid]), uid, account):
                return AddressRecords(accounts={uid: account})
        elif earlier != box:  # the account was deleted, or has another address by now
            return self._with_accounts(box, records, is_of_mailbox=True)
        assert address is not None  # noqa: S101 - as `earlier` is the record of an address
        return self._with_accounts(address, records, earlier=earlier)

    def of_address(self, uid: str, other: str | None = None) -> AddressRecords:
        """Return the records of the address with the record `uid`. `other` is as in `find`."""
        box = other if other and is_guest_uid(other) else None
        return self._with_accounts(uid, self._read({uid, other or uid}), earlier=box)

    def _with_accounts(
        self,
        address: str,
        records: Records,
        *,
        earlier: str | None = None,
        is_of_mailbox: bool = False,
    ) -> AddressRecords:
        """Return the records of `address`. Read only the records that are missing in `records`."""
        own_records = {address, earlier or address}
        records = {**records, **self._read(own_records - records.keys())}
        listed = {uid for key in own_records for uid in account_ids(records.get(key))}
        accounts = {
            uid: account
            for uid, account in {**records, **self._read(listed - records.keys())}.items()
            if not is_guest_uid(uid) and address_record_id(account) == address
        }
        if earlier is None and accounts:
            earlier = earlier_record_id(next(iter(accounts.values())))
            if earlier and earlier not in records:
                records |= self._read([earlier])
        return AddressRecords(
            id=address,
            own=records.get(address, {}),
            earlier=records.get(earlier, {}) if earlier and earlier != address else {},
            accounts=accounts,
            is_of_mailbox=is_of_mailbox,
        )

    def is_off(self, record_id: str, flag: Flag) -> bool:
        """Return whether the record of an address has the flag off, with one read."""
        return stored_choice(self._read([record_id]).get(record_id), flag) is False

    def choose(
        self, of: AddressRecords, choices: Mapping[Flag, bool], at: datetime
    ) -> AddressRecords:
        """Set flags in all records of an address.

        If a guest turns recaps on, the pause after a hard bounce ends.

        Returns:
            The records with these flags, computed without another read.
        """
        reached = [UNREACHABLE_UNTIL] if choices.get(Flag.RECAP) else []
        is_exact = not of.is_of_mailbox
        own = [_merge(of.id, of.own, choices, at, is_exact=is_exact, delete=reached)]
        accounts = (_merge(uid, it, choices, at) for uid, it in of.accounts.items())
        self._write(*(own if of.id else []), *accounts)
        return of.changed(choices)

    def restore_opt_ins(
        self,
        auth: Accounts,
        uid: str,
        account: Mapping[str, Any],
        on: Collection[Flag],
        at: datetime,
    ) -> None:
        """Turn the flags `on` back on for the address, if the owner of account `uid` is verified.

        A choice by a link or a spam complaint takes precedence if it came after the time `at`.
        """
        record_id, earlier_id = address_record_id(account), earlier_record_id(account)
        if not record_id or not earlier_id:
            return
        if not has_verified(auth.verified_addresses([uid]), uid, account):
            return
        earlier = {} if earlier_id == record_id else self._read([earlier_id]).get(earlier_id, {})

        def decide(current: Document | None) -> Sequence[Merge]:
            record = current.fields if current else {}
            later = as_time(record.get(CHOSEN_AT))
            if later and at <= later:
                return []
            records = AddressRecords(id=record_id, own=record, earlier=earlier)
            if not any(records.is_off(flag) for flag in on):
                return []
            return [_merge(record_id, record, dict.fromkeys(on, True), at, is_exact=True)]

        self.documents.transact(_path(record_id), decide)

    def mark_unreachable(self, uid: str, until: datetime) -> None:
        """Record that the address of this record accepts no email (see `UNREACHABLE_UNTIL`)."""
        self._write(Merge(_path(uid), {UNREACHABLE_UNTIL: until}))

    def list_account(self, auth: Accounts, uid: str, account: Mapping[str, Any]) -> None:
        """List the account in the record of its address.

        The call costs one read, and a write if the account is not listed yet. A full list keeps the
        accounts that `accounts_to_list` selects.
        """
        record_id = address_record_id(account)
        while record_id:
            found = self.documents.get(_path(record_id), [ACCOUNTS], seconds=USERS_TIMEOUT_SECONDS)
            listed = account_ids(found.fields if found else None)
            if uid in listed and len(listed) <= MAX_ACCOUNTS:
                return
            kept: Sequence[str] = sorted({uid, *listed})
            if len(kept) > MAX_ACCOUNTS:
                verified = auth.verified_addresses(kept)
                records = {**self._read(listed), uid: account}
                kept = accounts_to_list(record_id, records, verified)
            if set(kept) == set(listed):
                return
            fields = {ACCOUNTS: dict.fromkeys(kept, True)}
            with suppress(ChangedMeanwhileError):
                version = found.version if found else None
                self.documents.commit(write_as_read(_path(record_id), fields, version))
                return

    def _read(self, uids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return the fields of these records by ID. A missing record has no fields."""
        ids = sorted(uids)
        paths = [_path(uid) for uid in ids]
        users = self.documents.get_all(paths, FIELDS, seconds=USERS_TIMEOUT_SECONDS)
        return {uid: user.fields if user else {} for uid, user in zip(ids, users, strict=True)}

    def _write(self, *writes: Merge) -> None:
        if writes:
            self.documents.commit(*writes, seconds=USERS_TIMEOUT_SECONDS)


def _merge(
    uid: str,
    record: Mapping[str, Any],
    choices: Mapping[Flag, bool],
    at: datetime,
    *,
    is_exact: bool | None = None,
    delete: Sequence[str] = (),
) -> Merge:
    """Return the write of `choices` to the record `uid`, which has the fields `record`.

    `is_exact` says whether the choices are for this address only. It is None for an account.
    """
    fields: dict[str | tuple[str, str], Any] = {CHOSEN_AT: at}
    fields |= {(PREFERENCES, name): value for name, value in with_choices(record, choices).items()}
    if is_exact is not None:
        fields |= {(CHOSEN_FOR_ADDRESS, flag.value): is_exact for flag in choices}
    return Merge(_path(uid), fields, delete=delete)


def _path(uid: str) -> str:
    return f"users/{uid}"
