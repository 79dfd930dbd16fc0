"""Whether mails are wanted at an address and reach it, as its user records tell (design 3).

An address that has sent a mail back for good is left out for a while: mail services count how many
of a sender's mails come back, and no guest is helped by more of them.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from functions.preferences.preferences import opted_out_of_recap

FIELD: Final = "unreachableUntil"
"""Of the record: when the address may be tried again."""

KEPT: Final = timedelta(days=365)
"""How long an address is left out; by then it may be somebody's again."""


def unreachable(record: Mapping[str, Any], now: datetime) -> bool:
    """Whether no mail is to be tried."""
    until = record.get(FIELD)
    return isinstance(until, datetime) and until.tzinfo is not None and now < until


class LeftOut(StrEnum):
    """Why somebody gets no recap: by choice, or because no mail arrives."""

    OPTED_OUT = "opted-out"
    UNREACHABLE = "unreachable"


def left_out_of_recap(record: Mapping[str, Any], now: datetime) -> LeftOut | None:
    """Why the user of `record` gets no recap; None where they get it."""
    if opted_out_of_recap(record):
        return LeftOut.OPTED_OUT
    return LeftOut.UNREACHABLE if unreachable(record, now) else None
