"""Who of an event's guests is to have the mail (spec 4.1, rules 2 and 3)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from functions.preferences.reach import LeftOut
from functions.recap.guests import Guest
from functions.recap.ports import Guests
from functions.wall.fields import text

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class UserRecords:
    """What the user records say of the guests, by the guests' ids.

    `uids` has the user id that a guest's links are for, `left_out` those who get no
    recap, and why.
    """

    uids: Mapping[str, str]
    left_out: Mapping[str, LeftOut]

    @classmethod
    def read(
        cls,
        records: Guests,
        guests: Sequence[Guest],
        left_out: Callable[[Mapping[str, Any]], LeftOut | None],
    ) -> "UserRecords":
        """Look everybody up: under the id of a guest, and under that of any account."""
        by_record = {uid: guest for guest in guests for uid in guest.guest_ids}
        by_email = {one: guest for guest in guests for one in (guest.address, *guest.spellings)}
        uids = {guest.id: guest.guest_id for guest in guests}
        accounts: dict[str, str] = {}
        reasons: dict[str, LeftOut] = {}

        def look(guest: Guest, record: Mapping[str, Any]) -> None:
            reason = left_out(record)
            # Of several records with their reasons, what the guest has chosen comes first.
            if reason and reasons.get(guest.id) is not LeftOut.OPTED_OUT:
                reasons[guest.id] = reason

        for uid, record in records.records(by_record):
            look(by_record[uid], record)
        for uid, record in records.records_with(by_email):
            guest = by_email[text(record.get("email")) or ""]
            look(guest, record)
            # Several accounts with one address are rare; the choice is at least always the same.
            accounts[guest.id] = min(uid, accounts.get(guest.id, uid))
        return cls(uids | accounts, reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Guests who are left out of a recap, by the reason (spec 4.1).

    Attributes:
        invalid_address: Addresses that are none.
        opted_out: Who has `recap` or `lifecycle` off.
        unreachable: Whose address has sent a mail back for good.
        had_enough: Who has had as many recaps of the tenant as an address gets in 24 hours.
    """

    invalid_address: int = 0
    opted_out: int = 0
    unreachable: int = 0
    had_enough: int = 0

    @classmethod
    def of(cls, left_out: Iterable[LeftOut]) -> Self:
        """Those who are left out for these reasons."""
        counted = Counter(left_out)
        return cls(opted_out=counted[LeftOut.OPTED_OUT], unreachable=counted[LeftOut.UNREACHABLE])

    @property
    def total(self) -> int:
        """All of them."""
        return sum(astuple(self))


@dataclass(frozen=True, slots=True)
class Selection:
    """Whom a recap goes to, and how many of the others have never had one of this event."""

    chosen: Sequence[Guest]
    left: int


def select(guests: Iterable[Guest], sent_at: Mapping[str, datetime], at_most: int) -> Selection:
    """Choose `at_most` of `guests`: those never sent a recap first, then the longest ago.

    Args:
        guests: In any order; among equals it is kept.
        sent_at: When a guest was last sent a recap of this event, by the guest's id.
        at_most: The limit of a call.
    """
    waiting = sorted(guests, key=lambda guest: sent_at.get(guest.id, _NEVER))
    left = sum(guest.id not in sent_at for guest in waiting[at_most:])
    return Selection(waiting[:at_most], left)
