"""Email preferences: the emails that a user wants (spec 2.3), as stored in the user record.

A flag is on if it is missing or has one of the values that mean on, and off otherwise. A user
without a record gets every email (design 3.53). An address that hard-bounces is skipped for a year
(design 3.61), because email providers count the bounces of a sender, and further emails would not
reach the guest.

Firestore compares texts exactly, an app may store an address as its owner typed it, and a link in
an email holds no address. So the record of the address, `users/guest-…`, lists its accounts, and
these records decide together which emails an address gets (design 3.54):

- Off in the record of the address always holds.
- On in the record of the address, a choice by a link, takes precedence over off in an account,
  unless Firebase Authentication has verified the account's address.
- Without a choice in the record of the address, off in any account with the address holds.

Earlier releases kept one record for all addresses of a mailbox (`ann+party@…`, dots at Gmail). Off
in such a record still holds for these addresses until they choose otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self, TypeAlias

from functions.call.arguments import refuse_unknown
from functions.call.errors import refuse
from functions.email_address import mailbox_record_id, record_id, trimmed
from functions.firestore.model import as_time
from functions.ports import Accounts

PREFERENCES: Final = "emailPreferences"
"""The field of the user record with the flags."""

CHOSEN_AT: Final = "chosenAt"
"""The field with the time at which the service last wrote flags, for a link or a complaint."""


class Flag(StrEnum):
    """The kinds of email that users can turn off. Transactional email is not one of them."""

    LIFECYCLE = "lifecycle"
    RECAP = "recap"
    MARKETING = "marketing"


TRANSACTIONAL: Final = "transactional"

_ON_TEXTS: Final = ("true", "yes")
"""Texts that count as on, in addition to `true` and 1."""


def stored_choice(record: Mapping[str, Any] | None, flag: Flag) -> bool | None:
    """Return the choice in the user `record`, or None without a choice.

    Apps and scripts write these values. A value that does not mean on counts as off.
    """
    stored = (record or {}).get(PREFERENCES)
    if stored is None:
        return None
    value = stored.get(flag) if isinstance(stored, Mapping) else False
    return None if value is None else value == 1 or value in _ON_TEXTS


def with_choices(record: Mapping[str, Any], choices: Mapping[Flag, bool]) -> dict[str, Any]:
    """Return the flags to write into `record` for `choices`, by name.

    If the stored preferences are not a map, the write replaces them. Then all other flags are
    written as well, because without them they would be on.
    """
    stored = record.get(PREFERENCES)
    is_map = stored is None or isinstance(stored, Mapping)
    others = {} if is_map else dict.fromkeys(Flag, False)
    return {flag.value: value for flag, value in {**others, **choices}.items()}


def to_response(choices: Mapping[Flag, bool]) -> dict[str, bool]:
    """Return the `preferences` of a response (spec 4.2)."""
    return {flag.value: value for flag, value in choices.items()} | {TRANSACTIONAL: True}


def opted_out_of_recap(choices: Mapping[Flag, bool]) -> bool:
    """Return whether recap or lifecycle email is off (spec 4.1, rule 3)."""
    return not (choices[Flag.RECAP] and choices[Flag.LIFECYCLE])


def email_address(record: Mapping[str, Any] | None) -> str:
    """Return the address in the user record, or an empty text without one (spec 4.2)."""
    email = (record or {}).get("email")
    return trimmed(email) if isinstance(email, str) else ""


def read_choices(data: object) -> dict[Flag, bool]:
    """Parse new values of flags such as `{"recap": false, …}`.

    Raises:
        CallError: `invalid-argument` if a flag is unknown or cannot be changed, a value is not a
            boolean, or `data` is empty.
    """
    if not isinstance(data, Mapping) or not data:
        refuse('preferences must be an object such as {"recap": false}.')
    if TRANSACTIONAL in data:
        refuse("Transactional emails can't be turned off. Omit the flag transactional.")
    refuse_unknown(data, *Flag, within="preferences")
    if not all(isinstance(value, bool) for value in data.values()):
        refuse("Every flag must be true or false.")
    return {Flag(name): value for name, value in data.items()}


UNREACHABLE_UNTIL: Final = "unreachableUntil"
"""The field of the user record with the time until which no emails are sent."""

UNREACHABLE_FOR: Final = timedelta(days=365)
"""Pause after a hard bounce. After that time the address may have a new owner."""


class SkipReason(StrEnum):
    """Reasons why a guest gets no recap."""

    OPTED_OUT = "opted-out"
    UNREACHABLE = "unreachable"


def is_unreachable(record: Mapping[str, Any] | None, now: datetime) -> bool:
    """Return whether emails to the address of `record` are paused after a hard bounce."""
    until = as_time((record or {}).get(UNREACHABLE_UNTIL))
    return until is not None and now < until


ACCOUNTS: Final = "accounts"
"""The field of an address's record with its accounts: a map from user ID to true."""

MAX_ACCOUNTS: Final = 20
"""Maximum accounts in a record. Anyone can create accounts with another person's address."""

MAX_READ: Final = 100
"""Maximum accounts to read from a list. Earlier releases listed up to 99."""

CHOSEN_FOR_ADDRESS: Final = "chosenForAddress"
"""The field of an address's record that says which flags were chosen for this address only: a map
from flag to true. A flag that is missing or false was chosen for the whole mailbox, by an earlier
release or by a link of an earlier release."""


def address_record_id(account: Mapping[str, Any] | None) -> str | None:
    """Return the ID of the record that must list this account, or None without an address."""
    email = email_address(account)
    return record_id(email) if "@" in email else None


