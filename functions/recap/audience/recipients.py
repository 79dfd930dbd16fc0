"""The guests of an event who get the mail (spec 4.1, rules 2 and 3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from functions.preferences.accounts import account_ids, address_record_id
from functions.preferences.preferences import email_address
from functions.preferences.reach import SkipReason, skip_reason
from functions.recap.audience.guest_store import GuestStore
from functions.recap.audience.guests import Guest
from functions.wall.address import guest_uid

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def skip_reasons(
    store: GuestStore,
    guests: Iterable[Guest],
    now: datetime,
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
        reason = skip_reason(record, now)
        # Where several records have a reason, the guest's own choice wins.
        own = reason is SkipReason.OPTED_OUT
        ids = [guest.id for guest in concerned if own or guest.id not in reasons]
        reasons.update(dict.fromkeys(ids, reason) if reason else {})

    named: dict[str, list[Guest]] = defaultdict(list)
    for uid, record in store.records(by_record):
        bounced = skip_reason(record, now) is SkipReason.UNREACHABLE
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
