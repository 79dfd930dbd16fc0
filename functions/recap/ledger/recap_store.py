"""The lock of an event, and reads of its recaps and their ledgers (spec 3.3, design 4).

A `Claim` writes them.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Self

from functions.call.caller import Caller
from functions.call.errors import CallError, Code
from functions.firestore.model import (
    NAME,
    ChangedMeanwhileError,
    Document,
    Documents,
    Merge,
    Put,
    Query,
    Record,
    Update,
    Version,
    Write,
    readable,
)
from functions.mail.mail_status import Tally
from functions.ports import wire_time
from functions.recap.ledger.batch import TIMEOUT, Batch, BatchState, Counts, RecapKey, RecapState
from functions.recap.recap_arguments import RecapArguments

COOLDOWN: Final = timedelta(hours=24)

LEASE: Final = TIMEOUT + timedelta(seconds=60)
"""How long a call may hold the lock. The lock of a crashed call is free after this time."""

_MAX_OVERDUE: Final = 20
"""Crashed calls that one sweep settles, and schedules that it ends."""

_RECORDS_READ: Final = 1000
"""Locks or schedules that one sweep reads, because an app may have its own such collection."""


def lock_path(event_id: str) -> str:
    """Return the path of an event's lock."""
    return f"events/{event_id}/locks/recap"


def schedule_path(event_id: str) -> str:
    """Return the path of the record of an event's scheduled recap."""
    return f"events/{event_id}/schedules/recap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """`locks/recap` of an event.

    Attributes:
        recap_id: The last recap of the event.
        holder: Random ID of the last call that acquired the lock.
        leased_until: End of that call's lease, or None after it released the lock.
        cooldown_until: When the next recap may be sent, or None if the last recap sent no email.
        unfinished: Whether the recap may have batches left.
        version: Version of the record, as last read or written.
    """

    recap_id: str
    holder: str
    leased_until: datetime | None
    cooldown_until: datetime | None
    unfinished: bool
    version: Version | None = field(default=None, compare=False)

    @classmethod
    def read(cls, found: Document) -> Self:
        """Parse the lock in a document."""
        fields = found.fields
        return cls(
            recap_id=fields["recapId"],
            holder=fields["holder"],
            leased_until=fields.get("leasedUntil"),
            cooldown_until=fields.get("cooldownUntil"),
            unfinished=fields.get("unfinished") is True,
            version=found.version,
        )

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the lock's record."""
        return {
            "recapId": self.recap_id,
            "holder": self.holder,
            "leasedUntil": self.leased_until,
            "cooldownUntil": self.cooldown_until,
            "unfinished": self.unfinished,
        }


def recap_to_resume(lock: Lock | None, now: datetime, resend_of: str | None = None) -> str | None:
    """Return the ID of the recap that a call continues, or None if it starts a new one.

    Args:
        lock: The event's lock, or None before the first recap.
        now: Time of the call.
        resend_of: The recap with unconfirmed emails to resend, if any. The cooldown does not apply.

    Raises:
        CallError: `aborted` while another call holds the lock, `resource-exhausted` in the
            cooldown.
    """
    if lock is None:
        return None
    if lock.leased_until and now < lock.leased_until:
        raise CallError(
            Code.ABORTED, "A recap of this event is being sent. Wait until it is finished."
        )
    if resend_of is not None:
        if lock.recap_id != resend_of:
            raise CallError(Code.ABORTED, "Another recap of this event was just started.")
        return resend_of
    if lock.cooldown_until is None or now >= lock.cooldown_until:
        return None
    if lock.unfinished:
        return lock.recap_id
    raise CallError(
        Code.RESOURCE_EXHAUSTED,
        "A recap of this event was sent within the last 24 hours. "
        f"The next recap is possible from {wire_time(lock.cooldown_until)}.",
        {"reason": "cooldown", "possibleFrom": wire_time(lock.cooldown_until)},
    )


def acquired_lock(
    before: Lock | None, *, holder: str, recap_id: str, at: datetime, resend_of: str | None = None
) -> Lock:
    """Return the lock after the call `holder` acquired it at the time `at`.

    `recap_id` is the recap's ID if the call starts a new one. For the others see `recap_to_resume`.

    Raises:
        CallError: See `recap_to_resume`.
    """
    # This call already has the lock: only the response to its commit was lost.
    is_own = before is not None and before.holder == holder
    resumed = before.recap_id if before and is_own else recap_to_resume(before, at, resend_of)
    return Lock(
        recap_id=resumed or recap_id,
        holder=holder,
        leased_until=at + LEASE,
        # A new recap gets its cooldown before its first email, so that it can be continued after
        # a crash.
        cooldown_until=before.cooldown_until if before and resumed else at + COOLDOWN,
        unfinished=True,
    )


def overdue(
    documents: Documents,
    path_of: Callable[[str], str],
    where: Sequence[tuple[str, str, Any]],
    order: str,
    read: Callable[[Document], Record],
) -> list[Record]:
    """Return the first records with the path that `path_of` returns for their event.

    Unreadable records, and records of an app in a collection with the same name, are ignored.
    """
    group = path_of("").split("/")[-2]
    every = Query(collection=group, group=True, where=where, order=[order], limit=_RECORDS_READ)
    found = (
        document
        for document in documents.find_all(every)
        if document.path == path_of(document.path.split("/")[1])
    )
    return list(itertools.islice(readable(found, read), _MAX_OVERDUE))


