"""Complaints about the recaps that a tenant has begun on one day, and what they lead to (spec 8).

Large mailbox providers ask senders to stay below one complaint in 1,000 mails, and refuse the mails
of a sender from three on. All tenants send from one domain, so the complaints about one tenant
would end the mails of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Final

from functions.call_error import CallError, Code
from functions.recap.mailings import tenant_key


class Level(StrEnum):
    """What a share of complaints leads to: an alert, or an alert and no further recap."""

    WARNING = "warning"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Limit:
    """From how many complaints in 1,000 mails on a level is reached, and from how many at all."""

    level: Level
    per_thousand: int
    complaints: int


LIMITS: Final = (Limit(Level.STOP, 3, 5), Limit(Level.WARNING, 1, 2))
"""The most severe level first. A few complaints about a small party stop nobody."""


@dataclass(frozen=True, slots=True)
class Complaints:
    """The mails of one tenant and day: how many were sent, and how many were called spam."""

    complained: int
    sent: int

    def level(self, limits: Sequence[Limit] = LIMITS) -> Level | None:
        """The most severe level that is reached; None where none is."""
        for limit in limits:
            is_share_reached = self.complained * 1000 >= limit.per_thousand * self.sent
            if is_share_reached and self.complained >= limit.complaints:
                return limit.level
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a tenant sends no recap, until an operator says so.

    Attributes:
        since: When the service has stopped the tenant.
        day: The day, in UTC, on which the recaps began,
        complaints: and the complaints about them.
        pardoned_at: When an operator last let the tenant send again; None where that never was.
    """

    since: datetime
    day: date
    complaints: Complaints
    pardoned_at: datetime | None = None

    @property
    def holds(self) -> bool:
        """Whether the tenant may not send."""
        return self.pardoned_at is None or self.pardoned_at < self.since

    @property
    def refusal(self) -> CallError:
        """What an organizer of the tenant is told."""
        complained, sent = self.complaints.complained, self.complaints.sent
        share = f" ({100 * complained / sent:.2g} %)" if sent else ""
        return CallError(
            Code.FAILED_PRECONDITION,
            f"Guests marked {complained} of the {sent} recap mails that your events sent on "
            f"{self.day} as spam{share}. Mailbox providers refuse a sender from 0.3 % on, so your "
            "events send no recap until the operator of this service allows it again: ask the "
            "operator.",
        )


def stop_path(tenant_id: str) -> str:
    """The document of the tenant's stop, which an operator writes a pardon into."""
    return f"recapStops/{tenant_key(tenant_id)}"


def day_of(moment: datetime) -> tuple[datetime, datetime]:
    """The beginning of the day of `moment` in UTC, and that of the next day."""
    begin = datetime.combine(moment.astimezone(UTC).date(), time(), UTC)
    return begin, begin + timedelta(days=1)
