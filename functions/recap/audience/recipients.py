"""The guests of an event who get the mail (spec 4.1, rules 2 and 3)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from functions.preferences.accounts import account_ids, address_record_id
from functions.preferences.preferences import email_address
from functions.preferences.reach import SkipReason
from functions.recap.audience.guest_store import GuestStore
from functions.recap.audience.guests import Guest
from functions.wall.address import guest_uid

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def skip_reasons(
    store: GuestStore,
    guests: Iterable[Guest],
    reason_of: Callable[[Mapping[str, Any]], SkipReason | None],
) -> Mapping[str, SkipReason]:
    """The guests who get no recap, by id: by the records of their addresses or of their accounts.

    One record with an opt-out is enough. An address that bounces says nothing
    of another address of its mailbox.
    """
    by_record: dict[str, list[Guest]] = defaultdict(list)
    by_email: dict[str, list[Guest]] = defaultdict(list)
    for guest in guests:
        _add(guest, guest.emails, by_email)
        _add(guest, guest.uids, by_record)
    reasons: dict[str, SkipReason] = {}

    def look(concerned: Iterable[Guest], record: Mapping[str, Any]) -> None:
        reason = reason_of(record)
        # Where several records have a reason, the guest's own choice wins.
        own = reason is SkipReason.OPTED_OUT
        ids = [guest.id for guest in concerned if own or guest.id not in reasons]
        reasons.update(dict.fromkeys(ids, reason) if reason else {})

    named: dict[str, list[Guest]] = defaultdict(list)
    for uid, record in store.records(by_record):
        bounced = reason_of(record) is SkipReason.UNREACHABLE
        concerned = by_record[uid]
        look([guest for guest in concerned if not bounced or uid == guest_uid(guest.id)], record)
        for account in account_ids(record):
            named[account] += by_record[uid]
    for uid, record in store.records(named) if named else ():
        # The account may have changed its address since.
        listed_in = address_record_id(record)
        look([guest for guest in named[uid] if guest.uid == listed_in], record)
    for _, record in store.records_with(by_email):
        look(by_email[email_address(record)], record)
    return reasons


def _add(guest: Guest, keys: Iterable[str], to: dict[str, list[Guest]]) -> None:
    for key in keys:
        to[key].append(guest)


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
