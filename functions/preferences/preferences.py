"""E-mail preferences: the mails that a user wants (spec 2.3), as stored in the user record.

A flag is off only where the record has the value `false`. A user without a choice or without a
record gets every mail (design 3.53). An address that hard-bounces is skipped for a year (design
3.61): mail services count the bounces of a sender, and further mails would not reach the guest.

Firestore compares texts exactly, an app may store an address as its owner typed it, and a link in a
mail holds no address. So the record of the mailbox, `users/guest-…`, lists its accounts, and these
records decide together which mails an address gets (design 3.54):

- Off in the record of the mailbox, or of the address itself, always holds.
- On there, a choice by a link, outweighs accounts, but those whose address is verified.
- Without a choice there, off in any account of the mailbox holds, whatever its `+tag` or dots.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self, TypeAlias

from functions.call.arguments import refuse_unknown
from functions.call.errors import refuse
from functions.firestore.model import time
from functions.ports import Accounts
from functions.wall.address import address_hash, deliverable, guest_uid, mailbox

PREFERENCES: Final = "emailPreferences"
"""The field of the user record with the flags."""

CHOSEN_AT: Final = "chosenAt"
"""The field with the time at which the service wrote flags last, for a link or a complaint."""


class Flag(StrEnum):
    """The kinds of mail that can be turned off; transactional mail cannot."""

    LIFECYCLE = "lifecycle"
    RECAP = "recap"
    MARKETING = "marketing"


TRANSACTIONAL: Final = "transactional"


def chosen(record: Mapping[str, Any] | None, flag: Flag) -> bool | None:
    """The choice in the user `record`, which may be missing; None without one."""
    value = _stored(record or {}).get(flag)
    return value if isinstance(value, bool) else None


def _stored(record: Mapping[str, Any]) -> Mapping[str, Any]:
    stored = record.get(PREFERENCES)
    return stored if isinstance(stored, Mapping) else {}


def on_wire(choices: Mapping[Flag, bool]) -> dict[str, bool]:
    """The `preferences` of a response (spec 4.2)."""
    return {flag.value: value for flag, value in choices.items()} | {TRANSACTIONAL: True}


def opted_out_of_recap(choices: Mapping[Flag, bool]) -> bool:
    """Whether recap or lifecycle mail is off (spec 4.1, rule 3)."""
    return not (choices[Flag.RECAP] and choices[Flag.LIFECYCLE])


def email_address(record: Mapping[str, Any] | None) -> str:
    """The address in the user record `record`; empty where it is missing (spec 4.2)."""
    email = (record or {}).get("email")
    return email if isinstance(email, str) else ""


def read_choices(data: object) -> dict[Flag, bool]:
    """The new values of flags, from `{"recap": false, …}`.

    Raises:
        CallError: `invalid-argument`, where a flag is unknown or cannot be changed, a value is not
            a boolean, or `data` is empty.
    """
    if not isinstance(data, Mapping) or not data:
        refuse('preferences must be an object such as {"recap": false}.')
    if TRANSACTIONAL in data:
        refuse("The flag transactional cannot be turned off; leave it out.")
    refuse_unknown(data, *Flag, within="preferences")
    if not all(isinstance(value, bool) for value in data.values()):
        refuse("Every flag must be true or false.")
    return {Flag(name): value for name, value in data.items()}


UNREACHABLE_UNTIL: Final = "unreachableUntil"
"""The field of the user record with the end of the pause."""

UNREACHABLE: Final = "unreachable"
"""The field of a mailbox's record with the records of its other addresses that are in a pause: a
map from user id to true."""

UNREACHABLE_FOR: Final = timedelta(days=365)
"""Pause after a hard bounce; by then the address may have a new owner."""


class SkipReason(StrEnum):
    """Reasons why a guest gets no recap."""

    OPTED_OUT = "opted-out"
    UNREACHABLE = "unreachable"


def is_unreachable(record: Mapping[str, Any] | None, now: datetime) -> bool:
    """Whether mails to the address of this `record` pause."""
    until = time((record or {}).get(UNREACHABLE_UNTIL))
    return until is not None and now < until


ACCOUNTS: Final = "accounts"
"""The field of a mailbox's record with the accounts: a map from user id to true."""

MAX_ACCOUNTS: Final = 99
"""Accounts that a mailbox lists: with one more, as many as one call of Auth looks up. A stranger
can make accounts with `+tags` of somebody's mailbox without end."""

MAX_READ: Final = 200
"""Entries of a list that are read, if it is longer all the same: a change writes each of them."""


def account_address(record: Mapping[str, Any] | None) -> str | None:
    """The address of an account in the form of `Guest.id`; None without a valid one."""
    address = deliverable(email_address(record).strip())
    return address.casefold() if address else None


