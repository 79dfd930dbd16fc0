"""What is known of the mails of one recap, in bytes: 17 for each mail that something is known of.

A guest by the hash that the ledger has, and the facts. 5,000 of them are 85 KB of the one document
that a recap has for them, so that a request with news of any of them writes that one.
"""

import struct
from collections.abc import Mapping
from typing import Final

from functions.mail.fate import Fate

_ENTRY: Final = struct.Struct(">16sB")


def read(entries: bytes) -> dict[str, Fate]:
    """What is known, by the ids of guests."""
    return {guest.hex(): Fate(facts) for guest, facts in _ENTRY.iter_unpack(entries)}


def written(fates: Mapping[str, Fate]) -> bytes:
    """The same in bytes, in the order of the guests."""
    return b"".join(
        _ENTRY.pack(bytes.fromhex(guest), int(facts)) for guest, facts in sorted(fates.items())
    )
