"""Recaps in Firestore: the lock, the recap and its ledger of batches (design 4).

The lock is taken in a transaction. Every later step is one commit that fails where a record was
written since the call read it; the call does not read it again. So of any number of simultaneous
calls one continues.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from functions.call_rules import Caller
from functions.firestore.model import (
    NAME,
    ChangedMeanwhileError,
    Create,
    Delete,
    Document,
    Documents,
    Merge,
    Put,
    Query,
    Update,
    Write,
)
from functions.mail.mail_status import Tally
from functions.outside import Clock
from functions.recap.ledger.batch import (
    Batch,
    BatchState,
    Counts,
    Lock,
    RecapKey,
    RecapState,
    taken,
    total,
)
from functions.recap.recap_arguments import RecapArguments


@dataclass(frozen=True, slots=True)
class RecapStore:
    """The locks, the recaps and their ledgers. Every write is one atomic commit.

    Every method except `take`, `last_recap` and `sent_at` is one round trip. Every write except
    `take` raises `ChangedMeanwhileError` where the lock or a batch was written since it was read,
    and returns the lock and the batches with the versions that it wrote.
    """

    documents: Documents

    def event_and_lock(self, event_id: str) -> tuple[Document | None, Lock | None]:
        """The event and its lock; None where the event does not exist or had no recap."""
        event, found = self.documents.get_all([f"events/{event_id}", _lock_path(event_id)])
        return event, lock_of(found) if found else None

    def lock(self, event_id: str) -> Lock | None:
        """The event's lock; None before the first recap."""
        found = self.documents.get(_lock_path(event_id))
        return lock_of(found) if found else None

    def take(
        self,
        caller: Caller,
        arguments: RecapArguments,
        tenant_id: str,
        *,
        holder: str,
        new_id: Callable[[], str],
        clock: Clock,
    ) -> tuple[Lock | None, Lock]:
        """Take the event's lock for the call `holder`, in one transaction; begin or continue.

        The lock is judged again where it was written meanwhile, also by this very call where the
        answer to its commit was lost. `tenant_id` is empty where the event has none.

        Returns:
            The lock before and after.

        Raises:
            CallError: as `taken` says.
        """
        locks: list[tuple[Lock | None, Lock]] = []

        def writes(found: Document | None) -> Sequence[Write]:
            before, at = lock_of(found) if found else None, clock.now()
            lock = taken(before, holder=holder, recap_id=new_id(), at=at, again=arguments.again)
            locks.append((before, lock))
            is_new = before is None or before.recap_id != lock.recap_id
            fresh = {"startedAt": at, **asdict(Counts()), **asdict(Tally())} if is_new else {}
            recap = _head(caller, arguments, tenant_id) | fresh
            taking: list[Write] = [
                Put(_lock_path(arguments.event_id), _lock_fields(lock)),
                Merge(RecapKey(arguments.event_id, lock.recap_id).path, recap),
            ]
            if before and before.unfinished and is_new:
                # The cooldown of the older recap is over, so no call can continue it.
                older = RecapKey(arguments.event_id, before.recap_id)
                taking.append(Merge(older.path, {"state": RecapState.INTERRUPTED}))
            return taking

        while True:
            with suppress(ChangedMeanwhileError):  # other calls hold the lock only shortly
                lock_written, *_ = self.documents.transact(_lock_path(arguments.event_id), writes)
                before, lock = locks[-1]
                return before, replace(lock, version=lock_written.version)

    def last_recap(self, event_id: str) -> tuple[str, Mapping[str, Any]] | None:
        """Id and fields of the event's last recap; None before the first. Two round trips."""
        lock = self.lock(event_id)
        found = self.documents.get(RecapKey(event_id, lock.recap_id).path) if lock else None
        return (found.id, found.fields) if found else None

    def batches(self, key: RecapKey) -> list[Batch]:
        """The batches of the ledger, in order."""
        found = self.documents.find(Query(collection=f"{key.path}/batches"))
        return sorted(map(batch_of, found), key=lambda batch: batch.number)

    def batch(self, key: RecapKey, number: int) -> Batch | None:
        """One batch of the ledger; None where it does not exist."""
        found = self.documents.get(_batch_path(key, number))
        return batch_of(found) if found else None

    def plan(
        self,
        key: RecapKey,
        older: Iterable[Batch],
        batches: Sequence[Batch],
        counts: Counts,
        lock: Lock,
    ) -> tuple[list[Batch], Lock]:
        """Replace the `older` batches by `batches`, and set the recap's counts.

        The lock is written in the same commit, so that a call without it cannot plan.
        """
        recipients = sum(len(batch.recipients) for batch in batches)
        lock_written, *written = self.documents.commit(
            _held(key, lock),
            *(Create(_batch_path(key, batch.number), _batch_fields(batch)) for batch in batches),
            *(Delete(_batch_path(key, batch.number), batch.version) for batch in older),
            Merge(key.path, {"recipients": recipients, **asdict(counts)}),
        )
        planned = [
            replace(batch, version=created.version)
            for batch, created in zip(batches, written, strict=False)
        ]
        return planned, replace(lock, version=lock_written.version)

    def start(self, key: RecapKey, batch: Batch, change: Counts, lock: Lock) -> tuple[Batch, Lock]:
        """Record that a request of the batch is about to be sent, and write the lock."""
        lock_written, written, *_ = self.documents.commit(
            _held(key, lock), *_changed(key, batch, change)
        )
        return (
            replace(batch, version=written.version),
            replace(lock, version=lock_written.version),
        )

    def resend(
        self, key: RecapKey, older: Sequence[Batch], batches: Sequence[Batch], lock: Lock
    ) -> tuple[list[Batch], Lock]:
        """Write the `older` batches, and create `batches` for recipients who left them.

        The lock is written in the same commit.
        """
        # A recipient counts as sent, and as unknown, in neither until the new batch is settled.
        moved = total(batches).left
        confirmed = sum(len(batch.recipients) for batch in older)
        lock_written, *written = self.documents.commit(
            _held(key, lock),
            *(
                Update(_batch_path(key, batch.number), _batch_fields(batch), version=batch.version)
                for batch in older
            ),
            *(Create(_batch_path(key, batch.number), _batch_fields(batch)) for batch in batches),
            Merge(key.path, add={"sent": -moved, "unknown": -moved - confirmed, "left": moved}),
        )
        changed = [
            replace(batch, version=result.version)
            for batch, result in zip([*older, *batches], written, strict=False)
        ]
        return changed, replace(lock, version=lock_written.version)

    def settle(self, key: RecapKey, batch: Batch, change: Counts) -> Batch:
        """Record the result of a started batch; adds `change` to the recap's counts."""
        written, *_ = self.documents.commit(*_changed(key, batch, change))
        return replace(batch, version=written.version)

    def release(self, key: RecapKey, lock: Lock, state: RecapState, at: datetime) -> None:
        """Write the released lock, and record the recap's state."""
        recap = Merge(key.path, {"state": state, "finishedAt": at})
        self.documents.commit(_held(key, lock), recap)

    def sent_at(self, event_id: str) -> Mapping[str, datetime]:
        """When each guest, by id, was last in a started batch, even if the address was refused.

        Reads every batch of the event's recaps.
        """
        latest: dict[str, datetime] = {}
        recaps = Query(collection=f"events/{event_id}/recaps", select=[NAME])
        for recap in self.documents.find(recaps):
            for batch in self.batches(RecapKey(event_id, recap.id)):
                if batch.state is BatchState.PLANNED or batch.started_at is None:
                    continue
                for guest in batch.mailed + batch.refused:
                    latest[guest] = max(batch.started_at, latest.get(guest, batch.started_at))
        return latest


