"""The ledger of a recap (spec 3.3, design 3.40).

A batch moves through these states. A request is sent only after the step to `started`. Every step
is a conditional write that fails if another call wrote first:

    planned ──▶ started ──▶ accepted     the email provider has the emails
       ▲         │ ↺ ├────▶ unknown      the provider may have the emails, which count as sent
       └─────────┘   the last request was refused, and another request may follow

Only the call that started a batch, and knows that its emails were refused, moves it back to
`planned`. A call with `resendUnconfirmed` moves recipients of an unknown batch without a delivery
report into a new batch. The unknown batch becomes accepted, because the others have the email.
The recap's counts and its state follow from its batches.
"""

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self

from functions import log
from functions.firestore.model import Document, Version

TIMEOUT: Final = timedelta(seconds=540)
"""Cloud Functions ends a call of `sendEventRecap` after this time."""

_NO_REPLY_NOTE: Final = "the connection broke before the reply to an email"
_CONFIRMED_NOTE: Final = "the email provider has reported on these emails"


class RecapKey(NamedTuple):
    """The identity of a recap."""

    event_id: str
    recap_id: str

    @property
    def path(self) -> str:
        """Path of the recap's record."""
        return f"events/{self.event_id}/recaps/{self.recap_id}"

    def batch_path(self, number: int) -> str:
        """Path of a batch's record."""
        return f"{self.path}/batches/{number}"


class BatchState(StrEnum):
    """States of a batch."""

    PLANNED = "planned"
    STARTED = "started"
    ACCEPTED = "accepted"
    UNKNOWN = "unknown"

    @property
    def counts_as_sent(self) -> bool:
        """Whether the emails must not be resent. For a started batch this is not yet known."""
        return self in (BatchState.ACCEPTED, BatchState.UNKNOWN)


class RecapState(StrEnum):
    """States of a recap.

    `INTERRUPTED` has batches left for the next call. `FAILED` and `EMPTY` sent no email, because of
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
        sent: Emails that count as sent.
        unknown: Sent emails that the email provider may not have.
        skipped: Recipients with a rejected address, or with an opt-out since the plan.
        left: Recipients who still get the email.
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
    """The recipients of one request to the email provider.

    Attributes:
        number: Number of the batch in its recap, from 0.
        state: State of the batch.
        recipients: IDs of the guests who get the email or have it.
        rejected: IDs of former recipients with an address that the email provider rejected.
        opted_out: Number of former recipients who opted out since the plan.
        resent: IDs of former recipients who may have the email, and are also in a later batch.
        holder: ID of the last call that changed the batch, or "" before the first change.
        started_at: When the last request was about to be sent.
        note: The email provider's ID of the request, or the problem.
        version: Version of the record, as last read or written.
    """

    number: int
    state: BatchState
    recipients: tuple[str, ...]
    rejected: tuple[str, ...] = ()
    opted_out: int = 0
    resent: tuple[str, ...] = ()
    holder: str = ""
    started_at: datetime | None = None
    note: str | None = None
    version: Version | None = field(default=None, compare=False)

    @classmethod
    def read(cls, found: Document) -> Self:
        """Parse the batch in a document."""
        fields = found.fields
        return cls(
            number=int(found.id),
            state=BatchState(fields["state"]),
            recipients=tuple(fields["recipients"]),
            rejected=tuple(fields.get("refused") or ()),
            opted_out=fields.get("optedOut") or 0,
            resent=tuple(fields.get("resent") or ()),
            holder=fields.get("holder") or "",
            started_at=fields.get("startedAt"),
            note=fields.get("note"),
            version=found.version,
        )

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the batch's record."""
        return {
            "state": self.state,
            "recipients": list(self.recipients),
            "refused": list(self.rejected),
            "optedOut": self.opted_out,
            "resent": list(self.resent),
            "holder": self.holder,
            "startedAt": self.started_at,
            "note": self.note,
        }

    @property
    def counts(self) -> Counts:
        """The numbers of the batch's recipients."""
        count, sent = len(self.recipients), self.state.counts_as_sent
        return Counts(
            sent=count if sent else 0,
            unknown=count if self.state is BatchState.UNKNOWN else 0,
            skipped=len(self.rejected) + self.opted_out,
            left=0 if sent else count,
        )

    @property
    def mailed(self) -> tuple[str, ...]:
        """The guests who may have the email once a request was sent."""
        return self.recipients + self.resent

    def confirmed(self, reported: Collection[str]) -> "Batch":
        """Return this unknown batch with its `reported` recipients, who have a delivery report."""
        kept = tuple(guest for guest in self.recipients if guest in reported)
        resent = self.without(reported).recipients
        return replace(self, state=BatchState.ACCEPTED, recipients=kept, resent=resent)

    def started(self, holder: str, at: datetime) -> "Batch":
        """Return this batch as started by the call `holder`."""
        return replace(self.settled(BatchState.STARTED, holder), started_at=at)

    def settled(self, state: BatchState, holder: str, note: str | None = None) -> "Batch":
        """Return this batch in `state`, as settled by the call `holder`."""
        return replace(self, state=state, holder=holder, note=note)

    def guests_at(self, indices: Collection[int]) -> tuple[str, ...]:
        """Return the recipients at these indices."""
        return tuple(guest for n, guest in enumerate(self.recipients) if n in indices)

    def without(self, guests: Collection[str]) -> "Batch":
        """Return this batch without these recipients."""
        kept = tuple(guest for guest in self.recipients if guest not in guests)
        return replace(self, recipients=kept)

    def without_rejected(self, indices: Collection[int]) -> "Batch":
        """Return this batch without the recipients at `indices`, who have a rejected address."""
        rejected = self.guests_at(indices)
        return replace(self.without(rejected), rejected=self.rejected + rejected)

    def part(
        self, number: int, state: BatchState, recipients: tuple[str, ...], note: str | None
    ) -> "Batch":
        """Return a new batch with some recipients of this batch's last request."""
        return Batch(
            number=number,
            state=state,
            recipients=recipients,
            holder=self.holder,
            started_at=self.started_at,
            note=note,
        )

    def log(self, key: RecapKey, problem: str | None, cause: str | None = None) -> None:
        """Log the result of a request of this batch."""
        write = log.warning if problem else log.info
        if self.state is BatchState.UNKNOWN:
            write = log.error
        write(
            "recap.batch",
            eventId=key.event_id,
            recapId=key.recap_id,
            batch=self.number,
            recipients=len(self.recipients),
            state=self.state,
            problem=problem,
            cause=cause,
        )


