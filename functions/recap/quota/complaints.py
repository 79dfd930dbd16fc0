"""Complaints about the recaps of a day, and their consequences for an event or a tenant (spec 8).

Large mailbox providers ask senders to stay below one complaint in 1,000 mails, and refuse the mails
of a sender from three on. All tenants send from one domain, so complaints about one tenant could
stop the mails of all tenants.

A mailbox complains once, and so do all addresses that one person uploaded with. The event stops
first. The tenant stops where several events have complaints.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Final, Self

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
"""The most severe level first. A few complaints about a small party stop nobody."""

SEVERAL: Final = 2
"""Complaints beside those about one event, from which on the tenant stops."""


@dataclass(frozen=True, slots=True)
class RecapComplaints:
    """The complaints about one recap: the uploader by mailbox, both as hashes."""

    event_id: str
    started_at: datetime
    sent: int
    uploaders: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Complaints:
    """The mails of a day: the number sent, and the number of those who marked them as spam."""

    complained: int
    sent: int

    @classmethod
    def of(cls, recaps: Sequence[RecapComplaints]) -> Self:
        """Add up these recaps; nobody counts twice."""
        return cls(_complained(_uploaders(recaps)), sum(recap.sent for recap in recaps))

    def level(self, limits: Sequence[Limit] = LIMITS) -> Level | None:
        """The most severe level reached, if any."""
        for limit in limits:
            is_share_reached = self.complained * 1000 >= limit.per_thousand * self.sent
            if is_share_reached and self.complained >= limit.complaints:
                return limit.level
        return None


def beside_the_worst(recaps: Sequence[RecapComplaints]) -> int:
    """The number of complaints beside those about the event with the most."""
    about = defaultdict(list)
    for recap in recaps:
        about[recap.event_id].append(recap)
    worst = max(map(_uploaders, about.values()), key=_complained, default={})
    others = {mailbox: by for mailbox, by in _uploaders(recaps).items() if mailbox not in worst}
    return _complained(others)


def _uploaders(recaps: Iterable[RecapComplaints]) -> Mapping[str, str]:
    """The complaints about these recaps: the uploader by mailbox."""
    return {mailbox: by for recap in recaps for mailbox, by in recap.uploaders.items()}


def _complained(uploaders: Mapping[str, str]) -> int:
    """Number of complaints: one for a mailbox, and one for all addresses of an uploader."""
    return min(len(uploaders), len(set(uploaders.values())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The stop of an event's or a tenant's recaps until an operator lifts it.

    `day` is that on which the recaps started, in UTC; `complaints` are those about these recaps.
    `event_id` is None where all events of the tenant are stopped. `version` is that of the record,
    None before it is recorded.
    """

    since: datetime
    day: date
    complaints: Complaints
    pardoned_at: datetime | None = None
    event_id: str | None = None
    version: Version | None = field(default=None, compare=False)

    @property
    def holds(self) -> bool:
        """Whether the stop is in force."""
        return self.pardoned_at is None or self.pardoned_at < self.since

    @property
    def refusal(self) -> CallError:
        """The error for an organizer, which says who can lift the stop."""
        complained, sent = self.complaints.complained, self.complaints.sent
        share = f" ({100 * complained / sent:.2g} %)" if sent else ""
        whose, stopped = (
            ("this event", "this event sends")
            if self.event_id
            else ("your events", "your events send")
        )
        return CallError(
            Code.FAILED_PRECONDITION,
            f"Guests marked {complained} of the {sent} recap mails that {whose} sent on "
            f"{self.day} as spam{share}. Mailbox providers refuse a sender from 0.3 % on, so "
            f"{stopped} no recap until the operator of this service allows it again: ask the "
            "operator.",
        )


def stop_path(tenant_id: str, event_id: str | None = None) -> str:
    """The document of an event's or a tenant's stop; an operator writes the pardon into it."""
    return f"recapStops/{f'event-{event_id}' if event_id else tenant_key(tenant_id)}"


def day_of(moment: datetime) -> tuple[datetime, datetime]:
    """The beginning of the day of `moment` in UTC, and that of the next day."""
    begin = datetime.combine(moment.astimezone(UTC).date(), time(), UTC)
    return begin, begin + timedelta(days=1)
