"""The limit on the recap emails that a tenant sends in 24 hours (spec 8).

The commit that starts a batch adds its emails to the counter of the hour, and the commit that
records a refusal subtracts them. So a crash leaves no wrong count. A recap is planned within the
emails that remain. Recaps that are planned at the same moment, or are continued, may exceed the
limit by what they have planned.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from functions.firestore.model import Documents, Merge, Write

_HOURS: Final = 24
"""Counters that count: an email counts for 23 to 24 hours, so that a recap at the same time of the
next day has the whole limit again."""

_KEPT: Final = timedelta(days=2)
"""Time from the start of a day until its document expires."""


@dataclass(frozen=True, slots=True)
class DailyLimit:
    """The daily limit of every tenant.

    Attributes:
        emails: Recap emails that a tenant may send in 24 hours.
    """

    documents: Documents
    emails: int

    def remaining(self, tenant_id: str, now: datetime) -> int:
        """Return how many emails the tenant may still send. One round trip."""
        hours = [now - timedelta(hours=ago) for ago in range(_HOURS)]
        paths = [counters_path(tenant_id, now - timedelta(days=ago)) for ago in (1, 0)]
        days = {day.path: day.fields for day in self.documents.get_all(paths) if day}
        sent: int = sum(
            days.get(counters_path(tenant_id, hour), {}).get(counter(hour), 0) for hour in hours
        )
        return max(self.emails - sent, 0)


def count_emails(tenant_id: str, changes: Iterable[tuple[datetime, int]]) -> list[Write]:
    """Return the writes that add numbers of emails to the counters of their times."""
    days: dict[datetime, Counter[str]] = defaultdict(Counter)
    for at, emails in changes:
        days[at.replace(hour=0, minute=0, second=0, microsecond=0)][counter(at)] += emails
    return [
        Merge(counters_path(tenant_id, day), {"expireAt": day + _KEPT}, add=add)
        for day, counters in days.items()
        if (add := {name: emails for name, emails in counters.items() if emails})
    ]


def counters_path(tenant_id: str, at: datetime) -> str:
    """Return the path of the document with the counters of the day of `at`.

    The tenant is hashed, because a claim can hold text that no document ID may contain.
    """
    tenant = hashlib.sha256(tenant_id.encode()).hexdigest()[:32]
    return f"recapMails/{tenant}-{at:%Y-%m-%d}"


def counter(at: datetime) -> str:
    """Return the name of the counter for the hour of `at`, in UTC."""
    return f"hour{at:%H}"
