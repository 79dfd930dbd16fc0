"""Accounts whose stored address no query by a guest's address finds (design 3).

Firestore compares texts letter by letter, and an app may store an address as its owner typed it.
The record of the address itself, `users/guest-…`, then names the account; a recap reads that record
of every guest anyway.
"""

from collections.abc import Mapping
from typing import Any, Final

from functions.mail.address import deliverable
from functions.preferences.preferences import email_address
from functions.wall.address import address_hash, guest_uid

FIELD: Final = "accounts"
"""Of the record of an address: a map of user ids, each with the value true."""


def record_to_note_in(record: Mapping[str, Any] | None) -> str | None:
    """Id of the record that has to name the account of `record`; None where a query finds it."""
    email = email_address(record)
    address = deliverable(email.strip())
    if address is None or address.casefold() == email:
        return None
    return guest_uid(address_hash(address.casefold()))


def noted(record: Mapping[str, Any]) -> list[str]:
    """User ids of the accounts that the record of an address names."""
    accounts = record.get(FIELD)
    return sorted(accounts) if isinstance(accounts, Mapping) else []
