"""The user records that decide together which mails an address gets (design 3.54).

- Off in the record of the mailbox, or of the address itself, always holds.
- On there, a choice by a link, outweighs accounts, but those whose address is verified.
- Without a choice there, off in any account of the mailbox holds, whatever its `+tag` or dots.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from functions.preferences.preferences import (
    Flag,
    VerifiedAddresses,
    account_address,
    address_record_id,
    chosen,
    email_address,
    has_verified,
)
from functions.wall.address import address_hash, guest_uid

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
        equal = {uid: user for uid, user in present.items() if _record_id(user) == address}
        others = {uid: user for uid, user in present.items() if uid not in equal}
        return cls(named=named, own=own, accounts=equal, relatives=others)

    @property
    def email(self) -> str:
        """The address of the account that a link names, or else of the first with the address."""
        first = min(self.accounts, default="")
        return email_address(self.accounts.get(self.named, self.accounts.get(first)))

    def all_off(self, flag: Flag) -> bool:
        """Whether every record has the flag off, so that turning it off would change nothing."""
        records = [*self.own.values(), *self.accounts.values(), *self.relatives.values()]
        return all(chosen(record, flag) is False for record in records)

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

    def ask(self, verified: VerifiedAddresses) -> dict[Flag, bool]:
        """The same, by asking for those addresses where there are any."""
        uids = self.doubtful()
        return self.flags(verified(uids) if uids else {})

    def _flag(self, flag: Flag, verified: Mapping[str, str]) -> bool:
        if _is_off(self.own, flag):
            return False
        if _is_on(self.own, flag):
            counted = {
                uid: it for uid, it in self.accounts.items() if has_verified(verified, uid, it)
            }
            return not _is_off(counted, flag)
        return not _is_off({**self.accounts, **self.relatives}, flag)


def _record_id(account: Mapping[str, Any]) -> str:
    return guest_uid(address_hash(account_address(account) or ""))


def _is_off(records: Records, flag: Flag) -> bool:
    return any(chosen(record, flag) is False for record in records.values())


def _is_on(records: Records, flag: Flag) -> bool:
    return any(chosen(record, flag) is True for record in records.values())
