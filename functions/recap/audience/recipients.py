"""The guests of an event who get the mail (spec 4.1, rules 2 and 3)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from functions.preferences.accounts import account_ids, address_record_id
from functions.preferences.preferences import email_address
from functions.preferences.reach import SkipReason
from functions.recap.audience.guest_store import GuestStore
from functions.recap.audience.guests import Guest

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class UserRecords:
    """The user records of the guests, by guest id.

    `uids` has the user id for a guest's links; `skip_reasons` has the guests who get no recap.
    """

    uids: Mapping[str, str]
    skip_reasons: Mapping[str, SkipReason]

    @classmethod
    def read(
        cls,
        records: GuestStore,
        guests: Sequence[Guest],
        skip_reason: Callable[[Mapping[str, Any]], SkipReason | None],
    ) -> "UserRecords":
        """Look up all guests: under the guest's own record ids, and under those of accounts."""
        by_record = {uid: guest for guest in guests for uid in guest.guest_ids}
        by_email = {
            spelling: guest for guest in guests for spelling in (guest.address, *guest.spellings)
        }
        uids = {guest.id: guest.guest_id for guest in guests}
        accounts: dict[str, str] = {}
        reasons: dict[str, SkipReason] = {}

        def look(guest: Guest, record: Mapping[str, Any]) -> None:
            reason = skip_reason(record)
            # Where several records have a reason, the guest's own choice wins.
            if reason and reasons.get(guest.id) is not SkipReason.OPTED_OUT:
                reasons[guest.id] = reason

        def look_at_account(guest: Guest, uid: str, record: Mapping[str, Any]) -> None:
            look(guest, record)
            # Several accounts with one address are rare; the least id makes the choice stable.
            accounts[guest.id] = min(uid, accounts.get(guest.id, uid))

        named: dict[str, Guest] = {}
        for uid, record in records.records(by_record):
            look(by_record[uid], record)
            named |= dict.fromkeys(account_ids(record), by_record[uid])
        for uid, record in records.records(named) if named else ():
            # The account may have changed its address since.
            if address_record_id(record) in named[uid].guest_ids:
                look_at_account(named[uid], uid, record)
        for uid, record in records.records_with(by_email):
            look_at_account(by_email[email_address(record)], uid, record)
        return cls(uids | accounts, reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Numbers of guests who get no recap, by reason (spec 4.1).

    Attributes:
        invalid_address: The address is not valid.
        opted_out: `recap` or `lifecycle` is off.
        unreachable: The address hard-bounced.
        had_enough: The address had the tenant's maximum of recaps in 24 hours.
    """

    invalid_address: int = 0
    opted_out: int = 0
    unreachable: int = 0
    had_enough: int = 0

    @classmethod
    def of(cls, reasons: Iterable[SkipReason]) -> Self:
        """Count these reasons."""
        counted = Counter(reasons)
        return cls(
            opted_out=counted[SkipReason.OPTED_OUT], unreachable=counted[SkipReason.UNREACHABLE]
        )

    @property
    def total(self) -> int:
        """The sum over all reasons."""
        return sum(astuple(self))


def in_turn(
    guests: Iterable[Guest], sent_at: Mapping[str, datetime], *, only_new: bool
) -> Sequence[Guest]:
    """The guests to mail, first those without a recap of the event, then the oldest recap first.

    Args:
        guests: In any order, which is kept among equals.
        sent_at: Time of the last recap, by guest id.
        only_new: Whether no guest may get a second recap.
    """
    return sorted(
        (guest for guest in guests if not (only_new and guest.id in sent_at)),
        key=lambda guest: sent_at.get(guest.id, _NEVER),
    )