def plan(groups: Iterable[Sequence[str]], *, per_batch: int, first: int = 0) -> list[Batch]:
    """Divide each group of recipients into batches of `per_batch`, numbered from `first`."""
    batches = (
        group[begin : begin + per_batch]
        for group in groups
        for begin in range(0, len(group), per_batch)
    )
    return planned_batches(batches, first=first)


def planned_batches(recipients: Iterable[Sequence[str]], *, first: int) -> list[Batch]:
    """Return a planned batch for each group of recipients, numbered from `first`."""
    return [
        Batch(number=number, state=BatchState.PLANNED, recipients=tuple(batch))
        for number, batch in enumerate(recipients, start=first)
    ]


def confirmed_batches(
    batches: Iterable[Batch], reported: Collection[str], *, first: int
) -> list[Batch]:
    """Return the planned `batches` without their `reported` recipients, who have the email.

    The result also has a new accepted batch for the reported recipients of each changed batch,
    numbered from `first`. Batches without reported recipients are omitted.
    """
    changed: list[Batch] = []
    for batch in batches:
        if mailed := tuple(guest for guest in batch.recipients if guest in reported):
            number = first + len(changed) // 2
            confirmed = batch.part(number, BatchState.ACCEPTED, mailed, _CONFIRMED_NOTE)
            changed += [batch.without(reported), confirmed]
    return changed


def divided(
    batch: Batch, accepted: Collection[int], unknown: Collection[int], *, first: int
) -> list[Batch]:
    """Return new batches for the `accepted` and `unknown` emails of a started batch.

    Both are indices of recipients. The new batches are numbered from `first`.
    """
    groups = (
        (BatchState.ACCEPTED, batch.guests_at(accepted), None),
        (BatchState.UNKNOWN, batch.guests_at(unknown), _NO_REPLY_NOTE),
    )
    filled = [group for group in groups if group[1]]
    return [batch.part(number, *group) for number, group in enumerate(filled, start=first)]


def open_batches(batches: Iterable[Batch]) -> list[Batch]:
    """Return the batches that are still to be sent."""
    return [batch for batch in batches if batch.state is BatchState.PLANNED]


def batches_to_resend(batches: Collection[Batch]) -> list[Batch]:
    """Return the open batches in which every recipient may already have the email."""
    resent = {guest for batch in batches for guest in batch.resent}
    return [batch for batch in open_batches(batches) if resent.issuperset(batch.recipients)]


def total(batches: Iterable[Batch]) -> Counts:
    """Return the sum of the counts of all batches."""
    return sum((batch.counts for batch in batches), start=Counts())


def emails_by_start(after: Iterable[Batch], before: Iterable[Batch]) -> list[tuple[datetime, int]]:
    """Return the start and the number of emails of changed batches.

    The numbers of the batches `before` the change are negative.
    """
    return [
        (batch.started_at, sign * len(batch.mailed))
        for batches, sign in ((after, 1), (before, -1))
        for batch in batches
        if batch.started_at and batch.state is not BatchState.PLANNED
    ]


def recap_state(batches: Iterable[Batch]) -> RecapState:
    """Return the state of a recap with these batches while no call works on it."""
    states = {batch.state for batch in batches if batch.mailed}
    if BatchState.STARTED in states:
        return RecapState.INTERRUPTED  # it may have been sent
    something_sent = any(state.counts_as_sent for state in states)
    if BatchState.PLANNED in states:
        return RecapState.INTERRUPTED if something_sent else RecapState.FAILED
    return RecapState.SENT if something_sent else RecapState.EMPTY


def last_mail(batches: Iterable[Batch]) -> datetime | None:
    """Return the time of the last request that may have sent emails, or None."""
    return max(
        (
            batch.started_at
            for batch in batches
            if batch.mailed and batch.started_at and batch.state is not BatchState.PLANNED
        ),
        default=None,
    )
