"""Approved photos and user records in Firestore: who gets the mail (spec 4.1, rules 2 and 3)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from functions.firestore.model import Documents, Query
from functions.parallel import InParallel
from functions.preferences.address_records import AddressRecords
from functions.preferences.preferences import (
    ACCOUNTS,
    SkipReason,
    VerifiedAddresses,
    account_ids,
    address_record_id,
    is_unreachable,
    opted_out_of_recap,
)
from functions.recap.audience.guests import Guest
from functions.recap.audience.photos import FIELDS
from functions.wall.address import guest_uid
from functions.wall.photo import Photo

_RECORDS_PER_READ: Final = 500
PAGES_AT_ONCE: Final = 8

_ADDRESSES_PER_QUERY: Final = 30
"""Firestore's limit for `in`."""


@dataclass(frozen=True, slots=True)
class GuestStore:
    """The approved photos and the user records of guests; pages are read `in_parallel`."""

    documents: Documents
    in_parallel: InParallel

    def approved_photos(self, event_id: str) -> Iterator[Photo]:
        """All approved photos of the event."""
        approved = Query(
            collection=f"events/{event_id}/photos",
            where=[("status", "==", "approved")],
            select=FIELDS,
        )
        for photo in self.documents.find_all(approved):
            yield Photo.read(photo.id, photo.fields, created=photo.created, updated=photo.written)

    def records(self, uids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The existing records `users/{uid}`, with their ids."""
        fields = ["emailPreferences", "unreachableUntil", ACCOUNTS, "email"]

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            found = self.documents.get_all([f"users/{uid}" for uid in page], fields=fields)
            return [(user.id, user.fields) for user in found if user]

        return self._pages(read, uids, _RECORDS_PER_READ)

    def records_with(self, emails: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """All user records whose `email` equals an entry of `emails` exactly, with their ids."""

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            users = Query(
                collection="users",
                where=[("email", "in", page)],
                select=["email", "emailPreferences"],
            )
            return [(user.id, user.fields) for user in self.documents.find(users)]

        return self._pages(read, emails, _ADDRESSES_PER_QUERY)

    def _pages(
        self,
        read: Callable[[Sequence[str]], list[tuple[str, Mapping[str, Any]]]],
        keys: Iterable[str],
        at_a_time: int,
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        everything = list(keys)
        pages = [everything[n : n + at_a_time] for n in range(0, len(everything), at_a_time)]
        for page in self.in_parallel(read, pages):
            yield from page


_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the user records say of guests, by guest id.

    Attributes:
        skip_reasons: The guests who get no recap.
        accounts: The account that has the guest's address, the first by id of several.
    """

    skip_reasons: Mapping[str, SkipReason]
    accounts: Mapping[str, str]


def standing(
    store: GuestStore, guests: Sequence[Guest], now: datetime, verified: VerifiedAddresses
) -> Standing:
    """Read the records of the addresses of guests, and of the accounts of their mailboxes."""
    own = dict(store.records({uid for guest in guests for uid in guest.uids}))
    accounts = dict(store.records_with({email for guest in guests for email in guest.emails}))
    boxes = {guest.uid for guest in guests}
    listed = {uid for box in boxes for uid in account_ids(own.get(box))}
    accounts |= store.records(listed - accounts.keys())
    of_box: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for uid, record in accounts.items():
        if box := address_record_id(record):
            of_box[box][uid] = record
    records = {
        guest.id: AddressRecords.of(
            guest.uid,
            guest_uid(guest.id),
            {uid: own[uid] for uid in guest.uids if uid in own},
            of_box.get(guest.uid, {}),
        )
        for guest in guests
    }
    doubtful = {uid for each in records.values() for uid in each.doubtful()}
    addresses = verified(doubtful) if doubtful else {}
    reasons = {
        guest.id: SkipReason.UNREACHABLE
        for guest in guests
        if is_unreachable(own.get(guest_uid(guest.id)), now)
    }
    # Where a guest has several reasons, the guest's own choice wins.
    reasons |= {
        guest: SkipReason.OPTED_OUT
        for guest, each in records.items()
        if opted_out_of_recap(each.flags(addresses))
    }
    named = {guest: min(each.accounts) for guest, each in records.items() if each.accounts}
    return Standing(reasons, named)


def least_recently_mailed_first(
    guests: Iterable[Guest], sent_at: Mapping[str, datetime], *, only_new: bool
) -> Sequence[Guest]:
    """The guests to mail, first those without a recap of the event, then the oldest recap first.

    The order of `guests` is kept among equals. `sent_at` is the time of the last recap, by id.
    """
    return sorted(
        (guest for guest in guests if not (only_new and guest.id in sent_at)),
        key=lambda guest: sent_at.get(guest.id, _NEVER),
    )
