"""The limit on the recap emails that a tenant sends in 24 hours (spec 8).

The commit that starts a batch adds its emails to the counter of the hour, and the commit that
records a refusal subtracts them. So a crash leaves no wrong count. A recap is planned within the
emails that remain. Recaps that are planned at the same moment, or are continued, may exceed the
limit by what they have planned.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from functions.firestore.model import Documents, Merge, Write

_HOUR: Final = timedelta(hours=1)

_HOURS: Final = 24
"""Counters that count: an email counts for 23 to 24 hours, so that a recap at the same time of the
next day has the whole limit again."""


@dataclass(frozen=True, slots=True)
class DailyLimit:
    """The daily limit of every tenant.

    Attributes:
        emails: Recap emails that a tenant may send in 24 hours.
    """

    documents: Documents
    emails: int = 20_000

    def remaining(self, tenant_id: str, now: datetime) -> int:
        """Return how many emails the tenant may still send. One round trip."""
        paths = [counter_path(tenant_id, now - hours * _HOUR) for hours in range(_HOURS)]
        counters = self.documents.get_all(paths)
        sent: int = sum(counter.fields["emails"] for counter in counters if counter)
        return max(self.emails - sent, 0)


def count_emails(tenant_id: str, changes: Iterable[tuple[datetime, int]]) -> list[Write]:
    """Return the writes that add numbers of emails to the counters of their times."""
    by_hour: dict[datetime, int] = {}
    for at, emails in changes:
        hour = _hour_of(at)
        by_hour[hour] = by_hour.get(hour, 0) + emails
    return [
        Merge(
            counter_path(tenant_id, hour),
            {"expireAt": hour + _HOURS * _HOUR},
            add={"emails": emails},
        )
        for hour, emails in by_hour.items()
        if emails
    ]


def counter_path(tenant_id: str, at: datetime) -> str:
    """Return the path of the counter for the hour of `at`.

    The tenant is hashed, because a claim can hold text that no document ID may contain.
    """
    tenant = hashlib.sha256(tenant_id.encode()).hexdigest()[:32]
    return f"recapMails/{tenant}-{_hour_of(at):%Y-%m-%dT%H}"


def _hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
