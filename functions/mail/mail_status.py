"""Delivery status of an email, as reported by the provider.

A provider sends delivery reports in any order and may repeat them. Facts are collected and never
replaced, so the same reports give the same status in any order. An email counts as the last of

    no report ◁ dropped ◁ delivered ◁ bounced

because another server may return an email that was delivered. Complaints are counted
separately.
"""

import operator
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass
from enum import IntFlag
from typing import Self


class DeliveryStatus(IntFlag):
    """The known facts about one email.

    NONE          no report yet
    DROPPED       the provider did not try to deliver the email
    DELIVERED     the recipient's server accepted the email
    BOUNCED       the recipient's server rejected or returned the email
    COMPLAINED    the recipient marked the email as spam
    UNWELCOME     the recipient unsubscribed or complained, now or earlier
    UNREACHABLE   the address accepts no email at all
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
        """The last known of `dropped`, `delivered` and `bounced`, or None before any report."""
        known = (DeliveryStatus.BOUNCED, DeliveryStatus.DELIVERED, DeliveryStatus.DROPPED)
        return next((str(fact.name).lower() for fact in known if fact in self), None)

    @property
    def trouble(self) -> str | None:
        """The reason why the email failed or was unwelcome, or None."""
        if DeliveryStatus.COMPLAINED in self:
            return "complained"
        return self.delivery if self.delivery != "delivered" else None


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """A report about one email, with the labels of that email.

    Labels come back from the provider and are not trusted. Any label may be missing or forged.
    `address` is the recipient's address as it was used, or empty.
    """

    status: DeliveryStatus
    labels: Mapping[str, object]
    address: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of emails by status. An email has at most one of the first three."""

    delivered: int = 0
    bounced: int = 0
    dropped: int = 0
    complained: int = 0

    @classmethod
    def of(cls, statuses: Collection[DeliveryStatus]) -> Self:
        """Count emails with these statuses."""
        by_delivery = Counter(status.delivery for status in statuses)
        return cls(
            by_delivery["delivered"],
            by_delivery["bounced"],
            by_delivery["dropped"],
            sum(DeliveryStatus.COMPLAINED in status for status in statuses),
        )

    def __sub__(self, other: Self) -> "Tally":
        return Tally(*map(operator.sub, astuple(self), astuple(other)))
