"""What a mail service can tell of a mail that it has taken, in any order, any number of times.

Facts are collected, never replaced, so that the same facts come to the same whatever their order,
and however often one is told. What the mail counts as follows from all of them: the later in this
row wins, as it can only be learnt after the earlier one.

    nothing yet ◁ dropped ◁ delivered ◁ bounced

A mail may be sent back after it was delivered, by a server further on. A complaint counts beside.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag
from typing import Self


class Fate(IntFlag):
    """What is known of one mail.

    DROPPED       the mail service did not even try
    DELIVERED     the recipient's server has taken it
    BOUNCED       the recipient's server has refused it, or sent it back
    COMPLAINED    the recipient calls it spam
    UNWELCOME     the recipient wants no such mails any more, or has said so to the mail service
    UNREACHABLE   the address takes no mails at all
    """

    DROPPED = 1
    DELIVERED = 2
    BOUNCED = 4
    COMPLAINED = 8
    UNWELCOME = 16
    UNREACHABLE = 32


NOTHING_YET = Fate(0)
"""Of a mail of which nothing has been told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many mails have come to what: each is at most one of the first three."""

    delivered: int = 0
    bounced: int = 0
    dropped: int = 0
    complained: int = 0

    @classmethod
    def of(cls, fates: Iterable[Fate]) -> Self:
        """Count mails of these fates."""
        delivered = bounced = dropped = complained = 0
        for one in fates:
            if Fate.BOUNCED in one:
                bounced += 1
            elif Fate.DELIVERED in one:
                delivered += 1
            elif Fate.DROPPED in one:
                dropped += 1
            complained += Fate.COMPLAINED in one
        return cls(delivered=delivered, bounced=bounced, dropped=dropped, complained=complained)

    def __sub__(self, other: Self) -> "Tally":
        return Tally(
            delivered=self.delivered - other.delivered,
            bounced=self.bounced - other.bounced,
            dropped=self.dropped - other.dropped,
            complained=self.complained - other.complained,
        )
