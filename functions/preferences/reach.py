"""Addresses that accept no mail (design 3.61), and the reasons for which a guest gets no recap.

An address that hard-bounces is skipped for a year: mail services count the bounces of a sender, and
further mails would not reach the guest.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from functions.wall.fields import time

FIELD: Final = "unreachableUntil"
"""The field of the user record with the end of the pause."""

OTHERS: Final = "unreachable"
"""The field of a mailbox's record with the records of its other addresses that are in a pause: a
map from user id to true."""

UNREACHABLE_FOR: Final = timedelta(days=365)
"""Pause after a hard bounce; by then the address may have a new owner."""


class SkipReason(StrEnum):
    """Reasons why a guest gets no recap."""

    OPTED_OUT = "opted-out"
    UNREACHABLE = "unreachable"


def is_unreachable(record: Mapping[str, Any] | None, now: datetime) -> bool:
    """Whether mails to the address of this `record` pause."""
    until = time((record or {}).get(FIELD))
    return until is not None and now < until
