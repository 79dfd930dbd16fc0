"""The lock of an event: whose turn it is to send a recap (spec 3.3)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from functions.call_error import CallError, Code
from functions.clock import wire_time
from functions.firestore.model import Version

COOLDOWN: Final = timedelta(hours=24)

TIMEOUT: Final = timedelta(seconds=540)
"""Timeout of the function `sendEventRecap`."""

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