def _lock_path(event_id: str) -> str:
    return f"events/{event_id}/locks/recap"


def _batch_path(key: RecapKey, number: int) -> str:
    return f"{key.path}/batches/{number}"


def _head(caller: Caller, arguments: RecapArguments, tenant_id: str) -> dict[str, Any]:
    """What a call writes into its recap; the texts show later what the guests got."""
    return {
        "tenantId": tenant_id,
        "mode": arguments.mode,
        "startedBy": caller.uid,
        "startedByEmail": caller.email,
        "subject": arguments.subject,
        "message": arguments.message,
        "state": RecapState.SENDING,
        **({"schedule": arguments.schedule} if arguments.schedule else {}),
    }


def _held(key: RecapKey, lock: Lock) -> Update:
    return Update(_lock_path(key.event_id), _lock_fields(lock), version=lock.version)


def _changed(key: RecapKey, batch: Batch, change: Counts) -> Sequence[Write]:
    written = Update(_batch_path(key, batch.number), _batch_fields(batch), version=batch.version)
    counts = {name: count for name, count in asdict(change).items() if count}
    return [written, Merge(key.path, add=counts)] if counts else [written]


def lock_of(found: Document) -> Lock:
    """The lock in a document."""
    fields = found.fields
    return Lock(
        recap_id=fields["recapId"],
        holder=fields["holder"],
        leased_until=fields.get("leasedUntil"),
        cooldown_until=fields.get("cooldownUntil"),
        unfinished=fields.get("unfinished") is True,
        version=found.version,
    )


def _lock_fields(lock: Lock) -> dict[str, Any]:
    return {
        "recapId": lock.recap_id,
        "holder": lock.holder,
        "leasedUntil": lock.leased_until,
        "cooldownUntil": lock.cooldown_until,
        "unfinished": lock.unfinished,
    }


def batch_of(found: Document) -> Batch:
    """The batch in a document."""
    fields = found.fields
    return Batch(
        number=int(found.id),
        state=BatchState(fields["state"]),
        recipients=tuple(fields["recipients"]),
        refused=tuple(fields.get("refused") or ()),
        opted_out=fields.get("optedOut") or 0,
        resent=tuple(fields.get("resent") or ()),
        holder=fields.get("holder") or "",
        started_at=fields.get("startedAt"),
        note=fields.get("note"),
        version=found.version,
    )


def _batch_fields(batch: Batch) -> dict[str, Any]:
    """The fields of the batch's document."""
    return {
        "state": batch.state,
        "recipients": list(batch.recipients),
        "refused": list(batch.refused),
        "optedOut": batch.opted_out,
        "resent": list(batch.resent),
        "holder": batch.holder,
        "startedAt": batch.started_at,
        "note": batch.note,
    }
