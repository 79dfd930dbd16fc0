"""Reads of guests: their approved photos, and the user records that decide who gets a recap."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from functions.firestore.model import Document, Documents, Query
from functions.ports import Accounts, ParallelMap
from functions.preferences.preferences import (
    AddressRecords,
    SkipReason,
    account_ids,
    address_record_id,
    is_unreachable,
    opted_out_of_recap,
)
from functions.preferences.user_store import FIELDS as RECORD_FIELDS
from functions.recap.audience.guests import Guest
from functions.recap.audience.photos import FIELDS
from functions.wall.wall_event import Photo

_RECORDS_PER_READ: Final = 500
PAGES_AT_ONCE: Final = 8

_ADDRESSES_PER_QUERY: Final = 30
"""Firestore accepts at most 30 values for `in`."""


@dataclass(frozen=True, slots=True)
class GuestStore:
    """Reads the approved photos and the user records of guests, pages of them in parallel."""

    documents: Documents
    in_parallel: ParallelMap

    def approved_photos(self, event_id: str) -> Iterator[Photo]:
        """Yield all approved photos of the event."""
        approved = Query(
            collection=f"events/{event_id}/photos",
            where=[("status", "==", "approved")],
            select=FIELDS,
        )
        for photo in self.documents.find_all(approved):
            yield Photo.read(photo.id, photo.fields, created=photo.created, updated=photo.written)

    def records(self, uids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return the existing records `users/{uid}` by ID."""

        def read(page: Sequence[str]) -> Sequence[Document | None]:
            return self.documents.get_all([f"users/{uid}" for uid in page], fields=RECORD_FIELDS)

        return self._by_id(read, uids, _RECORDS_PER_READ)

    def records_with(self, emails: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return all user records with an `email` that equals an entry of `emails`, by ID."""
        fields = ["email", "emailPreferences"]

        def read(page: Sequence[str]) -> Sequence[Document | None]:
            where = [("email", "in", page)]
            return self.documents.find(Query(collection="users", where=where, select=fields))

        return self._by_id(read, emails, _ADDRESSES_PER_QUERY)

    def _by_id(
        self,
        read: Callable[[Sequence[str]], Sequence[Document | None]],
        keys: Iterable[str],
        at_a_time: int,
    ) -> dict[str, Mapping[str, Any]]:
        everything = list(keys)
        pages = [everything[n : n + at_a_time] for n in range(0, len(everything), at_a_time)]
        found = itertools.chain.from_iterable(self.in_parallel(read, pages))
        return {user.id: user.fields for user in found if user}


def skip_reasons_and_accounts(
    store: GuestStore, guests: Sequence[Guest], now: datetime, of_users: Accounts
) -> tuple[Mapping[str, SkipReason], Mapping[str, str]]:
    """Read the records of the addresses of guests, and of the accounts with these addresses.

    Returns:
        The reasons why guests get no recap, and the account with each guest's address. If several
        accounts have an address, the account with the lowest ID. Both are by guest ID.
    """
    own = store.records({uid for guest in guests for uid in (guest.uid, guest.earlier_uid)})
    accounts = store.records_with({email for guest in guests for email in guest.emails})
    listed = {uid for record in own.values() for uid in account_ids(record)}
    accounts |= store.records(listed - accounts.keys())
    by_address: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for uid, account in accounts.items():
        if address := address_record_id(account):
            by_address[address][uid] = account
    records = {
        guest.id: AddressRecords(
            id=guest.uid,
            own=own.get(guest.uid, {}),
            earlier=own.get(guest.earlier_uid, {}) if guest.earlier_uid != guest.uid else {},
            accounts=by_address.get(guest.uid, {}),
        )
        for guest in guests
    }
    accounts_to_verify = {uid for each in records.values() for uid in each.accounts_to_verify()}
    addresses = of_users.verified_addresses(accounts_to_verify) if accounts_to_verify else {}
    reasons = {
        guest.id: SkipReason.UNREACHABLE
        for guest in guests
        if is_unreachable(own.get(guest.uid), now)
    }
    # If a guest has both reasons, the guest's own choice wins.
    reasons |= {
        guest: SkipReason.OPTED_OUT
        for guest, each in records.items()
        if opted_out_of_recap(each.flags(addresses))
    }
    return reasons, {guest: min(each.accounts) for guest, each in records.items() if each.accounts}
