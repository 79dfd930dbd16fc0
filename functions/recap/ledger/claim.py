"""A call's claim on a recap: the lock, and the ledger as the call knows it (spec 3.3, design 3.41).

The lock is acquired in a transaction. Every later step is one commit that fails if a record was
written since the call read it. The call does not read the record again. So of any number of
simultaneous calls, exactly one continues.

A call that acquires the lock ends the claim of the previous call, which may still be running after
its lease. The older call cannot start another batch, because each start is written together with
the lock. Its started batches count as sent, and no call repeats them.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Final, Self

from functions import log, ports
from functions.call.caller import Caller
from functions.firestore.model import (
    ChangedMeanwhileError,
    Delete,
    Document,
    Merge,
    Write,
    write_as_read,
)
from functions.recap.daily_limit import count_emails
from functions.recap.ledger.batch import (
    Batch,
    BatchState,
    Counts,
    RecapKey,
    RecapState,
    confirmed_batches,
    divided,
    emails_by_start,
    last_mail,
    open_batches,
    planned_batches,
    recap_state,
    total,
)
from functions.recap.ledger.recap_store import (
    COOLDOWN,
    Lock,
    RecapStore,
    acquired_lock,
    acquiring_writes,
    lock_path,
)
from functions.recap.recap_arguments import RecapArguments

_CRASH_NOTE: Final = "the call ended before its answer"


@dataclass(slots=True)
class Claim:
    """The right to send a recap until the lease ends. Shared by all threads of a call.

    Attributes:
        event_id: The event.
        tenant_id: Its tenant, or "" if it has none.
        before: The lock before this call acquired it, or None before the first recap.
        lock: The lock as this call last wrote it.
        mutex: A mutex for the threads of this call.
        ledger: The batches by number, as this call last read or wrote them.
    """

    recaps: RecapStore
    event_id: str
    tenant_id: str
    before: Lock | None
    lock: Lock
    clock: ports.Clock
    mutex: AbstractContextManager[object]
    ledger: dict[int, Batch] = field(default_factory=dict)

    @classmethod
    def acquire(
        cls,
        recaps: RecapStore,
        caller: Caller | None,
        arguments: RecapArguments,
        tenant_id: str,
        *,
        clock: ports.Clock,
        random: ports.Random,
        mutex: AbstractContextManager[object],
    ) -> Self:
        """Acquire the event's lock in one transaction, for a new recap or to continue one.

        If `caller` is None, keep the recorded organizer. Retry if the lock changed, including when
        this call's own commit succeeded but its response was lost.

        Raises:
            CallError: See `acquired_lock`.
            ChangedMeanwhileError: The record of the schedule was written meanwhile.
        """
        event_id, schedule = arguments.event_id, arguments.schedule
        holder, path = random.new_id(), lock_path(event_id)
        locks: list[tuple[Lock | None, Lock]] = []

        def writes(found: Document | None) -> Sequence[Write]:
            before, at = Lock.read(found) if found else None, clock.now()
            lock = acquired_lock(
                before,
                holder=holder,
                recap_id=random.new_id(),
                at=at,
                resend_of=arguments.resend_of,
            )
            locks.append((before, lock))
            return acquiring_writes(
                before, lock, caller=caller, arguments=arguments, tenant_id=tenant_id, at=at
            )

        while True:
            with suppress(ChangedMeanwhileError):  # other calls hold the lock only shortly
                written, *_ = recaps.documents.transact(path, writes)
                before, lock = locks[-1]
                lock = replace(lock, version=written.version)
                return cls(recaps, event_id, tenant_id, before, lock, clock, mutex)
            if schedule:
                recaps.check_schedule(event_id, schedule.record)

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

    def _recorded_lock(self) -> Lock | None:
        """Return the lock as it is recorded now, or None if another call has it."""
        lock = self.recaps.lock(self.event_id)
        return lock if lock and lock.holder == self.lock.holder else None

    def read_ledger(self) -> None:
        """Read the ledger, and count started batches of a crashed call as sent.

        Raises:
            ChangedMeanwhileError: Another call has taken over the recap.
        """
        self.ledger = {batch.number: batch for batch in self.recaps.batches(self.key)}
        for number in self.ledger:
            self._settle_crashed(number)

    def _settle_crashed(self, number: int) -> None:
        while self.ledger[number].state is BatchState.STARTED:
            batch = self.ledger[number].settled(BatchState.UNKNOWN, self.lock.holder, _CRASH_NOTE)
            change = self.counted([batch], [self.ledger[number]])
            try:
                # This commit fails if another call has the lock. That call settles the batch.
                [self.ledger[number]] = self.commit([batch], *change, lock=self.lock)
                batch.log(self.key, _CRASH_NOTE)
            except ChangedMeanwhileError:
                recorded = self._recorded_lock()
                found = self.recaps.batch(self.key, number)
                if recorded is None or found is None:
                    raise
                # The call that started the batch has settled it, or the response to an earlier
                # commit of this call was lost.
                self.lock = recorded
                self.ledger[number] = found

    @property
    def next_number(self) -> int:
        """Number of the next batch."""
        return max(self.ledger, default=-1) + 1

    def plan(self, batches: Sequence[Batch], *, skipped: int, left: int, **fields: bool) -> None:
        """Write a plan. It may replace only a plan that has sent no email.

        Args:
            batches: The planned batches.
            skipped: Number of guests in no batch who were skipped.
            left: Number of guests in no batch who are left for the next recap.
            fields: More fields of the recap.

        Raises:
            ChangedMeanwhileError: Another call has taken over the recap.
        """
        counts = total(batches) + Counts(skipped=skipped, left=left)
        recipients = sum(len(batch.recipients) for batch in batches)
        planned = self.commit(
            batches,
            *(Delete(self.key.batch_path(older), it.version) for older, it in self.ledger.items()),
            Merge(self.key.path, {"recipients": recipients, **fields, **asdict(counts)}),
            lock=self.lock,
        )
        self.ledger = {batch.number: batch for batch in planned}

    def resend(self, reported: Collection[str]) -> None:
        """Plan new batches for unknown emails, except to `reported` guests, who have a report.

        Raises:
            ChangedMeanwhileError: Another call has taken over the recap.
        """
        older = [
            batch.confirmed(reported)
            for batch in self.ledger.values()
            if batch.state is BatchState.UNKNOWN
        ]
        moved = [batch.resent for batch in older if batch.resent]
        batches = planned_batches(moved, first=self.next_number)
        if older:
            # Until the new batches are settled, their recipients count as left, not as sent.
            left = total(batches).left
            confirmed = sum(len(batch.recipients) for batch in older)
            change = {"sent": -left, "unknown": -left - confirmed, "left": left}
            changes = Merge(self.key.path, add=change)
            written = self.commit([*older, *batches], changes, lock=self.lock)
            self.ledger |= {batch.number: batch for batch in written}

    def confirm(self, reported: Collection[str]) -> None:
        """Count planned recipients as sent if they have a delivery report.

        An earlier request got no response, or a refusal, although the provider sent its emails.

        Raises:
            ChangedMeanwhileError: Another call has taken over the recap.
        """
        batches = open_batches(self.ledger.values())
        changed = confirmed_batches(batches, reported, first=self.next_number)
        if not changed:
            return
        known = [self.ledger[batch.number] for batch in changed if batch.number in self.ledger]
        written = self.commit(changed, *self.counted(changed, known), lock=self.lock)
        self.ledger |= {batch.number: batch for batch in written}

    def start(self, batch: Batch) -> Batch:
        """Record that a request of `batch` is about to be sent. Call it before every request.

        Args:
            batch: The batch with the recipients who still get the email. It is planned, or this
                call started it and knows that its emails were refused.

        Raises:
            ChangedMeanwhileError: Another call has the batch or the lock.
        """
        with self.mutex:  # each start needs the lock's version after the last start
            now = self.clock.now()
            if not self.in_time:
                raise ChangedMeanwhileError
            # The request may be refused, so `release` sets the cooldown by the last email.
            lock = replace(self.lock, cooldown_until=now + COOLDOWN)
            return self._start(batch.started(lock.holder, now), lock)

    def _start(self, started: Batch, lock: Lock, *new: Batch) -> Batch:
        known, batches = self.ledger[started.number], [started, *new]
        change = self.counted(batches, [known])
        while True:
            try:
                written = self.commit(batches, *change, lock=lock)
                break
            except ChangedMeanwhileError:
                recorded = self._recorded_lock()
                found = self.recaps.batch(self.key, started.number)
                if recorded is None:
                    raise
                stale = recorded.version != lock.version
                lock = replace(lock, version=recorded.version)
                if found == started:
                    self.lock = lock  # only the response was lost
                    read = (self.recaps.batch(self.key, batch.number) for batch in batches)
                    written = list(filter(None, read))
                    break
                if found != known or not stale:
                    raise
                # The response to an earlier write of the lock was lost: write again.
        self.ledger |= {batch.number: batch for batch in written}
        return self.ledger[started.number]

    def settle(self, batch: Batch, state: BatchState, note: str | None = None) -> Batch:
        """Record the result of a started batch with its remaining recipients.

        Raises:
            ChangedMeanwhileError: Another call has settled the batch.
        """
        settled = batch.settled(state, self.lock.holder, note)
        try:
            [settled] = self.commit(
                [settled], *self.counted([settled], [self.ledger[batch.number]])
            )
        except ChangedMeanwhileError:
            found = self.recaps.batch(self.key, batch.number)
            if found != settled:
                raise
            settled = found
        self.ledger[batch.number] = settled
        return settled

    def divide(self, batch: Batch, accepted: Collection[int], unknown: Collection[int]) -> Batch:
        """Move recipients of a started batch to batches of their own, and return the others.

        Args:
            batch: A batch that this call has started.
            accepted: Indices of the recipients whose emails were accepted.
            unknown: Indices of the recipients whose emails may have been accepted.

        Raises:
            ChangedMeanwhileError: Another call has the lock.
        """
        with self.mutex:  # the numbers of new batches, and the lock's version
            parts = divided(batch, accepted, unknown, first=self.next_number)
            rest = batch.without(batch.guests_at({*accepted, *unknown}))
            rest = self._start(rest, self.lock, *parts)
        for part in parts:
            part.log(self.key, part.note)
        return rest

    def release(self, *, failed: bool = False) -> RecapState | None:
        """Record the recap's state and release the lock, unless another call has it.

        Args:
            failed: Whether the call failed before it sent the batches.

        Returns:
            The state, or None if it is not recorded: another call has the recap, or the lock could
            not be written. In that case its lease expires, and the next call continues from the
            ledger.
        """
        try:
            return self._release(self._state(failed=failed))
        except Exception as error:  # noqa: BLE001 - the answer matters more, and the lease ends
            event_id, recap_id = self.key
            log.fault("recap.held", error, eventId=event_id, recapId=recap_id)
            return None

    def _state(self, *, failed: bool) -> RecapState:
        if failed or recap_state(self.ledger.values()) not in (RecapState.SENT, RecapState.EMPTY):
            # A write may have succeeded although its response was lost.
            recorded = self._recorded_lock()
            if recorded:
                self.lock = recorded
                self.ledger = {batch.number: batch for batch in self.recaps.batches(self.key)}
        state = recap_state(self.ledger.values())
        return RecapState.FAILED if failed and state is RecapState.EMPTY else state

    def _release(self, state: RecapState) -> RecapState | None:
        last = last_mail(self.ledger.values())
        lock = replace(
            self.lock,
            leased_until=None,
            cooldown_until=last + COOLDOWN if last else None,
            unfinished=state is RecapState.INTERRUPTED,
        )
        try:
            recap = {"state": state, "finishedAt": self.clock.now()}
            self.commit([], Merge(self.key.path, recap), lock=lock)
        except ChangedMeanwhileError:
            if self.recaps.lock(self.event_id) != lock:
                return None
        return state

    def commit(
        self, batches: Sequence[Batch], *writes: Write, lock: Lock | None = None
    ) -> list[Batch]:
        """Write one step in one commit, and return the batches as they were written.

        A batch without a version is created. Every step except the last of a batch also writes the
        `lock`, so that it fails for a call without the lock.

        Raises:
            ChangedMeanwhileError: The lock or a batch was written since this call read it.
        """
        held = [write_as_read(lock_path(self.event_id), lock.fields, lock.version)] if lock else []
        steps = [
            write_as_read(self.key.batch_path(batch.number), batch.fields, batch.version)
            for batch in batches
        ]
        written = self.recaps.documents.commit(*held, *steps, *writes)
        if lock:
            self.lock = replace(lock, version=written[0].version)
        return [
            replace(batch, version=result.version)
            for batch, result in zip(batches, written[len(held) :], strict=False)
        ]

    def counted(self, after: Sequence[Batch], before: Sequence[Batch]) -> list[Write]:
        """Return the changes of the recap's counts and of the tenant's, for changed batches."""
        change = asdict(total(after) - total(before))
        counts = {name: count for name, count in change.items() if count}
        of_recap = [Merge(self.key.path, add=counts)] if counts else []
        return [*of_recap, *count_emails(self.tenant_id, emails_by_start(after, before))]
