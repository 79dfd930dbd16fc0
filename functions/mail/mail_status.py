"""What became of a mail: the status that the provider reports after it has accepted the mail.

A provider reports events of a mail in any order and may repeat them. The facts are collected, never
replaced, so the same events give the same status in any order. A mail counts as the last of

    nothing reported ◁ dropped ◁ delivered ◁ bounced

because a later state can only be learnt after an earlier one: a server further on may return a
mail that was delivered. Complaints are counted separately.
"""

import operator
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass
from enum import IntFlag
from typing import Self


class DeliveryStatus(IntFlag):
    """The facts that are known of one mail.

    NONE          nothing is reported yet
    DROPPED       the provider did not try to deliver the mail
    DELIVERED     the recipient's server accepted the mail
    BOUNCED       the recipient's server refused the mail or returned it
    COMPLAINED    the recipient marked the mail as spam
    UNWELCOME     the recipient unsubscribed or complained, now or earlier
    UNREACHABLE   the address accepts no mail at all
    """

    NONE = 0
    DROPPED = 1
    DELIVERED = 2
    BOUNCED = 4
    COMPLAINED = 8
    UNWELCOME = 16
    UNREACHABLE = 32

    @property
    def delivery(self) -> str | None:
        """`dropped`, `delivered` or `bounced`: what is known last; None where nothing is."""
        known = (DeliveryStatus.BOUNCED, DeliveryStatus.DELIVERED, DeliveryStatus.DROPPED)
        return next((str(fact.name).lower() for fact in known if fact in self), None)

    @property
    def trouble(self) -> str | None:
        """Why the mail did not reach its recipient, or was unwelcome; None where it was neither."""
        if DeliveryStatus.COMPLAINED in self:
            return "complained"
        return self.delivery if self.delivery != "delivered" else None


@dataclass(frozen=True, slots=True)
class TrackingEvent:
    """A report about one mail, with the labels that the mail was sent with.

    Labels come back from the provider and are not trusted: any of them may be missing or forged.
    `address` is the recipient's as it was mailed, or empty.
    """

    status: DeliveryStatus
    labels: Mapping[str, object]
    address: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of mails by status; a mail is at most one of the first three."""

    delivered: int = 0
    bounced: int = 0
    dropped: int = 0
    complained: int = 0

    @classmethod
    def of(cls, statuses: Collection[DeliveryStatus]) -> Self:
        """Count mails with these statuses."""
        by_delivery = Counter(status.delivery for status in statuses)
        return cls(
            by_delivery["delivered"],
            by_delivery["bounced"],
            by_delivery["dropped"],
            sum(DeliveryStatus.COMPLAINED in status for status in statuses),
        )

    def __sub__(self, other: Self) -> "Tally":
        return Tally(*map(operator.sub, astuple(self), astuple(other)))
