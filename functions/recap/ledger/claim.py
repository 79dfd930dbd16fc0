"""A call's claim on a recap: the lock, and the ledger as the call knows it (spec 3.3, design 3.41).

A call that takes the lock ends the claim of the call before, which may still be running after its
lease. The older call cannot start another batch, because each start is written together with the
lock. Its started batches count as sent, and no call repeats them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from functions.documents.document import Version
from functions.documents.refusals import ChangedMeanwhileError
from functions.recap.ledger.batch import (
    Batch,
    BatchState,
    Counts,
    RecapState,
    last_mail,
    recap_state,
)
from functions.recap.ledger.lock import (
    COOLDOWN,
    Lock,
    RecapHead,
    RecapKey,
    StoredLock,
    Taking,
    taking,
)
from functions.recap.ledger.recap_store import RecapStore

_CRASHED: Final = "the call ended before its answer"


@dataclass(slots=True, kw_only=True)
class Claim:
    """The right to send a recap until the lease ends; one instance serves all threads of a call.

    Attributes:
        resumed: Whether the recap was begun by an earlier call.
        first: Whether the event had no recap before.
        now: The time, aware.
        one_at_a_time: A mutex for the threads of this call.
    """

    recaps: RecapStore
    key: RecapKey
    resumed: bool
    first: bool
    now: Callable[[], datetime]
    one_at_a_time: AbstractContextManager[object]
    _lock: Lock
    _version: Version
    _ledger: dict[int, Batch] | None
    _doubted: bool = False

    @classmethod
    def take(
        cls,
        recaps: RecapStore,
        event_id: str,
        head: RecapHead,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        one_at_a_time: AbstractContextManager[object],
    ) -> "Claim":
        """Take the lock of an existing event for a new recap, or for a recap with batches left.

        `new_id` gives a unique word.

        Raises:
            CallError: `aborted` or `resource-exhausted` (spec 3.3).
        """
        holder = new_id()

        def decide(before: Lock | None) -> Taking:
            return taking(before, holder=holder, recap_id=new_id(), at=now())

        while True:
            with suppress(ChangedMeanwhileError):  # other calls hold the lock only shortly
                taken, version = recaps.take(event_id, head, decide)
                return cls(
                    recaps=recaps,
                    key=RecapKey(event_id, taken.lock.recap_id),
                    resumed=taken.began is None,
                    first=taken.first,
                    now=now,
                    one_at_a_time=one_at_a_time,
                    _lock=taken.lock,
                    _version=version,
                    _ledger={} if taken.began else None,
                )

    @property
    def ledger(self) -> Mapping[int, Batch]:
        """The batches by number, as this call last read or wrote them."""
        return self._ledger or {}

    @property
    def in_time(self) -> bool:
        """Whether the lease still runs, by this machine's clock."""
        until = self._lock.leased_until
        return until is not None and self.now() < until

    def read_ledger(self) -> None:
        """Read the ledger; the started batches of a crashed call count as sent from now on."""
        self._ledger = {batch.number: batch for batch in self.recaps.batches(self.key)}
        for batch in list(self._ledger.values()):
            self._settle_crashed(batch)

    def _settle_crashed(self, batch: Batch) -> None:
        while batch.state is BatchState.STARTED:
            try:
                batch = self.settle(batch, BatchState.UNKNOWN, note=_CRASHED)
            except ChangedMeanwhileError:
                # That call is alive after all, and has just settled the batch itself.
                found = self.recaps.batch(self.key, batch.number)
                if found is None:
                    raise
                batch = found
        self._know(batch)

    def plan(self, batches: Sequence[Batch], counts: Counts) -> None:
        """Write a plan; it replaces an older plan of which nothing was sent.

        Raises:
            ChangedMeanwhileError: another call has taken over the recap.
        """
        older = list(self.ledger.values())
        with self._doubting():
            written, self._version = self.recaps.plan(
                self.key, older, batches, counts, StoredLock(self._lock, self._version)
            )
        self._ledger = {batch.number: batch for batch in written}

    def start(
        self,
        batch: Batch,
        recipients: Sequence[str],
        *,
        refused: Sequence[str] | None = None,
        opted_out: int | None = None,
    ) -> Batch:
        """Record that a request of `batch` is about to be sent; called before every request.

        Args:
            batch: Planned, or started by this call, which knows that its mails were refused.
            recipients: The recipients of the batch who still get the mail.
            refused: Recipients whose address the mail service refused; None: unchanged.
            opted_out: Number of recipients who opted out since the plan; None: unchanged.

        Raises:
            ChangedMeanwhileError: another call has the batch or the lock.
        """
        with self.one_at_a_time:  # each start needs the lock's version after the last start
            if not self.in_time:
                self._doubted = True
                raise ChangedMeanwhileError
            now = self.now()
            # The request may be refused; `release` sets the cooldown by what was sent.
            lock = replace(self._lock, cooldown_until=now + COOLDOWN)
            started = batch.started(
                lock.holder, now, recipients=recipients, refused=refused, opted_out=opted_out
            )
            with self._doubting():
                started = self._start(batch, started, lock)
            self._lock = lock
            self._know(started)
        return started

    def _start(self, batch: Batch, started: Batch, lock: Lock) -> Batch:
        change = started.counts - batch.counts
        while True:
            try:
                held = StoredLock(lock, self._version)
                written, self._version = self.recaps.start(self.key, started, change, held)
            except ChangedMeanwhileError:
                stored = self.recaps.lock(self.key.event_id)
                found = self.recaps.batch(self.key, batch.number)
                if stored is None or stored.lock.holder != lock.holder:
                    raise
                stale, self._version = stored.version != self._version, stored.version
                if found == started:
                    return replace(started, version=found.version)  # only the answer was lost
                if found != batch or not stale:
                    raise
                # The answer to an earlier write of the lock was lost; this write is yet to be made.
            else:
                return written

    def settle(
        self,
        batch: Batch,
        state: BatchState,
        *,
        recipients: Sequence[str] | None = None,
        refused: Sequence[str] | None = None,
        note: str | None = None,
    ) -> Batch:
        """Record the result of a started batch; a None leaves the field as it is.

        Raises:
            ChangedMeanwhileError: another call has settled the batch.
        """
        settled = batch.settled(
            state, holder=self._lock.holder, recipients=recipients, refused=refused, note=note
        )
        with self._doubting():
            try:
                settled = self.recaps.settle(self.key, settled, settled.counts - batch.counts)
            except ChangedMeanwhileError:
                found = self.recaps.batch(self.key, batch.number)
                if found != settled:
                    raise
                settled = found
        self._know(settled)
        return settled

    def state(self, *, failed: bool = False) -> RecapState:
        """The recap's state at the end of this call.

        Args:
            failed: Whether the call failed before it sent the batches.

        Raises:
            Exception: the ledger could not be read. The lease ends by itself, and the next call
                continues from the ledger.
        """
        if self._doubted:
            self._look_again()
        if self._ledger is None:
            return RecapState.INTERRUPTED
        state = recap_state(self._ledger.values())
        return RecapState.FAILED if failed and state is RecapState.EMPTY else state

    def is_held(self) -> bool:
        """Whether this call still has the lock, by the record."""
        stored = self.recaps.lock(self.key.event_id)
        return stored is not None and stored.lock.holder == self._lock.holder

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
        cooldown = self._lock.cooldown_until
        if self._ledger is not None:
            last = last_mail(self._ledger.values())
            cooldown = last + COOLDOWN if last else None
        lock = replace(
            self._lock,
            leased_until=None,
            cooldown_until=cooldown,
            unfinished=state is RecapState.INTERRUPTED,
        )
        try:
            self.recaps.release(self.key, StoredLock(lock, self._version), state, self.now())
        except ChangedMeanwhileError:
            stored = self.recaps.lock(self.key.event_id)
            if stored is None or stored.lock != lock:
                return None
        return state

    def _look_again(self) -> None:
        stored = self.recaps.lock(self.key.event_id)
        if stored and stored.lock.holder == self._lock.holder:
            self._lock, self._version = stored.lock, stored.version
            self._ledger = {batch.number: batch for batch in self.recaps.batches(self.key)}

    def _know(self, batch: Batch) -> None:
        if self._ledger is not None:
            self._ledger[batch.number] = batch

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Remember a failed write: it may have succeeded all the same."""
        try:
            yield
        except BaseException:
            self._doubted = True
            raise
