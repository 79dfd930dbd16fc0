"""The addresses of accounts, and the list of accounts in the record of a mailbox (design 3.54).

Firestore compares texts exactly, an app may store an address as its owner typed it, and a link in a
mail holds no address. So the record of the mailbox, `users/guest-…`, lists its accounts.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

from functions.mail.address import deliverable
from functions.preferences.preferences import email_address
from functions.wall.address import address_hash, guest_uid, mailbox

FIELD: Final = "accounts"
"""The field of a mailbox's record with the accounts: a map from user id to true."""

VerifiedAddresses: TypeAlias = Callable[[Collection[str]], Mapping[str, str]]
"""The addresses that Firebase Authentication has verified, by user id, of some users."""


def account_address(record: Mapping[str, Any] | None) -> str | None:
    """The address of an account in the form of `Guest.id`; None without a valid one."""
    address = deliverable(email_address(record).strip())
    return address.casefold() if address else None


def address_record_id(record: Mapping[str, Any] | None) -> str | None:
    """Id of the mailbox's record that must list this account; None without a valid address."""
    address = account_address(record)
    return guest_uid(address_hash(mailbox(address))) if address else None


def account_ids(record: Mapping[str, Any] | None) -> list[str]:
    """Ids of the accounts that the record of a mailbox lists."""
    accounts = (record or {}).get(FIELD)
    return sorted(accounts) if isinstance(accounts, Mapping) else []


def has_verified(verified: Mapping[str, str], uid: str, record: Mapping[str, Any]) -> bool:
    """Whether `verified` holds the account's address for that user."""
    return account_address({"email": verified.get(uid, "")}) == account_address(record)
