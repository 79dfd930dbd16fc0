"""The recap mails of a tenant in the last 24 hours: by address, and in all.

A mail counts from the moment that any event of the tenant plans it; a recap that sent nothing is
removed again before its lock is free. A tenant has one list of 16-byte entries: recap, time, guest.
The list contains no address, and no entry older than 24 hours.
"""

import hashlib
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from functions.documents.document import Version

PERIOD: Final = timedelta(hours=24)

MAX_MAILS_PER_DAY: Final = 60_000
"""The capacity of one document; a larger `RECAP_MAILS_PER_DAY` has no effect."""

_ENTRY: Final = struct.Struct(">II8s")
_GUEST_DIGITS: Final = 16
"""Digits of a guest's id; two of a million guests share them once in 10,000,000 cases."""


@dataclass(frozen=True, slots=True)
class Mailed:
    """The record of a tenant's recap mails.

    `version` is None before the tenant's first record.
    """

    entries: bytes
    version: Version | None


@dataclass(frozen=True, slots=True)
class Counted:
    """Mails that all other recaps planned in the last 24 hours: by guest, and in all."""

    by_guest: Mapping[bytes, int]
    mails: int

    def of(self, guest_id: str) -> int:
        """Number of mails to the guest."""
        return self.by_guest.get(_guest(guest_id), 0)


def tenant_key(tenant_id: str) -> str:
    """The tenant's id as a document's: a claim can hold texts that no document can be called."""
    return hashlib.sha256(tenant_id.encode()).hexdigest()[:32]


def counted(entries: bytes, recap_id: str, now: datetime) -> Counted:
    """Count the entries of other recaps than `recap_id`."""
    found = Counter(guest for _, _, guest in _others(entries, recap_id, now))
    return Counted(found, found.total())


def without(entries: bytes, recap_id: str, now: datetime) -> bytes:
    """The entries of the last 24 hours without those of the recap."""
    return b"".join(_ENTRY.pack(*entry) for entry in _others(entries, recap_id, now))


def without_guest(entries: bytes, guest_id: str) -> bytes:
    """The entries but for those of the guest, who is to be forgotten."""
    own = _guest(guest_id)
    return b"".join(
        _ENTRY.pack(recap, at, guest)
        for recap, at, guest in _ENTRY.iter_unpack(entries)
        if guest != own
    )


def with_recap(entries: bytes, recap_id: str, guest_ids: Iterable[str], now: datetime) -> bytes:
    """The entries, with those of the recap replaced by entries for these guests."""
    recap, at = _recap(recap_id), int(now.timestamp())
    added = (_ENTRY.pack(recap, at, _guest(guest_id)) for guest_id in guest_ids)
    return without(entries, recap_id, now) + b"".join(added)


def _others(entries: bytes, recap_id: str, now: datetime) -> Iterator[tuple[int, int, bytes]]:
    since, own = int((now - PERIOD).timestamp()), _recap(recap_id)
    for recap, at, guest in _ENTRY.iter_unpack(entries):
        if at > since and recap != own:
            yield recap, at, guest


def _recap(recap_id: str) -> int:
    return zlib.crc32(recap_id.encode())


def _guest(guest_id: str) -> bytes:
    return bytes.fromhex(guest_id[:_GUEST_DIGITS])
