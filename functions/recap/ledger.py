"""The lock of an event and the ledger of a recap, and what they allow (spec 3.3, design 3).

A batch moves like this; only the step to `started` lets a request out, and every step is written
on the condition that nobody else has taken it:

    planned ──▶ started ──▶ accepted     the mail service has the mails
       ▲           ├──────▶ unknown      it may have them: counts as sent, is never sent again
       └───────────┘                     it certainly has none of them
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

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

    @property
    def cools_down(self) -> bool:
        """Whether something was sent, so that the next recap has to wait."""
        return self in (RecapState.SENT, RecapState.INTERRUPTED)


@dataclass(frozen=True, slots=True)
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
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """Recipients of one request to the mail service, by the ids of their guests.

    `version` is that of the record as it was read or written last.
    """

    number: int
    state: BatchState
    recipients: tuple[str, ...]
    version: Any = None


def plan(recipients: list[str]) -> list[Batch]:
    """Divide recipients into batches."""
    return [
        Batch(
            number,
            BatchState.PLANNED,
            tuple(recipients[first : first + RECIPIENTS_PER_BATCH]),
        )
        for number, first in enumerate(range(0, len(recipients), RECIPIENTS_PER_BATCH))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of the recipients of some batches.

    Attributes:
        accepted: Mails that the mail service has taken.
        unknown: Mails that it may have taken.
        refused: Addresses that it does not take as such.
        open: Recipients of the batches that can still be sent.
        faults: Batches whose record could not be read or written, so that nobody knows.
    """

    accepted: int = 0
    unknown: int = 0
    refused: int = 0
    open: int = 0
    faults: int = 0

    @property
    def sent(self) -> int:
        """Mails that count as sent."""
        return self.accepted + self.unknown

    @classmethod
    def total(cls, tallies: Iterable["Tally"]) -> "Tally":
        """All of them together."""
        all_of_them = list(tallies)
        return cls(
            accepted=sum(one.accepted for one in all_of_them),
            unknown=sum(one.unknown for one in all_of_them),
            refused=sum(one.refused for one in all_of_them),
            open=sum(one.open for one in all_of_them),
            faults=sum(one.faults for one in all_of_them),
        )


def final_state(tally: Tally, sent_before: int) -> RecapState:
    """Where a recap stands after a call; `sent_before` counts the mails of earlier calls."""
    if tally.faults:
        return RecapState.INTERRUPTED
    something_sent = tally.sent + sent_before > 0
    if tally.open:
        return RecapState.INTERRUPTED if something_sent else RecapState.FAILED
    return RecapState.SENT if something_sent else RecapState.EMPTY