def earlier_record_id(account: Mapping[str, Any] | None) -> str | None:
    """Return the ID of the record in which earlier releases kept the choices of this account."""
    email = email_address(account)
    return mailbox_record_id(email) if "@" in email else None


def account_ids(record: Mapping[str, Any] | None) -> list[str]:
    """Return the IDs of the accounts that the record of an address lists, at most `MAX_READ`."""
    listed = (record or {}).get(ACCOUNTS)
    return sorted(listed)[:MAX_READ] if isinstance(listed, Mapping) else []


def has_verified(verified: Mapping[str, str], uid: str, account: Mapping[str, Any]) -> bool:
    """Return whether the user's verified address is the address in the account's record.

    `verified` has verified addresses by user ID.
    """
    own = address_record_id(account)
    return own is not None and own == address_record_id({"email": verified.get(uid)})


Records: TypeAlias = Mapping[str, Mapping[str, Any]]
"""User records by ID."""


def accounts_to_list(address: str, accounts: Records, verified: Mapping[str, str]) -> Sequence[str]:
    """Select at most `MAX_ACCOUNTS` accounts for the record `address`, and return their IDs.

    Accounts with recap or lifecycle off come first, so that no opt-out is lost. Among equals,
    verified accounts come first.
    """

    def rank(uid: str) -> tuple[bool, bool, str]:
        account = accounts[uid]
        choices = {flag: stored_choice(account, flag) is not False for flag in Flag}
        return (not opted_out_of_recap(choices), not has_verified(verified, uid, account), uid)

    present = [uid for uid, account in accounts.items() if address_record_id(account) == address]
    return sorted(present, key=rank)[:MAX_ACCOUNTS]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRecords:
    """The records that decide which emails an address gets.

    Attributes:
        id: ID of the record of the address. Empty for a link that is about an account only.
        own: The record of the address, without fields if it does not exist.
        earlier: The record of the mailbox from an earlier release, if that is another record.
        accounts: The accounts with the address.
        is_of_mailbox: Whether it is unknown to which address of the mailbox a link was sent. If so,
            the link turns a flag off for all of these addresses.
    """

    id: str = ""
    own: Mapping[str, Any] = field(default_factory=dict)
    earlier: Mapping[str, Any] = field(default_factory=dict)
    accounts: Records = field(default_factory=dict)
    is_of_mailbox: bool = False

    @property
    def email(self) -> str:
        """The address of the account with the lowest ID, or "" without an account."""
        return email_address(self.accounts.get(min(self.accounts, default="")))

    def is_off(self, flag: Flag) -> bool:
        """Return whether a choice for the address turned the flag off, regardless of accounts."""
        return stored_choice(self.own, flag) is False or self._is_off_earlier(flag)

    def excluding_opted_out(self, flag: Flag) -> Self:
        """Return the records without the accounts that already have the flag off."""
        on = {uid: it for uid, it in self.accounts.items() if stored_choice(it, flag) is not False}
        return replace(self, accounts=on)

    def changed(self, choices: Mapping[Flag, bool]) -> Self:
        """Return the records as they are after `choices` were written to each of them."""
        own = self.own
        if self.id:
            stored = own.get(CHOSEN_FOR_ADDRESS)
            exact = {**stored} if isinstance(stored, Mapping) else {}
            exact |= dict.fromkeys(choices, not self.is_of_mailbox)
            own = {**_with(own, choices), CHOSEN_FOR_ADDRESS: exact}
        accounts = {uid: _with(it, choices) for uid, it in self.accounts.items()}
        return replace(self, own=own, accounts=accounts)

    def accounts_to_verify(self) -> set[str]:
        """Return the IDs of the accounts whose choice counts only if their address is verified."""
        return {
            uid
            for flag in Flag
            if stored_choice(self.own, flag) is True
            for uid, record in self.accounts.items()
            if stored_choice(record, flag) is False
        }

    def flags(self, verified: Mapping[str, str]) -> dict[Flag, bool]:
        """Return for each kind of email whether the address gets it.

        `verified` has the verified addresses of the users in `accounts_to_verify`, by user ID.
        """
        return {flag: self._flag(flag, verified) for flag in Flag}

    def look_up_flags(self, accounts: Accounts) -> dict[Flag, bool]:
        """Return the same as `flags`, and look up verified addresses only if they matter."""
        uids = self.accounts_to_verify()
        return self.flags(accounts.verified_addresses(uids) if uids else {})

    def _flag(self, flag: Flag, verified: Mapping[str, str]) -> bool:
        if self.is_off(flag):
            return False
        is_chosen = stored_choice(self.own, flag) is True
        return not any(
            stored_choice(it, flag) is False and (not is_chosen or has_verified(verified, uid, it))
            for uid, it in self.accounts.items()
        )

    def _is_off_earlier(self, flag: Flag) -> bool:
        is_chosen_since = _is_for_address(self.own, flag) or _is_for_address(self.earlier, flag)
        return stored_choice(self.earlier, flag) is False and not is_chosen_since


def _with(record: Mapping[str, Any], choices: Mapping[Flag, bool]) -> dict[str, Any]:
    stored = record.get(PREFERENCES)
    kept = stored if isinstance(stored, Mapping) else {}
    return {**record, PREFERENCES: {**kept, **with_choices(record, choices)}}


def _is_for_address(record: Mapping[str, Any], flag: Flag) -> bool:
    exact = record.get(CHOSEN_FOR_ADDRESS)
    return isinstance(exact, Mapping) and exact.get(flag) is True
