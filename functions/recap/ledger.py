"""The lock of an event and the ledger of a recap, and what they allow (spec 3.3, design 3).

A batch moves like this; only the step to `started` lets a request out, and every step is written
on the condition that nobody else has taken it:

    planned ──▶ started ──▶ accepted     the mail service has the mails
       ▲         │ ↺ ├────▶ unknown      it may have them: counts as sent, is never sent again
       └─────────┘   the request before it has brought in nothing: another one may leave

Back to `planned` goes a batch only by the call that started it and knows that nothing was taken.
What a recap has sent, and where it stands, follows from its batches.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from functions.call_error import CallError, Code
from functions.timestamps import wire_time

RECIPIENTS_PER_CALL: Final = 5000
RECIPIENTS_PER_BATCH: Final = 1000
"""Of one request to the mail service, which takes no more."""

COOLDOWN: Final = timedelta(hours=24)

TIMEOUT: Final = timedelta(seconds=540)
"""Of the function."""

LEASE: Final = TIMEOUT + timedelta(seconds=60)
"""How long a call may hold the lock: one that crashed holds it no longer than this."""


class BatchState(StrEnum):
    """Where a batch stands."""

    PLANNED = "planned"
    STARTED = "started"
    ACCEPTED = "accepted"
    UNKNOWN = "unknown"

    @property
    def counts_as_sent(self) -> bool:
        """Whether the mails must not be sent again; of a started batch that is not known yet."""
        return self in (BatchState.ACCEPTED, BatchState.UNKNOWN)


class RecapState(StrEnum):
    """Where a recap stands.

    `INTERRUPTED` has batches left that a further call sends; `FAILED` and `EMPTY` have sent
    nothing, because of a failure or because there was nobody to send to.
    """

    SENDING = "sending"
    SENT = "sent"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """`locks/recap` of an event.

    Attributes:
        recap_id: The recap that took it last.
        holder: A random word of the call that took it last.
        leased_until: When that call is over at the latest; None once it has released the lock.
        cooldown_until: When the next recap may be sent; None where the last one sent nothing.
        unfinished: Whether batches of the recap may be left.
    """

    recap_id: str
    holder: str
    leased_until: datetime | None
    cooldown_until: datetime | None
    unfinished: bool


def resumable(lock: Lock | None, now: datetime) -> str | None:
    """Id of the recap that a call made `now` continues; None where it starts a new one.

    Raises:
        CallError: `aborted` while another call holds the lock, `resource-exhausted` during the
            cooldown.
    """
    if lock is None:
        return None
    if lock.leased_until and now < lock.leased_until:
        raise CallError(
            Code.ABORTED, "A recap of this event is being sent right now; wait until it is done."
        )
    if lock.cooldown_until is None or now >= lock.cooldown_until:
        return None
    if lock.unfinished:
        return lock.recap_id
    raise CallError(
        Code.RESOURCE_EXHAUSTED,
        "A recap of this event was sent within the last 24 hours; "
        f"the next one is possible from {wire_time(lock.cooldown_until)} on.",
        {"possibleFrom": wire_time(lock.cooldown_until)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What became of the recipients of some batches.

    Attributes:
        sent: Mails that count as sent,
        unknown: and how many of those the mail service may not have.
        skipped: Recipients left out: opted out since, or refused by the mail service.
        left: Recipients who are still to have the mail.
    """

    sent: int = 0
    unknown: int = 0
    skipped: int = 0
    left: int = 0

    def __add__(self, other: Self) -> "Counts":
        return Counts(
            sent=self.sent + other.sent,
            unknown=self.unknown + other.unknown,
            skipped=self.skipped + other.skipped,
            left=self.left + other.left,
        )

    def __sub__(self, other: Self) -> "Counts":
        return Counts(
            sent=self.sent - other.sent,
            unknown=self.unknown - other.unknown,
            skipped=self.skipped - other.skipped,
            left=self.left - other.left,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Recipients of one request to the mail service, by the ids of their guests.

    Attributes:
        number: Its place in the recap.
        state: Where it stands.
        recipients: Who is to have the mail, or has it.
        refused: Whose address the mail service does not take; no recipients any more.
        opted_out: How many have opted out since the batch was planned.
        holder: The call that has changed it last; empty while it is as it was planned.
        started_at: When its last request was about to leave.
        note: The mail service's id of the request, or what went wrong.
        version: Of the record, as it was read or written last.
    """

    number: int
    state: BatchState
    recipients: tuple[str, ...]
    refused: tuple[str, ...] = ()
    opted_out: int = 0
    holder: str = ""
    started_at: datetime | None = None
    note: str | None = None
    version: Any = field(default=None, compare=False)

    @property
    def counts(self) -> Counts:
        """What became of its recipients."""
        count, sent = len(self.recipients), self.state.counts_as_sent
        return Counts(
            sent=count if sent else 0,
            unknown=count if self.state is BatchState.UNKNOWN else 0,
            skipped=len(self.refused) + self.opted_out,
            left=0 if sent else count,
        )

    def started(
        self,
        holder: str,
        at: datetime,
        *,
        recipients: Sequence[str] | None = None,
        refused: Sequence[str] | None = None,
        opted_out: int | None = None,
    ) -> "Batch":
        """This batch, started by the call `holder`; what is None is as before."""
        return replace(
            self.settled(BatchState.STARTED, holder=holder, recipients=recipients, refused=refused),
            opted_out=self.opted_out if opted_out is None else opted_out,
            started_at=at,
        )

    def settled(
        self,
        state: BatchState,
        *,
        holder: str,
        recipients: Sequence[str] | None = None,
        refused: Sequence[str] | None = None,
        note: str | None = None,
    ) -> "Batch":
        """This batch, of which the call `holder` knows what has become; likewise."""
        return replace(
            self,
            state=state,
            recipients=self.recipients if recipients is None else tuple(recipients),
            refused=self.refused if refused is None else tuple(refused),
            holder=holder,
            note=note,
        )


def plan(
    recipients: Sequence[str], *, first: int = 0, at_most: int = RECIPIENTS_PER_BATCH
) -> list[Batch]:
    """Divide recipients into batches of `at_most`, whose numbers begin with `first`."""
    return [
        Batch(
            number=number,
            state=BatchState.PLANNED,
            recipients=tuple(recipients[begin : begin + at_most]),
        )
        for number, begin in enumerate(range(0, len(recipients), at_most), start=first)
    ]


def total(batches: Iterable[Batch]) -> Counts:
    """What became of the recipients of all of them."""
    return sum((one.counts for one in batches), start=Counts())


def recap_state(batches: Iterable[Batch]) -> RecapState:
    """Where a recap of these batches stands when no call is at work on it."""
    states = {one.state for one in batches if one.recipients}
    if BatchState.STARTED in states:
        return RecapState.INTERRUPTED  # it may have been sent
    something_sent = any(one.counts_as_sent for one in states)
    if BatchState.PLANNED in states:
        return RecapState.INTERRUPTED if something_sent else RecapState.FAILED
    return RecapState.SENT if something_sent else RecapState.EMPTY


def last_mail(batches: Iterable[Batch]) -> datetime | None:
    """When the last request left that may have brought in mails; None where none did."""
    return max(
        (
            batch.started_at
            for batch in batches
            if batch.recipients and batch.started_at and batch.state is not BatchState.PLANNED
        ),
        default=None,
    )
