"""Who of an event's guests is to have the mail (spec 4.1, rules 2 and 3)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from functions.preferences.accounts import noted, record_to_note_in
from functions.preferences.preferences import email_address
from functions.preferences.reach import LeftOut
from functions.recap.guests import Guest
from functions.recap.ports import Guests

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

        def look_at_account(guest: Guest, uid: str, record: Mapping[str, Any]) -> None:
            look(guest, record)
            # Several accounts with one address are rare; the choice is at least always the same.
            accounts[guest.id] = min(uid, accounts.get(guest.id, uid))

        named: dict[str, Guest] = {}
        for uid, record in records.records(by_record):
            look(by_record[uid], record)
            named |= dict.fromkeys(noted(record), by_record[uid])
        for uid, record in records.records(named) if named else ():
            # The account may have another address by now.
            if record_to_note_in(record) in named[uid].guest_ids:
                look_at_account(named[uid], uid, record)
        for uid, record in records.records_with(by_email):
            look_at_account(by_email[email_address(record)], uid, record)
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


def whose_turn(
    guests: Iterable[Guest], sent_at: Mapping[str, datetime], *, only_new: bool
) -> Sequence[Guest]:
    """Guests who have had no recap of the event; where every guest has, all, the last turn first.

    Args:
        guests: In any order; among equals it is kept.
        sent_at: When a guest last had a turn, by the guest's id.
        only_new: Whether nobody is to get a second recap.
    """
    waiting = sorted(guests, key=lambda guest: sent_at.get(guest.id, _NEVER))
    new = [guest for guest in waiting if guest.id not in sent_at]
    return new if new or only_new else waiting
