"""Accounts that a query by a guest's address does not find (design 3.54).

Firestore compares texts exactly, and an app may store an address as its owner typed it. The record
of the mailbox, `users/guest-…`, then lists the account's id; a recap reads that record
for every guest anyway.
"""

from collections.abc import Mapping
from typing import Any, Final

from functions.mail.address import deliverable
from functions.preferences.preferences import email_address
from functions.wall.address import address_hash, guest_uid, mailbox

FIELD: Final = "accounts"
"""The field of an address's record with the accounts: a map from user id to true."""


def address_record_id(record: Mapping[str, Any] | None) -> str | None:
    """Id of the address record that must list this account; None where a query finds it."""
    email = email_address(record)
    address = deliverable(email.strip())
    if address is None or mailbox(address) == email:
        return None
    return guest_uid(address_hash(mailbox(address)))


def account_ids(record: Mapping[str, Any]) -> list[str]:
    """Ids of the accounts that the record of an address lists."""
    accounts = record.get(FIELD)
    return sorted(accounts) if isinstance(accounts, Mapping) else []