def address_record_id(record: Mapping[str, Any] | None) -> str | None:
    """Id of the mailbox's record that must list this account; None without a valid address."""
    address = account_address(record)
    return guest_uid(address_hash(mailbox(address))) if address else None


def own_record_id(account: Mapping[str, Any]) -> str:
    """Id of the record of the account's own address."""
    return guest_uid(address_hash(account_address(account) or ""))


def account_ids(record: Mapping[str, Any] | None) -> list[str]:
    """Ids of the accounts that the record of a mailbox lists, at most `MAX_READ`."""
    return listed_in(record, ACCOUNTS)


def listed_in(record: Mapping[str, Any] | None, field: str) -> list[str]:
    """The ids in a list of the record of a mailbox, at most `MAX_READ`."""
    listed = (record or {}).get(field)
    return sorted(listed)[:MAX_READ] if isinstance(listed, Mapping) else []


def has_verified(verified: Mapping[str, str], uid: str, record: Mapping[str, Any]) -> bool:
    """Whether `verified` holds the account's address for that user."""
    return account_address({"email": verified.get(uid, "")}) == account_address(record)


Records: TypeAlias = Mapping[str, Mapping[str, Any]]
"""User records by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRecords:
    """The records of an address.

    Attributes:
        named: The record that a link names; it has the address in the answer.
        own: The records of the mailbox and of the address; one where both are spelled alike.
        accounts: The accounts with the address.
        relatives: The accounts with another address of the mailbox.
    """

    named: str = ""
    own: Records = field(default_factory=dict)
    accounts: Records = field(default_factory=dict)
    relatives: Records = field(default_factory=dict)

    @classmethod
    def of(cls, box: str, address: str, own: Records, accounts: Records, named: str = "") -> Self:
        """The records of the address whose own record has the id `address`.

        Accounts that have left the mailbox whose record is `box` are left out.
        """
        present = {uid: user for uid, user in accounts.items() if address_record_id(user) == box}
        equal = {uid: user for uid, user in present.items() if own_record_id(user) == address}
        others = {uid: user for uid, user in present.items() if uid not in equal}
        return cls(named=named, own=own, accounts=equal, relatives=others)

    @property
    def email(self) -> str:
        """The address of the account that a link names, or else of the first with the address."""
        first = min(self.accounts, default="")
        return email_address(self.accounts.get(self.named, self.accounts.get(first)))

    def without_off(self, flag: Flag) -> Self:
        """The same, without the accounts that have the flag off: turning it off leaves them alone.

        The own records stay. Their `chosenAt` outweighs what an account chose before, of which the
        trigger may not have heard yet.
        """
        accounts, relatives = (
            {uid: it for uid, it in records.items() if chosen(it, flag) is not False}
            for records in (self.accounts, self.relatives)
        )
        return replace(self, accounts=accounts, relatives=relatives)

    def changed(self, choices: Mapping[Flag, bool]) -> Self:
        """The records with `choices`, which in the own records outweigh those of relatives."""
        own, accounts = _with(self.own, choices), _with(self.accounts, choices)
        return replace(self, own=own, accounts=accounts)

    def doubtful(self) -> set[str]:
        """The accounts whose choice counts only where their address is verified."""
        return {
            uid
            for flag in Flag
            if _is_on(self.own, flag)
            for uid, record in self.accounts.items()
            if chosen(record, flag) is False
        }

    def flags(self, verified: Mapping[str, str]) -> dict[Flag, bool]:
        """Whether the address gets each kind of mail.

        `verified` are the verified addresses of the users that `doubtful` names.
        """
        return {flag: self._flag(flag, verified) for flag in Flag}

    def ask(self, accounts: Accounts) -> dict[Flag, bool]:
        """The same, by asking for those addresses where there are any."""
        uids = self.doubtful()
        return self.flags(accounts.verified_addresses(uids) if uids else {})

    def _flag(self, flag: Flag, verified: Mapping[str, str]) -> bool:
        if _is_off(self.own, flag):
            return False
        if _is_on(self.own, flag):
            counted = {
                uid: it for uid, it in self.accounts.items() if has_verified(verified, uid, it)
            }
            return not _is_off(counted, flag)
        return not _is_off({**self.accounts, **self.relatives}, flag)


def _with(records: Records, choices: Mapping[Flag, bool]) -> Records:
    return {uid: {**it, PREFERENCES: {**_stored(it), **choices}} for uid, it in records.items()}


def _is_off(records: Records, flag: Flag) -> bool:
    return any(chosen(record, flag) is False for record in records.values())


def _is_on(records: Records, flag: Flag) -> bool:
    return any(chosen(record, flag) is True for record in records.values())
