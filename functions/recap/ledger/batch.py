"""The lock of an event and the ledger of a recap (spec 3.3, design 3.40).

A batch moves through these states. A request is sent only after the step to `started`, and every
step is a conditional write that fails where another call wrote first:

    planned ──▶ started ──▶ accepted     the mail service has the mails
       ▲         │ ↺ ├────▶ unknown      it may have the mails: they count as sent, never sent again
       └─────────┘   the last request was refused: another request may follow

Only the call that started a batch, and knows that its mails were refused, moves it back to
`planned`. A call with `resendUnconfirmed` moves the recipients of an unknown batch without a mail
event into a new batch; the unknown batch is accepted then, because the others have the mail.
The recap's counts and its state follow from its batches.
"""

import operator
from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, Self

from functions.call_rules import CallError, Code
from functions.firestore.model import Version
from functions.outside import wire_time

COOLDOWN: Final = timedelta(hours=24)

TIMEOUT: Final = timedelta(seconds=540)
"""Cloud Functions ends a call of `sendEventRecap` after this time."""

LEASE: Final = TIMEOUT + timedelta(seconds=60)
"""How long a call may hold the lock; the lock of a crashed call is free after this time."""


class RecapKey(NamedTuple):
    """The identity of a recap."""

    event_id: str
    recap_id: str

    @property
    def path(self) -> str:
        """Path of the recap's record."""
        return f"events/{self.event_id}/recaps/{self.recap_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """`locks/recap` of an event.

    Attributes:
        recap_id: The last recap of the event.
        holder: Random id of the last call that took the lock.
        leased_until: End of that call's lease; None after it released the lock.
        cooldown_until: When the next recap may be sent; None where the last recap sent nothing.
        unfinished: Whether the recap may have batches left.
        version: Version of the record, as last read or written.
    """

    recap_id: str
    holder: str
    leased_until: datetime | None
    cooldown_until: datetime | None
    unfinished: bool
    version: Version | None = field(default=None, compare=False)


def resumable(lock: Lock | None, now: datetime, again: str | None = None) -> str | None:
    """Id of the recap that a call made `now` continues; None where it starts a new recap.

    `again` is the recap of a call that sends unconfirmed mails again, for which no cooldown counts.

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
    if again is not None:
        if lock.recap_id != again:
            raise CallError(Code.ABORTED, "Another recap of this event was begun just now.")
        return again
    if lock.cooldown_until is None or now >= lock.cooldown_until:
        return None
    if lock.unfinished:
        return lock.recap_id
    raise CallError(
        Code.RESOURCE_EXHAUSTED,
        "A recap of this event was sent within the last 24 hours; "
        f"the next one is possible from {wire_time(lock.cooldown_until)} on.",
        {"reason": "cooldown", "possibleFrom": wire_time(lock.cooldown_until)},
    )


def taken(
    before: Lock | None, *, holder: str, recap_id: str, at: datetime, again: str | None = None
) -> Lock:
    """The lock after the call `holder` took it, from `before`; `recap_id` is for a new recap.

    Raises:
        CallError: as `resumable` says.
    """
    # The lock of this very call: only the answer to its commit was lost.
    is_own = before is not None and before.holder == holder
    resumed = before.recap_id if before and is_own else resumable(before, at, again)
    return Lock(
        recap_id=resumed or recap_id,
        holder=holder,
        leased_until=at + LEASE,
        # A new recap gets its cooldown before its first mail, so that it can be continued after a
        # crash.
        cooldown_until=before.cooldown_until if before and resumed else at + COOLDOWN,
        unfinished=True,
    )


RECIPIENTS_PER_CALL: Final = 5000


class BatchState(StrEnum):
    """States of a batch."""

    PLANNED = "planned"
    STARTED = "started"
    ACCEPTED = "accepted"
    UNKNOWN = "unknown"

    @property
    def counts_as_sent(self) -> bool:
        """Whether the mails must not be sent again; for a started batch that is not known yet."""
        return self in (BatchState.ACCEPTED, BatchState.UNKNOWN)


