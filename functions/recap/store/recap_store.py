"""Recaps in Firestore: the lock, the recap and its ledger of batches (design 4).

The lock is taken in a transaction. Every later step is one commit that fails where a record was
written since the call read it; the call does not read it again. So of any number of simultaneous
calls one continues.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from google.api_core import exceptions
from google.api_core.retry import if_exception_type
from google.cloud import firestore

from functions.app_names import DATA_MODEL, AppNames
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.mail.tracking import Tally
from functions.recap.ledger import Batch, BatchState, Counts, Lock, RecapState
from functions.recap.ports import RecapKey, StoredLock, Taking
from functions.records import ChangedMeanwhileError, Version

_IN_TRANSACTION: Final = RETRY.with_predicate(
    if_exception_type(
        exceptions.ServiceUnavailable,
        exceptions.DeadlineExceeded,
        exceptions.InternalServerError,
        exceptions.ResourceExhausted,
    )
)
"""Without `Aborted`, after which the whole transaction has to be repeated."""

_CHANGED: Final = (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound)


class RecapStore:
    """See `ports.Recaps`; every method except `take` and `sent_at` is one round trip."""

    def __init__(self, client: firestore.Client, names: AppNames = DATA_MODEL) -> None:
        self._client = client
        self._names = names

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `Recaps`."""
        event = self._client.document(self._names.event_path(event_id))
        fields: Mapping[str, Any] | None = event.get(retry=RETRY, timeout=CALL_SECONDS).to_dict()
        return None if fields is None else self._names.event.read(fields)

    def lock(self, event_id: str) -> StoredLock | None:
        """See `Recaps`."""
        return _stored(self._lock(event_id).get(retry=RETRY, timeout=CALL_SECONDS))

    def take(self, event_id: str, decide: Callable[[Lock | None], Taking]) -> StoredLock:
        """See `Recaps`."""
        reference = self._lock(event_id)

        @firestore.transactional
        def read_and_write(transaction: firestore.Transaction) -> Lock:
            found = _stored(
                reference.get(transaction=transaction, retry=_IN_TRANSACTION, timeout=CALL_SECONDS)
            )
            taking = decide(found.lock if found else None)
            transaction.set(reference, _lock_fields(taking.lock))
            self._write_heads(transaction, event_id, taking)
            return taking.lock

        transaction = self._client.transaction()
        try:
            lock = read_and_write(transaction)
        except (
            exceptions.Aborted,
            ValueError,
        ) as contended:  # the library gives up after five tries
            raise ChangedMeanwhileError from contended
        [lock_written, *_] = transaction.write_results or []
        return StoredLock(lock, lock_written.update_time)

    def _write_heads(self, commit: firestore.WriteBatch, event_id: str, taking: Taking) -> None:
        head = taking.head
        recap: dict[str, Any] = {
            "tenantId": head.tenant_id,
            "mode": head.mode,
            "startedBy": head.started_by,
            "startedByEmail": head.wording.sender,
            "subject": head.wording.subject,
            "message": head.wording.message,
            "state": RecapState.SENDING,
        }
        if head.began:
            recap |= {"startedAt": head.began, **asdict(Counts()), **asdict(Tally())}
        commit.set(self._recap(RecapKey(event_id, taking.lock.recap_id)), recap, merge=True)
        if taking.ended:
            state = {"state": RecapState.INTERRUPTED}
            commit.set(self._recap(RecapKey(event_id, taking.ended)), state, merge=True)

    def batches(self, key: RecapKey) -> list[Batch]:
        """See `Recaps`."""
        found = self._batches(key).get(retry=RETRY, timeout=CALL_SECONDS)
        return sorted(map(_batch, found), key=lambda batch: batch.number)

    def batch(self, key: RecapKey, number: int) -> Batch | None:
        """See `Recaps`."""
        found = self._batch(key, number).get(retry=RETRY, timeout=CALL_SECONDS)
        return _batch(found) if found.exists else None

    def plan(
        self,
        key: RecapKey,
        older: Iterable[Batch],
        batches: Sequence[Batch],
        counts: Counts,
        held: StoredLock,
    ) -> tuple[list[Batch], Version]:
        """See `Recaps`."""
        commit = self._client.batch()
        self._write_lock(commit, key.event_id, held)
        for batch in batches:
            commit.create(self._batch(key, batch.number), _batch_fields(batch))
        for batch in older:
            option = self._client.write_option(last_update_time=batch.version)
            commit.delete(self._batch(key, batch.number), option=option)
        recipients = sum(len(batch.recipients) for batch in batches)
        commit.set(self._recap(key), {"recipients": recipients, **asdict(counts)}, merge=True)
        lock_written, *written = _commit(commit)
        planned = [
            replace(batch, version=result.update_time)
            for batch, result in zip(batches, written, strict=False)
        ]
        return planned, lock_written.update_time

    def start(
        self, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
    ) -> tuple[Batch, Version]:
        """See `Recaps`."""
        commit = self._client.batch()
        self._write_lock(commit, key.event_id, held)
        self._write_batch(commit, key, batch, change)
        lock_written, written, *_ = _commit(commit)
        return replace(batch, version=written.update_time), lock_written.update_time

    def settle(self, key: RecapKey, batch: Batch, change: Counts) -> Batch:
        """See `Recaps`."""
        commit = self._client.batch()
        self._write_batch(commit, key, batch, change)
        return replace(batch, version=_commit(commit)[0].update_time)

    def release(self, key: RecapKey, held: StoredLock, state: RecapState, at: datetime) -> None:
        """See `Recaps`."""
        commit = self._client.batch()
        self._write_lock(commit, key.event_id, held)
        commit.set(self._recap(key), {"state": state, "finishedAt": at}, merge=True)
        _commit(commit)

    def sent_at(self, event_id: str) -> Mapping[str, datetime]:
        """See `Recaps`."""
        latest: dict[str, datetime] = {}
        for recap in self._recaps(event_id).list_documents(retry=RETRY, timeout=CALL_SECONDS):
            batches = recap.collection("batches").get(retry=RETRY, timeout=CALL_SECONDS)
            for batch in map(_batch, batches):
                if batch.state is BatchState.PLANNED or batch.started_at is None:
                    continue
                for guest in batch.recipients + batch.refused:
                    latest[guest] = max(batch.started_at, latest.get(guest, batch.started_at))
        return latest

    def _write_lock(self, commit: firestore.WriteBatch, event_id: str, held: StoredLock) -> None:
        option = self._client.write_option(last_update_time=held.version)
        commit.update(self._lock(event_id), _lock_fields(held.lock), option=option)

    def _write_batch(
        self, commit: firestore.WriteBatch, key: RecapKey, batch: Batch, change: Counts
    ) -> None:
        option = self._client.write_option(last_update_time=batch.version)
        commit.update(self._batch(key, batch.number), _batch_fields(batch), option=option)
        increments = {
            name: firestore.Increment(count) for name, count in asdict(change).items() if count
        }
        if increments:
            commit.set(self._recap(key), increments, merge=True)

    def _event(self, event_id: str) -> firestore.DocumentReference:
        return self._client.collection("events").document(event_id)

    def _lock(self, event_id: str) -> firestore.DocumentReference:
        return self._client.document("events", event_id, "locks", "recap")

    def _recaps(self, event_id: str) -> firestore.CollectionReference:
        recaps: firestore.CollectionReference = self._event(event_id).collection("recaps")
        return recaps

    def _recap(self, key: RecapKey) -> firestore.DocumentReference:
        return self._recaps(key.event_id).document(key.recap_id)

    def _batches(self, key: RecapKey) -> firestore.CollectionReference:
        batches: firestore.CollectionReference = self._recap(key).collection("batches")
        return batches

    def _batch(self, key: RecapKey, number: int) -> firestore.DocumentReference:
        return self._batches(key).document(str(number))


def _commit(commit: firestore.WriteBatch) -> list[Any]:
    try:
        written: list[Any] = commit.commit(retry=RETRY, timeout=CALL_SECONDS)
    except _CHANGED as changed:
        raise ChangedMeanwhileError from changed
    return written


def _stored(found: firestore.DocumentSnapshot[Any]) -> StoredLock | None:
    return StoredLock(_lock(found.to_dict() or {}), found.update_time) if found.exists else None


def _lock(fields: Mapping[str, Any]) -> Lock:
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


def _batch(snapshot: firestore.DocumentSnapshot[Any]) -> Batch:
    fields = snapshot.to_dict() or {}
    return Batch(
        number=int(snapshot.id),
        state=BatchState(fields["state"]),
        recipients=tuple(fields["recipients"]),
        refused=tuple(fields.get("refused") or ()),
        opted_out=fields.get("optedOut") or 0,
        holder=fields.get("holder") or "",
        started_at=fields.get("startedAt"),
        note=fields.get("note"),
        version=snapshot.update_time,
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