def _crashed_recap(lock: Document) -> RecapKey:
    return RecapKey(lock.path.split("/")[1], Lock.read(lock).recap_id)


@dataclass(frozen=True, slots=True)
class RecapStore:
    """Reads locks, recaps and ledgers.

    Each method is one round trip, except `last_recap` and `sent_at`.
    """

    documents: Documents

    def event_and_lock(self, event_id: str) -> tuple[Document | None, Lock | None]:
        """Return the event and its lock. Either is None if it does not exist."""
        event, found = self.documents.get_all([f"events/{event_id}", lock_path(event_id)])
        return event, Lock.read(found) if found else None

    def lock(self, event_id: str) -> Lock | None:
        """Return the event's lock, or None before the first recap."""
        found = self.documents.get(lock_path(event_id))
        return Lock.read(found) if found else None

    def check_schedule(self, event_id: str, version: Version) -> None:
        """Check that the record of the event's schedule still has this version.

        Raises:
            ChangedMeanwhileError: The record was written since, or deleted.
        """
        found = self.documents.get(schedule_path(event_id), ["state"])
        if found is None or found.version != version:
            raise ChangedMeanwhileError

    def crashed(self, now: datetime) -> list[RecapKey]:
        """Return the recaps of calls that never released their lock, oldest lease first."""
        where = [("leasedUntil", "<=", now)]
        return overdue(self.documents, lock_path, where, "leasedUntil", _crashed_recap)

    def release_without_recap(self, key: RecapKey, now: datetime) -> None:
        """Release the lock of a deleted recap, unless another call has the lock.

        Raises:
            ChangedMeanwhileError: Another call acquires the lock at the same time.
        """
        lock = self.lock(key.event_id)
        until = lock.leased_until if lock and lock.recap_id == key.recap_id else None
        if lock and until and until <= now:
            freed = {"leasedUntil": None, "unfinished": False}
            self.documents.commit(Update(lock_path(key.event_id), freed, version=lock.version))

    def last_recap(self, event_id: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return ID and fields of the event's last recap, or None. Two round trips."""
        lock = self.lock(event_id)
        found = self.documents.get(RecapKey(event_id, lock.recap_id).path) if lock else None
        return (found.id, found.fields) if found else None

    def batches(self, key: RecapKey) -> list[Batch]:
        """Return the batches of the ledger in order."""
        found = self.documents.find(Query(collection=f"{key.path}/batches"))
        return sorted(map(Batch.read, found), key=lambda batch: batch.number)

    def batch(self, key: RecapKey, number: int) -> Batch | None:
        """Return one batch of the ledger, or None if it does not exist."""
        found = self.documents.get(key.batch_path(number))
        return Batch.read(found) if found else None

    def sent_at(self, event_id: str) -> Mapping[str, datetime]:
        """Return when each guest, by ID, was last in a started batch.

        This includes guests with an address that was rejected.

        Reads every batch of the event's recaps.
        """
        latest: dict[str, datetime] = {}
        recaps = Query(collection=f"events/{event_id}/recaps", select=[NAME])
        for recap in self.documents.find(recaps):
            for batch in self.batches(RecapKey(event_id, recap.id)):
                if batch.state is BatchState.PLANNED or batch.started_at is None:
                    continue
                for guest in batch.mailed + batch.rejected:
                    latest[guest] = max(batch.started_at, latest.get(guest, batch.started_at))
        return latest


def acquiring_writes(
    before: Lock | None,
    lock: Lock,
    *,
    caller: Caller | None,
    arguments: RecapArguments,
    tenant_id: str,
    at: datetime,
) -> Sequence[Write]:
    """Return the writes with which a call acquires `lock`: the lock and the recap's record.

    A scheduled recap also writes its schedule, under the version that was read. So no recap is sent
    by a schedule that was ended, canceled or replaced meanwhile. The recap of `before` ends as
    interrupted if a new recap follows it.
    """
    event_id, schedule = arguments.event_id, arguments.schedule
    is_new = before is None or before.recap_id != lock.recap_id
    fresh = {"startedAt": at, **asdict(Counts()), **asdict(Tally())} if is_new else {}
    recap = (_recap_fields(caller, arguments, tenant_id) if caller else {}) | fresh
    changes: list[Write] = [
        Put(lock_path(event_id), lock.fields),
        Merge(RecapKey(event_id, lock.recap_id).path, recap),
    ]
    if schedule and not (before and before.holder == lock.holder):
        same = {"version": schedule.version}
        changes.append(Update(schedule_path(event_id), same, version=schedule.record))
    if before and before.unfinished and is_new:
        # The cooldown of the older recap is over, so no call can continue it.
        older = RecapKey(event_id, before.recap_id)
        changes.append(Merge(older.path, {"state": RecapState.INTERRUPTED}))
    return changes


def _recap_fields(caller: Caller, arguments: RecapArguments, tenant_id: str) -> dict[str, Any]:
    """Return the fields that a call writes into its recap, with the organizer's texts."""
    return {
        **arguments.mail_fields,
        "tenantId": tenant_id,
        "startedBy": caller.uid,
        "startedByEmail": caller.email,
        "state": RecapState.SENDING,
        **({"schedule": arguments.schedule.version} if arguments.schedule else {}),
    }
