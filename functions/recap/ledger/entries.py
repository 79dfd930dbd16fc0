"""The delivery statuses of one recap as bytes: 17 for each mail with a status.

An entry is the guest's hash, as in the ledger, and the status. 5,000 entries take 85 KB of one
document, so that a request writes one document for any number of mails of a recap. As a map they
would take 205 KB, and 10,000 entries in indexes.
"""

import struct
from collections.abc import Mapping
from typing import Final

from functions.mail.tracking import DeliveryStatus

_ENTRY: Final = struct.Struct(">16sB")


def read(entries: bytes) -> dict[str, DeliveryStatus]:
    """The statuses by guest id."""
    return {guest.hex(): DeliveryStatus(facts) for guest, facts in _ENTRY.iter_unpack(entries)}


def written(statuses: Mapping[str, DeliveryStatus]) -> bytes:
    """The entries for `statuses`, ordered by guest id."""
    return b"".join(
        _ENTRY.pack(bytes.fromhex(guest), int(facts)) for guest, facts in sorted(statuses.items())
    )