class RecapState(StrEnum):
    """States of a recap.

    `INTERRUPTED` has batches left for the next call. `FAILED` and `EMPTY` sent nothing, because of
    a failure or for lack of recipients.
    """

    SENDING = "sending"
    SENT = "sent"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of recipients of some batches.

    Attributes:
        sent: Mails that count as sent.
        unknown: Those of the sent mails that the mail service may not have.
        skipped: Recipients who opted out since the plan, or whose address was refused.
        left: Recipients who still get the mail.
    """

    sent: int = 0
    unknown: int = 0
    skipped: int = 0
    left: int = 0

    def __add__(self, other: Self) -> "Counts":
        return Counts(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Self) -> "Counts":
        return Counts(*map(operator.sub, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The recipients of one request to the mail service.

    Attributes:
        number: Place in the recap.
        state: State of the batch.
        recipients: Ids of the guests who get the mail or have it.
        refused: Ids of former recipients whose address the mail service refused.
        opted_out: Number of former recipients who opted out since the plan.
        resent: Ids of former recipients who may have the mail, and are in a later batch again.
        holder: The last call that changed the batch; empty until the first change.
        started_at: When the last request was about to be sent.
        note: The mail service's id of the request, or the problem.
        version: Version of the record, as last read or written.
    """

    number: int
    state: BatchState
    recipients: tuple[str, ...]
    refused: tuple[str, ...] = ()
    opted_out: int = 0
    resent: tuple[str, ...] = ()
    holder: str = ""
    started_at: datetime | None = None
    note: str | None = None
    version: Version | None = field(default=None, compare=False)

    @property
    def counts(self) -> Counts:
        """The numbers of its recipients."""
        count, sent = len(self.recipients), self.state.counts_as_sent
        return Counts(
            sent=count if sent else 0,
            unknown=count if self.state is BatchState.UNKNOWN else 0,
            skipped=len(self.refused) + self.opted_out,
            left=0 if sent else count,
        )

    @property
    def mailed(self) -> tuple[str, ...]:
        """Who may have the mail, once a request was sent."""
        return self.recipients + self.resent

    def confirmed(self, reported: Collection[str]) -> "Batch":
        """This unknown batch with its `reported` recipients: those who have a mail event."""
        kept = tuple(guest for guest in self.recipients if guest in reported)
        gone = tuple(guest for guest in self.recipients if guest not in reported)
        return replace(self, state=BatchState.ACCEPTED, recipients=kept, resent=gone)

    def started(self, holder: str, at: datetime) -> "Batch":
        """This batch, started by the call `holder`."""
        return replace(self.settled(BatchState.STARTED, holder), started_at=at)

    def settled(self, state: BatchState, holder: str, note: str | None = None) -> "Batch":
        """This batch in `state`, settled by the call `holder`."""
        return replace(self, state=state, holder=holder, note=note)

    def without_refused(self, indices: Collection[int]) -> "Batch":
        """This batch without the recipients with these indices, whose address was refused."""
        refused = [guest for n, guest in enumerate(self.recipients) if n in indices]
        return replace(
            self,
            recipients=tuple(guest for guest in self.recipients if guest not in refused),
            refused=(*self.refused, *refused),
        )


def plan(groups: Iterable[Sequence[str]], *, per_batch: int, first: int = 0) -> list[Batch]:
    """Divide each group of recipients into batches of `per_batch`, numbered from `first`."""
    batches = (
        group[begin : begin + per_batch]
        for group in groups
        for begin in range(0, len(group), per_batch)
    )
    return [
        Batch(number=number, state=BatchState.PLANNED, recipients=tuple(batch))
        for number, batch in enumerate(batches, start=first)
    ]


def open_batches(batches: Iterable[Batch]) -> list[Batch]:
    """The batches that are still to be sent."""
    return [batch for batch in batches if batch.state is BatchState.PLANNED]


def sent_again(batches: Collection[Batch]) -> list[Batch]:
    """The batches still to be sent whose recipients all may have the mail."""
    resent = {guest for batch in batches for guest in batch.resent}
    return [batch for batch in open_batches(batches) if resent.issuperset(batch.recipients)]


def total(batches: Iterable[Batch]) -> Counts:
    """The sum of the numbers of all batches."""
    return sum((batch.counts for batch in batches), start=Counts())


def recap_state(batches: Iterable[Batch]) -> RecapState:
    """State of a recap with these batches, while no call works on it."""
    states = {batch.state for batch in batches if batch.mailed}
    if BatchState.STARTED in states:
        return RecapState.INTERRUPTED  # it may have been sent
    something_sent = any(state.counts_as_sent for state in states)
    if BatchState.PLANNED in states:
        return RecapState.INTERRUPTED if something_sent else RecapState.FAILED
    return RecapState.SENT if something_sent else RecapState.EMPTY


def last_mail(batches: Iterable[Batch]) -> datetime | None:
    """Time of the last request that may have sent mails; None without such a request."""
    return max(
        (
            batch.started_at
            for batch in batches
            if batch.mailed and batch.started_at and batch.state is not BatchState.PLANNED
        ),
        default=None,
    )
