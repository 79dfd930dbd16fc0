"""The lock of an event: whose turn it is to send a recap (spec 3.3)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from functions.call_error import CallError, Code
from functions.documents.document import Version
from functions.recap.arguments import Mode
from functions.timestamps import wire_time

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
    """

    recap_id: str
    holder: str
    leased_until: datetime | None
    cooldown_until: datetime | None
    unfinished: bool


def resumable(lock: Lock | None, now: datetime) -> str | None:
    """Id of the recap that a call made `now` continues; None where it starts a new recap.

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


@dataclass(frozen=True, slots=True)
class StoredLock:
    """A lock, with the version of its document that a write must still find."""

    lock: Lock
    version: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapHead:
    """What a call writes into its recap; kept to show later which texts the guests got.

    `tenant_id` is empty where the event has none. `subject` and `message` are None where the mail
    has the templated texts; `sender` is the organizer's address, if the account has one.
    """

    tenant_id: str
    mode: Mode
    started_by: str
    sender: str | None = None
    subject: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """What a call decides when it takes the lock.

    Attributes:
        lock: The new lock; the state of its recap becomes `sending`.
        began: Start of a new recap; None where the call continues one.
        ended: Id of an older recap that becomes `interrupted` for good, if any.
        first: Whether the event had no lock before.
    """

    lock: Lock
    began: datetime | None
    ended: str | None
    first: bool


def taking(before: Lock | None, *, holder: str, recap_id: str, at: datetime) -> Taking:
    """How the call `holder` takes the lock, which is `before` now; `recap_id` is for a new recap.

    Raises:
        CallError: as `resumable` says.
    """
    # The lock of this very call: only the answer to its commit was lost.
    is_own = before is not None and before.holder == holder
    resumed = before.recap_id if before and is_own else resumable(before, at)
    lock = Lock(
        recap_id=resumed or recap_id,
        holder=holder,
        leased_until=at + LEASE,
        # A new recap gets its cooldown before its first mail, so that it can be continued after a
        # crash.
        cooldown_until=before.cooldown_until if before and resumed else at + COOLDOWN,
        unfinished=True,
    )
    return Taking(
        lock=lock,
        began=None if resumed else at,
        # The cooldown of an older recap is over, so no call can continue it.
        ended=before.recap_id if before and before.unfinished and not resumed else None,
        first=before is None,
    )
