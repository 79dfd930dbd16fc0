"""Whom a tenant has mailed in the last 24 hours: how often an address, and how many mails in all.

What any event of the tenant plans to send counts from the moment of the plan, whatever comes of it;
a recap that has sent nothing is taken out again. One day of a tenant is one list of entries, of 16
bytes each: the recap, the time, the guest. No address is in it.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

PERIOD: Final = timedelta(hours=24)

MAILS_A_DAY_AT_MOST: Final = 60_000
"""What one document has room for, whatever the parameter says."""

_ENTRY: Final = struct.Struct(">II8s")
_GUEST_DIGITS: Final = 16
"""Of a guest's id: that two of a million guests share them is as likely as 1 in 10,000,000."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What others than one recap have planned in the last 24 hours: by guest, and in all."""

    by_guest: Mapping[bytes, int]
    mails: int

    def of(self, guest_id: str) -> int:
        """How many of them the guest was to get."""
        return self.by_guest.get(_guest(guest_id), 0)


def days(now: datetime) -> tuple[date, date]:
    """The days that the last 24 hours are of: yesterday and today, in UTC."""
    today = now.astimezone(UTC).date()
    return today - timedelta(days=1), today


def counted(entries: Iterable[bytes], recap_id: str, now: datetime) -> Counted:
    """Count the entries of those days but for those of the recap itself."""
    since, own = int((now - PERIOD).timestamp()), _recap(recap_id)
    found = Counter(
        guest
        for one in entries
        for recap, at, guest in _ENTRY.iter_unpack(one)
        if at > since and recap != own
    )
    return Counted(found, found.total())


def without(entries: bytes, recap_id: str) -> bytes:
    """The entries but for those of the recap."""
    own = _recap(recap_id)
    return b"".join(
        _ENTRY.pack(recap, at, guest)
        for recap, at, guest in _ENTRY.iter_unpack(entries)
        if recap != own
    )


def with_recap(entries: bytes, recap_id: str, guest_ids: Iterable[str], now: datetime) -> bytes:
    """The entries, with the recap's for these guests in place of those that it had."""
    recap, at = _recap(recap_id), int(now.timestamp())
    added = (_ENTRY.pack(recap, at, _guest(guest_id)) for guest_id in guest_ids)
    return without(entries, recap_id) + b"".join(added)


def _recap(recap_id: str) -> int:
    return zlib.crc32(recap_id.encode())


def _guest(guest_id: str) -> bytes:
    return bytes.fromhex(guest_id[:_GUEST_DIGITS])
