"""Recaps in Firestore: the lock, the recap and its ledger of batches (design 4).

The lock is taken in a transaction. Every later step is one commit that fails where a record was
written since the call read it; the call does not read it again. So of any number of simultaneous
calls one continues.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from functions.documents.document import Document, Version
from functions.documents.documents import Documents
from functions.documents.query import NAME, Query
from functions.documents.write import Create, Delete, Merge, Put, Update, Write
from functions.mail.tracking import Tally
from functions.recap.ledger.batch import Batch, BatchState, Counts, RecapState
from functions.recap.ledger.lock import Lock, RecapHead, RecapKey, StoredLock, Taking


@dataclass(frozen=True, slots=True)
class RecapStore:
    """The locks, the recaps and their ledgers. Every write is one atomic commit.

    Every method except `take` and `sent_at` is one round trip. A write raises
    `ChangedMeanwhileError` where the lock or a batch was written since it was read.
    """

    documents: Documents

    def event(self, event_id: str) -> Document | None:
        """The event; None where it does not exist."""
        return self.documents.get(f"events/{event_id}")

    def lock(self, event_id: str) -> StoredLock | None:
        """The event's lock; None before the first recap."""
        found = self.documents.get(_lock_path(event_id))
        return StoredLock(lock_of(found.fields), found.version) if found else None

    def take(
        self, event_id: str, head: RecapHead, decide: Callable[[Lock | None], Taking]
    ) -> tuple[Taking, Version]:
        """Take the event's lock in one transaction: read the lock, let `decide` judge, write.

        `decide` raises to refuse. It is called again where the lock was written meanwhile, also by
        this very call where the answer to its commit was lost.

        Returns:
            The decision, and the version of the lock.

        Raises:
            ChangedMeanwhileError: other calls kept writing the lock.
        """
        decided: list[Taking] = []

        def writes(found: Document | None) -> Sequence[Write]:
            taking = decide(lock_of(found.fields) if found else None)
            decided.append(taking)
            return [
                Put(_lock_path(event_id), _lock_fields(taking.lock)),
                *_heads(event_id, head, taking),
            ]

        lock_written, *_ = self.documents.transact(_lock_path(event_id), writes)
        return decided[-1], lock_written.version

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
        held: StoredLock,
    ) -> tuple[list[Batch], Version]:
        """Replace the `older` batches by `batches`, and set the recap's counts.

        The lock `held` is written in the same commit, so that a call without the lock cannot plan.

        Returns:
            The batches and the lock's version, as written.
        """
        recipients = sum(len(batch.recipients) for batch in batches)
        lock_written, *written = self.documents.commit(
            _held(key, held),
            *(Create(_batch_path(key, batch.number), _batch_fields(batch)) for batch in batches),
            *(Delete(_batch_path(key, batch.number), batch.version) for batch in older),
            Merge(key.path, {"recipients": recipients, **asdict(counts)}),
        )
        planned = [
            replace(batch, version=created.version)
            for batch, created in zip(batches, written, strict=False)
        ]
        return planned, lock_written.version

    def start(
        self, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
    ) -> tuple[Batch, Version]:
        """Record that a request of the batch is about to be sent, and write the lock `held`.

        Returns:
            The batch and the lock's version, as written.
        """
        lock_written, written, *_ = self.documents.commit(
            _held(key, held), *_changed(key, batch, change)
        )
        return replace(batch, version=written.version), lock_written.version

    def settle(self, key: RecapKey, batch: Batch, change: Counts) -> Batch:
        """Record the result of a started batch; adds `change` to the recap's counts."""
        written, *_ = self.documents.commit(*_changed(key, batch, change))
        return replace(batch, version=written.version)

    def release(self, key: RecapKey, held: StoredLock, state: RecapState, at: datetime) -> None:
        """Release the lock, and record the recap's state."""
        recap = Merge(key.path, {"state": state, "finishedAt": at})
        self.documents.commit(_held(key, held), recap)

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
                for guest in batch.recipients + batch.refused:
                    latest[guest] = max(batch.started_at, latest.get(guest, batch.started_at))
        return latest


def _lock_path(event_id: str) -> str:
    return f"events/{event_id}/locks/recap"


def _batch_path(key: RecapKey, number: int) -> str:
    return f"{key.path}/batches/{number}"


def _heads(event_id: str, head: RecapHead, taking: Taking) -> Sequence[Write]:
    recap: dict[str, Any] = {
        "tenantId": head.tenant_id,
        "mode": head.mode,
        "startedBy": head.started_by,
        "startedByEmail": head.sender,
        "subject": head.subject,
        "message": head.message,
        "state": RecapState.SENDING,
    }
    if taking.began:
        recap |= {"startedAt": taking.began, **asdict(Counts()), **asdict(Tally())}
    writes = [Merge(RecapKey(event_id, taking.lock.recap_id).path, recap)]
    if taking.ended:
        state = {"state": RecapState.INTERRUPTED}
        writes.append(Merge(RecapKey(event_id, taking.ended).path, state))
    return writes


def _held(key: RecapKey, held: StoredLock) -> Update:
    return Update(_lock_path(key.event_id), _lock_fields(held.lock), version=held.version)


def _changed(key: RecapKey, batch: Batch, change: Counts) -> Sequence[Write]:
    written = Update(_batch_path(key, batch.number), _batch_fields(batch), version=batch.version)
    counts = {name: count for name, count in asdict(change).items() if count}
    return [written, Merge(key.path, add=counts)] if counts else [written]


def lock_of(fields: Mapping[str, Any]) -> Lock:
    """The lock in a document with these fields."""
    return Lock(
        recap_id=fields["recapId"],
        holder=fields["holder"],
        leased_until=fields.get("leasedUntil"),
        cooldown_until=fields.get("cooldownUntil"),
        unfinished=fields.get("unfinished") is True,
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
        "holder": batch.holder,
        "startedAt": batch.started_at,
        "note": batch.note,
    }
