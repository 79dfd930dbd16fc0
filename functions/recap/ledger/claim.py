"""A call's claim on a recap: the lock, and the ledger as the call knows it (spec 3.3, design 3.41).

A call that takes the lock ends the claim of the call before, which may still be running after its
lease. The older call cannot start another batch, because each start is written together with the
lock. Its started batches count as sent, and no call repeats them.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final

from functions import log
from functions.firestore.model import ChangedMeanwhileError
from functions.outside import Clock
from functions.recap.ledger.batch import (
    COOLDOWN,
    RECIPIENTS_PER_CALL,
    Batch,
    BatchState,
    Counts,
    Lock,
    RecapKey,
    RecapState,
    last_mail,
    plan,
    recap_state,
    total,
)
from functions.recap.ledger.recap_store import RecapStore

_CRASHED: Final = "the call ended before its answer"


@dataclass(slots=True)
class Claim:
    """The right to send a recap until the lease ends; one instance serves all threads of a call.

    Attributes:
        event_id: The event.
        before: The lock before this call took it; None where the event had no recap.
        lock: The lock, as this call last wrote it.
        one_at_a_time: A mutex for the threads of this call.
        ledger: The batches by number, as this call last read or wrote them.
    """

    recaps: RecapStore
    event_id: str
    before: Lock | None
    lock: Lock
    clock: Clock
    one_at_a_time: AbstractContextManager[object]
    ledger: dict[int, Batch] = field(default_factory=dict)

    @property
    def key(self) -> RecapKey:
        """The identity of the recap."""
        return RecapKey(self.event_id, self.lock.recap_id)

    @property
    def resumed(self) -> bool:
        """Whether the recap was begun by an earlier call."""
        return self.before is not None and self.before.recap_id == self.lock.recap_id

    @property
    def in_time(self) -> bool:
        """Whether the lease still runs, by this machine's clock."""
        until = self.lock.leased_until
        return until is not None and self.clock.now() < until

    @property
    def is_held(self) -> bool:
        """Whether this call still has the lock, by the record."""
        return self._recorded_lock() is not None

    def _recorded_lock(self) -> Lock | None:
        """The lock as it is recorded now; None where another call has it."""
        lock = self.recaps.lock(self.event_id)
        return lock if lock and lock.holder == self.lock.holder else None

    def read_ledger(self) -> None:
        """Read the ledger; the started batches of a crashed call count as sent from now on."""
        self.ledger = {batch.number: batch for batch in self.recaps.batches(self.key)}
        for number in self.ledger:
            self._settle_crashed(number)

    def _settle_crashed(self, number: int) -> None:
        while self.ledger[number].state is BatchState.STARTED:
            try:
                batch = self.settle(self.ledger[number], BatchState.UNKNOWN, _CRASHED)
                log.error(
                    "recap.batch",
                    eventId=self.event_id,
                    recapId=self.key.recap_id,
                    batch=number,
                    recipients=len(batch.recipients),
                    state=batch.state,
                    problem=_CRASHED,
                )
            except ChangedMeanwhileError:
                # That call is alive after all, and has just settled the batch itself.
                found = self.recaps.batch(self.key, number)
                if found is None:
                    raise
                self.ledger[number] = found

    @property
    def next_number(self) -> int:
        """Number of the next batch."""
        return max(self.ledger, default=-1) + 1

    def plan(self, batches: Sequence[Batch], *, skipped: int, left: int) -> None:
        """Write a plan; it replaces an older plan of which nothing was sent.

        `skipped` and `left` are guests who are in no batch.

        Raises:
            ChangedMeanwhileError: another call has taken over the recap.
        """
        counts = total(batches) + Counts(skipped=skipped, left=left)
        planned, self.lock = self.recaps.plan(
            self.key, self.ledger.values(), batches, counts, self.lock
        )
        self.ledger = {batch.number: batch for batch in planned}

    def resend(self, reported: Collection[str]) -> None:
        """Plan the unknown batches anew, without the `reported` recipients, who have a mail event.

        Raises:
            ChangedMeanwhileError: another call has taken over the recap.
        """
        older = [
            batch.confirmed(reported)
            for batch in self.ledger.values()
            if batch.state is BatchState.UNKNOWN
        ]
        batches = plan(
            (batch.resent for batch in older),
            per_batch=RECIPIENTS_PER_CALL,
            first=self.next_number,
        )
        if older:
            changed, self.lock = self.recaps.resend(self.key, older, batches, self.lock)
            self.ledger |= {batch.number: batch for batch in changed}

    def start(self, batch: Batch) -> Batch:
        """Record that a request of `batch` is about to be sent; called before every request.

        Args:
            batch: Planned, or started by this call, which knows that its mails were refused; with
                the recipients who still get the mail.

        Raises:
            ChangedMeanwhileError: another call has the batch or the lock.
        """
        with self.one_at_a_time:  # each start needs the lock's version after the last start
            now = self.clock.now()
            if not self.in_time:
                raise ChangedMeanwhileError
            # The request may be refused; `release` sets the cooldown by what was sent.
            lock = replace(self.lock, cooldown_until=now + COOLDOWN)
            started = batch.started(lock.holder, now)
            self.ledger[batch.number], self.lock = self._start(started, lock)
            return self.ledger[batch.number]

    def _start(self, started: Batch, lock: Lock) -> tuple[Batch, Lock]:
        known = self.ledger[started.number]
        while True:
            try:
                return self.recaps.start(self.key, started, started.counts - known.counts, lock)
            except ChangedMeanwhileError:
                recorded = self._recorded_lock()
                found = self.recaps.batch(self.key, started.number)
                if recorded is None:
                    raise
                stale = recorded.version != lock.version
                lock = replace(lock, version=recorded.version)
                if found == started:
                    return found, lock  # only the answer was lost
                if found != known or not stale:
                    raise
                # The answer to an earlier write of the lock was lost; this write is yet to be made.

    def settle(self, batch: Batch, state: BatchState, note: str | None = None) -> Batch:
        """Record the result of a started batch, with the recipients who are left.

        Raises:
            ChangedMeanwhileError: another call has settled the batch.
        """
        settled = batch.settled(state, self.lock.holder, note)
        change = settled.counts - self.ledger[batch.number].counts
        try:
            settled = self.recaps.settle(self.key, settled, change)
        except ChangedMeanwhileError:
            found = self.recaps.batch(self.key, batch.number)
            if found != settled:
                raise
            settled = found
        self.ledger[batch.number] = settled
        return settled

    def state(self, *, failed: bool) -> RecapState:
        """The recap's state at the end of this call.

        Args:
            failed: Whether the call failed before it sent the batches.

        Raises:
            Exception: the ledger could not be read. The lease ends by itself, and the next call
                continues from the ledger.
        """
        if failed or recap_state(self.ledger.values()) not in (RecapState.SENT, RecapState.EMPTY):
            # A write may have succeeded whose answer was lost.
            recorded = self._recorded_lock()
            if recorded:
                self.lock = recorded
                self.ledger = {batch.number: batch for batch in self.recaps.batches(self.key)}
        state = recap_state(self.ledger.values())
        return RecapState.FAILED if failed and state is RecapState.EMPTY else state

    def release(self, state: RecapState) -> RecapState | None:
        """Release the lock, unless another call has taken it.

        Args:
            state: The recap's state.

        Returns:
            The state; None where another call has the recap.

        Raises:
            Exception: the lock could not be written. The lease ends by itself, and the next call
                continues from the ledger.
        """
        last = last_mail(self.ledger.values())
        lock = replace(
            self.lock,
            leased_until=None,
            cooldown_until=last + COOLDOWN if last else None,
            unfinished=state is RecapState.INTERRUPTED,
        )
        try:
            self.recaps.release(self.key, lock, state, self.clock.now())
        except ChangedMeanwhileError:
            if self.recaps.lock(self.event_id) != lock:
                return None
        return state
