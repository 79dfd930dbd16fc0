"""The guests of an event who get the mail (spec 4.1, rules 2 and 3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from functions.preferences.accounts import VerifiedAddresses, account_ids, address_record_id
from functions.preferences.address_records import AddressRecords
from functions.preferences.preferences import opted_out_of_recap
from functions.preferences.reach import SkipReason, is_unreachable
from functions.recap.audience.guest_store import GuestStore
from functions.recap.audience.guests import Guest
from functions.wall.address import guest_uid

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


def in_turn(
    guests: Iterable[Guest], sent_at: Mapping[str, datetime], *, only_new: bool
) -> Sequence[Guest]:
    """The guests to mail, first those without a recap of the event, then the oldest recap first.

    The order of `guests` is kept among equals. `sent_at` is the time of the last recap, by id.
    """
    return sorted(
        (guest for guest in guests if not (only_new and guest.id in sent_at)),
        key=lambda guest: sent_at.get(guest.id, _NEVER),
    )
