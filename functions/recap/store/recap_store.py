"""Recaps in Firestore: the lock, the recap and its ledger of batches (design 4).

Every write is one commit on the condition that the records are as they were read, so that of any
number of calls at the same moment one goes on.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.recap.arguments import Mode
from functions.recap.ledger import (
    COOLDOWN,
    LEASE,
    Batch,
    BatchState,
    Lock,
    RecapState,
    Tally,
    resumable,
)


class TakenElsewhereError(Exception):
    """Another call has changed the batch since it was read; nothing was written."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to send a recap, until the lease ends."""

    event_id: str
    recap_id: str
    holder: str
    resumed: bool


class RecapStore:
    """Reads and writes of recaps; every method but `sent_at` is one or two round trips."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where there is none."""
        fields: Mapping[str, Any] | None = (
            self._event(event_id).get(retry=RETRY, timeout=CALL_SECONDS).to_dict()
        )
        return fields

    def take(self, event_id: str, mode: Mode, started_by: str, now: datetime) -> Claim:
        """Take the event's lock for a new recap, or for one that has batches left.

        Args:
            event_id: An event that exists.
            mode: Of the recap.
            started_by: The caller's uid.
            now: Aware.

        Raises:
            CallError: `aborted` or `resource-exhausted` (spec 3.3).
        """
        holder = secrets.token_hex(16)
        resumed: str | None = None
        while True:
            snapshot = self._lock(event_id).get(retry=RETRY, timeout=CALL_SECONDS)
            found = _lock(snapshot.to_dict() or {}) if snapshot.exists else None
            if found and found.holder == holder:  # the answer to the commit was lost
                return Claim(event_id, found.recap_id, holder, resumed is not None)
            resumed = resumable(found, now)
            claim = Claim(
                event_id,
                resumed or self._recaps(event_id).document().id,
                holder,
                resumed is not None,
            )
            commit = self._client.batch()
            self._hold(commit, claim, snapshot, now)
            recap: dict[str, Any] = {
                "mode": mode,
                "startedBy": started_by,
                "state": RecapState.SENDING,
            }
            if not resumed:
                recap |= {"startedAt": now, "sent": 0, "unknown": 0, "skipped": 0, "left": 0}
            commit.set(self._recap(event_id, claim.recap_id), recap, merge=True)
            if found and found.unfinished and not resumed:
                # Its cooldown is over, so nobody can continue that one any more.
                gone = self._recap(event_id, found.recap_id)
                commit.set(gone, {"state": RecapState.INTERRUPTED}, merge=True)
            try:
                commit.commit(retry=RETRY, timeout=CALL_SECONDS)
            except (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound):
                continue  # somebody else was first: look again
            return claim

    def _hold(
        self,
        commit: firestore.WriteBatch,
        claim: Claim,
        as_read: firestore.DocumentSnapshot[Any],
        now: datetime,
    ) -> None:
        fields = {
            "recapId": claim.recap_id,
            "holder": claim.holder,
            "leasedUntil": now + LEASE,
            # For a call that crashes: what it has sent must not be sent again before then.
            "cooldownUntil": now + COOLDOWN,
            "unfinished": True,
        }
        if as_read.exists:
            option = self._client.write_option(last_update_time=as_read.update_time)
            commit.update(as_read.reference, fields, option=option)
        else:
            commit.create(as_read.reference, fields)

    def batches(self, claim: Claim) -> list[Batch]:
        """The ledger as it stands, in order."""
        found = self._batches(claim).get(retry=RETRY, timeout=CALL_SECONDS)
        return sorted(map(_batch, found), key=lambda one: one.number)

    def sent_at(self, event_id: str) -> dict[str, datetime]:
        """When each guest, by id, was last sent a recap of the event."""
        latest: dict[str, datetime] = {}
        for recap in self._recaps(event_id).list_documents(retry=RETRY, timeout=CALL_SECONDS):
            batches = recap.collection("batches").get(retry=RETRY, timeout=CALL_SECONDS)
            for fields in (one.to_dict() or {} for one in batches):
                at = fields.get("startedAt")
                if fields["state"] == BatchState.PLANNED or at is None:
                    continue
                for guest in fields["recipients"]:
                    latest[guest] = max(at, latest.get(guest, at))
        return latest

    def plan(
        self, claim: Claim, batches: Iterable[Batch], *, skipped: int, left: int
    ) -> list[Batch]:
        """Write the batches of a recap that has sent nothing yet, in place of any older plan."""
        older = [one.reference for one in self._batches(claim).get(retry=RETRY)]
        commit = self._client.batch()
        for reference in older:
            commit.delete(reference)
        planned = list(batches)
        for one in planned:
            commit.set(
                self._batch(claim, one.number),
                {"state": one.state, "recipients": list(one.recipients)},
            )
        count = sum(len(one.recipients) for one in planned)
        commit.set(
            self._recap(claim.event_id, claim.recap_id),
            {"recipients": count, "skipped": skipped, "left": left + count},
            merge=True,
        )
        results = commit.commit(retry=RETRY, timeout=CALL_SECONDS)[len(older) :]
        return [
            replace(one, version=result.update_time)
            for one, result in zip(planned, results[: len(planned)], strict=True)
        ]

    def start(
        self,
        claim: Claim,
        batch: Batch,
        recipients: Sequence[str],
        *,
        skipped: int,
        now: datetime,
    ) -> Batch:
        """Record that the request of `batch` is about to leave, and to whom.

        Args:
            claim: Of the call.
            batch: As planned.
            recipients: Those of the batch who are still to have the mail.
            skipped: How many of the others have opted out since.
            now: Aware.

        Raises:
            TakenElsewhereError: another call did so.
        """
        return self._move(
            claim,
            replace(batch, state=BatchState.STARTED, recipients=tuple(recipients)),
            {"startedAt": now},
            {"left": len(recipients) - len(batch.recipients), "skipped": skipped},
        )

    def settle(
        self,
        claim: Claim,
        batch: Batch,
        tally: Tally,
        *,
        refused: Sequence[str] = (),
        note: str | None = None,
    ) -> Batch:
        """Record what became of a started batch, and count it in the recap.

        Args:
            claim: Of the call.
            batch: As it is to be; `refused` have left its recipients.
            tally: What is counted.
            refused: Recipients whose address the mail service does not take.
            note: The mail service's id of the request, or what went wrong.

        Raises:
            TakenElsewhereError: another call did so.
        """
        further = {"refused": list(refused)} if refused else {}
        counts = {
            "sent": tally.sent,
            "unknown": tally.unknown,
            "skipped": tally.refused,
            "left": -tally.sent - tally.refused,
        }
        return self._move(claim, batch, further | ({"note": note} if note else {}), counts)

    def finish(self, claim: Claim, state: RecapState, *, sent_now: bool, now: datetime) -> None:
        """Release the lock, unless another call has it by now, and say how the recap ended.

        Args:
            claim: Of the call.
            state: Of the recap; it says whether a cooldown follows.
            sent_now: Whether this call sent anything, so that the cooldown begins now.
            now: Aware.
        """
        lock = self._lock(claim.event_id)
        snapshot = lock.get(retry=RETRY, timeout=CALL_SECONDS)
        found = _lock(snapshot.to_dict() or {}) if snapshot.exists else None
        if found is None or found.holder != claim.holder:
            return
        cooldown = now + COOLDOWN if sent_now else found.cooldown_until
        commit = self._client.batch()
        commit.update(
            lock,
            {
                "leasedUntil": None,
                "cooldownUntil": cooldown if state.cools_down else None,
                "unfinished": state is RecapState.INTERRUPTED,
            },
            option=self._client.write_option(last_update_time=snapshot.update_time),
        )
        recap = self._recap(claim.event_id, claim.recap_id)
        commit.set(recap, {"state": state, "finishedAt": now}, merge=True)
        try:
            commit.commit(retry=RETRY, timeout=CALL_SECONDS)
        except (exceptions.FailedPrecondition, exceptions.NotFound):
            return  # the answer to a first commit was lost, or the lease was over

    def _move(
        self, claim: Claim, batch: Batch, fields: Mapping[str, Any], counts: Mapping[str, int]
    ) -> Batch:
        reference = self._batch(claim, batch.number)
        commit = self._client.batch()
        commit.update(
            reference,
            {
                "state": batch.state,
                "recipients": list(batch.recipients),
                "holder": claim.holder,
                **fields,
            },
            option=self._client.write_option(last_update_time=batch.version),
        )
        increments = {name: firestore.Increment(count) for name, count in counts.items() if count}
        if increments:
            recap = self._recap(claim.event_id, claim.recap_id)
            commit.set(recap, increments, merge=True)
        try:
            written = commit.commit(retry=RETRY, timeout=CALL_SECONDS)
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            found = reference.get(retry=RETRY, timeout=CALL_SECONDS)
            now_there = found.to_dict() or {}
            if (now_there.get("holder"), now_there.get("state")) != (claim.holder, batch.state):
                raise TakenElsewhereError from changed
            # It is there: only the answer to a first commit was lost.
            return replace(batch, version=found.update_time)
        return replace(batch, version=written[0].update_time)

    def _event(self, event_id: str) -> firestore.DocumentReference:
        return self._client.collection("events").document(event_id)

    def _lock(self, event_id: str) -> firestore.DocumentReference:
        return self._client.document("events", event_id, "locks", "recap")

    def _recaps(self, event_id: str) -> firestore.CollectionReference:
        recaps: firestore.CollectionReference = self._event(event_id).collection("recaps")
        return recaps

    def _recap(self, event_id: str, recap_id: str) -> firestore.DocumentReference:
        return self._recaps(event_id).document(recap_id)

    def _batches(self, claim: Claim) -> firestore.CollectionReference:
        batches: firestore.CollectionReference = self._recap(
            claim.event_id, claim.recap_id
        ).collection("batches")
        return batches

    def _batch(self, claim: Claim, number: int) -> firestore.DocumentReference:
        return self._batches(claim).document(str(number))


def _lock(fields: Mapping[str, Any]) -> Lock:
    return Lock(
        recap_id=fields["recapId"],
        holder=fields["holder"],
        leased_until=fields.get("leasedUntil"),
        cooldown_until=fields.get("cooldownUntil"),
        unfinished=fields.get("unfinished") is True,
    )


def _batch(snapshot: firestore.DocumentSnapshot[Any]) -> Batch:
    fields = snapshot.to_dict() or {}
    return Batch(
        number=int(snapshot.id),
        state=BatchState(fields["state"]),
        recipients=tuple(fields["recipients"]),
        version=snapshot.update_time,
    )
