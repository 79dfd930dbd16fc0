"""Why an address gets no recap, from its user records (design 3.61).

An address that hard-bounces is skipped for a year: mail services count the bounces of a sender, and
further mails would not reach the guest.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from functions.preferences.preferences import opted_out_of_recap
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


def skip_reason(record: Mapping[str, Any], now: datetime) -> SkipReason | None:
    """Why the user of `record` gets no recap; None where the user gets one."""
    if opted_out_of_recap(record):
        return SkipReason.OPTED_OUT
    until = time(record.get(FIELD))
    return SkipReason.UNREACHABLE if until and now < until else None
