"""Complaints about the recaps of a tenant and day, and their consequences (spec 8).

Large mailbox providers ask senders to stay below one complaint in 1,000 mails, and refuse the mails
of a sender from three on. All tenants send from one domain, so complaints about one tenant could
stop the mails of all tenants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Final

from functions.call_error import CallError, Code
from functions.documents.document import Version
from functions.recap.quota.mailings import tenant_key


class Level(StrEnum):
    """The consequence of a share of complaints: an alert, or an alert and no further recap."""

    WARNING = "warning"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Limit:
    """The complaints that reach a level: per 1,000 mails, and the least number."""

    level: Level
    per_thousand: int
    complaints: int


LIMITS: Final = (Limit(Level.STOP, 3, 5), Limit(Level.WARNING, 1, 2))
"""The most severe level first. A few complaints about a small party stop no tenant."""


@dataclass(frozen=True, slots=True)
class Complaints:
    """The mails of a tenant and day: the number sent, and the number marked as spam."""

    complained: int
    sent: int

    def level(self, limits: Sequence[Limit] = LIMITS) -> Level | None:
        """The most severe level reached, if any."""
        for limit in limits:
            is_share_reached = self.complained * 1000 >= limit.per_thousand * self.sent
            if is_share_reached and self.complained >= limit.complaints:
                return limit.level
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The stop of a tenant's recaps until an operator pardons the tenant.

    Attributes:
        since: When the service stopped the tenant.
        day: The day, in UTC, on which the recaps began.
        complaints: The complaints about these recaps.
        pardoned_at: The last pardon by an operator, if any.
    """

    since: datetime
    day: date
    complaints: Complaints
    pardoned_at: datetime | None = None

    @property
    def holds(self) -> bool:
        """Whether the stop is in force."""
        return self.pardoned_at is None or self.pardoned_at < self.since

    @property
    def refusal(self) -> CallError:
        """The error for an organizer of the tenant."""
        complained, sent = self.complaints.complained, self.complaints.sent
        share = f" ({100 * complained / sent:.2g} %)" if sent else ""
        return CallError(
            Code.FAILED_PRECONDITION,
            f"Guests marked {complained} of the {sent} recap mails that your events sent on "
            f"{self.day} as spam{share}. Mailbox providers refuse a sender from 0.3 % on, so your "
            "events send no recap until the operator of this service allows it again: ask the "
            "operator.",
        )


@dataclass(frozen=True, slots=True)
class StoredStop:
    """A stop, with the version of its record."""

    stop: Stop
    version: Version


def stop_path(tenant_id: str) -> str:
    """The document of the tenant's stop; an operator writes the pardon into it."""
    return f"recapStops/{tenant_key(tenant_id)}"


def day_of(moment: datetime) -> tuple[datetime, datetime]:
    """The beginning of the day of `moment` in UTC, and that of the next day."""
    begin = datetime.combine(moment.astimezone(UTC).date(), time(), UTC)
    return begin, begin + timedelta(days=1)
