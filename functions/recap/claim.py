"""A call's hold on a recap: the lock, and the ledger as this call knows it (spec 3.3, design 3).

Whoever takes the lock ends the hold of the call before. That one may still be at work: it has been
held up for longer than its lease. It starts nothing any more, as each start is written together
with the lock; what it has started counts as sent, and nobody tries it again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final

from functions.recap.arguments import Mode
from functions.recap.ledger import (
    COOLDOWN,
    LEASE,
    Batch,
    BatchState,
    Counts,
    Lock,
    RecapState,
    last_mail,
    recap_state,
    resumable,
)
from functions.recap.ports import (
    RecapHead,
    RecapKey,
    Recaps,
    Said,
    StoredLock,
    TakenElsewhereError,
    Taking,
)

_CRASHED: Final = "the call ended before its answer"


class Claim:
    """The right to send a recap until the lease ends; one instance serves all threads of a call."""

    def __init__(
        self,
        recaps: Recaps,
        event_id: str,
        held: StoredLock,
        now: Callable[[], datetime],
        one_at_a_time: AbstractContextManager[object],
        *,
        resumed: bool,
        first: bool,
    ) -> None:
        """Hold the lock as `take` has written it; `first` where the event had no lock before."""
        lock = held.lock
        self._recaps = recaps
        self._lock, self._version = lock, held.version
        self._now = now
        self.key = RecapKey(event_id, lock.recap_id)
        self.resumed = resumed
        self.first = first
        self._ledger: dict[int, Batch] | None = None if resumed else {}
        self._doubted = False
        self._one_at_a_time = one_at_a_time

    @classmethod
    def take(
        cls,
        recaps: Recaps,
        event_id: str,
        *,
        tenant_id: str,
        mode: Mode,
        started_by: str,
        said: Said,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        one_at_a_time: AbstractContextManager[object],
    ) -> "Claim":
        """Take the event's lock for a new recap, or for one that has batches left.

        Args:
            recaps: The records.
            event_id: An event that exists,
            tenant_id: and its tenant.
            mode: Of the recap.
            started_by: The caller's uid.
            said: What the organizer gave it.
            now: The time, aware.
            new_id: Gives a word that nobody else has.
            one_at_a_time: Is entered by one thread of this call at a time.

        Raises:
            CallError: `aborted` or `resource-exhausted` (spec 3.3).
        """
        holder, recap_id = new_id(), new_id()
        resumed: str | None = None
        first = False
        taking: Taking | None = None

        def decide(before: Lock | None) -> Taking:
            nonlocal resumed, first, taking
            if taking and before and before.holder == holder:
                return taking  # only the answer to the commit was lost
            moment = now()
            resumed, first = resumable(before, moment), before is None
            lock = Lock(
                recap_id=resumed or recap_id,
                holder=holder,
                leased_until=moment + LEASE,
                # Of a new recap until its first mail, so that one which crashes can be continued.
                cooldown_until=before.cooldown_until if before and resumed else moment + COOLDOWN,
                unfinished=True,
            )
            head = RecapHead(
                tenant_id=tenant_id,
                mode=mode,
                started_by=started_by,
                said=said,
                began=None if resumed else moment,
            )
            # Its cooldown is over, so nobody can continue that one any more.
            ended = before.recap_id if before and before.unfinished and not resumed else None
            taking = Taking(lock=lock, head=head, ended=ended)
            return taking

        while True:
            try:
                held = recaps.take(event_id, decide)
            except TakenElsewhereError:
                continue  # the lock is free for nobody for long: look again
            return cls(
                recaps,
                event_id,
                held,
                now,
                one_at_a_time,
                resumed=resumed is not None,
                first=first,
            )

    @property
    def ledger(self) -> Mapping[int, Batch]:
        """The batches by number, as this call has read and changed them."""
        return self._ledger or {}

    @property
    def in_time(self) -> bool:
        """Whether the lease has not ended, by this machine's clock."""
        until = self._lock.leased_until
        return until is not None and self._now() < until

    def read_ledger(self) -> None:
        """Read the ledger; what a crashed call had under way counts as sent from now on."""
        self._ledger = {one.number: one for one in self._recaps.batches(self.key)}
        for batch in list(self._ledger.values()):
            self._settle_crashed(batch)

    def _settle_crashed(self, batch: Batch) -> None:
        while batch.state is BatchState.STARTED:
            try:
                batch = self.settle(batch, BatchState.UNKNOWN, note=_CRASHED)
            except TakenElsewhereError:
                # The call was not dead, and has just said itself what became of the batch.
                found = self._recaps.batch(self.key, batch.number)
                if found is None:
                    raise
                batch = found
        self._know(batch)

    def plan(self, batches: Sequence[Batch], counts: Counts) -> None:
        """Write a plan in place of any older one of which nothing has been sent.

        Raises:
            TakenElsewhereError: another call goes on with this recap.
        """
        older = list(self.ledger.values())
        with self._doubting():
            written, self._version = self._recaps.plan(
                self.key, older, batches, counts, StoredLock(self._lock, self._version)
            )
        self._ledger = {one.number: one for one in written}

    def start(
        self,
        batch: Batch,
        recipients: Sequence[str],
        *,
        refused: Sequence[str] | None = None,
        opted_out: int | None = None,
    ) -> Batch:
        """Put on record that a request of `batch` is about to leave; also for each further one.

        Args:
            batch: Planned, or started by this call, which knows that nothing has been taken.
            recipients: Those of the batch who are still to have the mail.
            refused: Those whose address the mail service does not take; None: as before.
            opted_out: How many have opted out since the batch was planned; None: as before.

        Raises:
            TakenElsewhereError: the batch or the lock is another call's.
        """
        with self._one_at_a_time:  # each start needs the lock as the one before has left it
            if not self.in_time:
                self._doubted = True
                raise TakenElsewhereError
            now = self._now()
            # It may come to nothing: `release` goes by what was sent.
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
                written, self._version = self._recaps.start(self.key, started, change, held)
            except TakenElsewhereError:
                stored = self._recaps.lock(self.key.event_id)
                found = self._recaps.batch(self.key, batch.number)
                if stored is None or stored.lock.holder != lock.holder:
                    raise
                stale, self._version = stored.version != self._version, stored.version
                if found == started:
                    return replace(started, version=found.version)  # only the answer was lost
                if found != batch or not stale:
                    raise
                # Of an earlier write of the lock the answer was lost; this one is yet to be made.
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
        """Record what became of a started batch; where an argument is None, it is as before.

        Raises:
            TakenElsewhereError: another call has done so.
        """
        settled = batch.settled(
            state, holder=self._lock.holder, recipients=recipients, refused=refused, note=note
        )
        with self._doubting():
            try:
                settled = self._recaps.settle(self.key, settled, settled.counts - batch.counts)
            except TakenElsewhereError:
                found = self._recaps.batch(self.key, batch.number)
                if found != settled:
                    raise
                settled = found
        self._know(settled)
        return settled

    def state(self, *, failed: bool = False) -> RecapState:
        """Where the recap stands now that this call sends nothing more.

        Args:
            failed: Whether the call has ended before it could send what there was to send.

        Raises:
            Exception: the ledger could not be read. The lease ends by itself, and the next call
                goes on from the ledger.
        """
        if self._doubted:
            self._look_again()
        if self._ledger is None:
            return RecapState.INTERRUPTED
        state = recap_state(self._ledger.values())
        return RecapState.FAILED if failed and state is RecapState.EMPTY else state

    def is_held(self) -> bool:
        """Whether no other call has taken the lock, by the record."""
        stored = self._recaps.lock(self.key.event_id)
        return stored is not None and stored.lock.holder == self._lock.holder

    def release(self, state: RecapState) -> RecapState | None:
        """Release the lock, unless another call has it by now.

        Args:
            state: Where the recap stands.

        Returns:
            The state; None where another call has the recap, and will say how it stands.

        Raises:
            Exception: the lock could not be written. The lease ends by itself, and the next call
                goes on from the ledger.
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
            self._recaps.release(self.key, StoredLock(lock, self._version), state, self._now())
        except TakenElsewhereError:
            stored = self._recaps.lock(self.key.event_id)
            if stored is None or stored.lock != lock:
                return None
        return state

    def _look_again(self) -> None:
        stored = self._recaps.lock(self.key.event_id)
        if stored and stored.lock.holder == self._lock.holder:
            self._lock, self._version = stored.lock, stored.version
            self._ledger = {one.number: one for one in self._recaps.batches(self.key)}

    def _know(self, batch: Batch) -> None:
        if self._ledger is not None:
            self._ledger[batch.number] = batch

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Remember that a write failed: nobody knows whether it is on record all the same."""
        try:
            yield
        except BaseException:
            self._doubted = True
            raise
