"""Sweeps over recaps with a crashed call (design 3.40), and over overdue schedules (spec 4.15)."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from functions import log, ports
from functions.call.errors import CallError
from functions.firestore.model import ChangedMeanwhileError, Document, Documents
from functions.recap.ledger.batch import RecapKey
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import RecapStore, overdue, schedule_path
from functions.recap.recap_arguments import RecapArguments
from functions.recap.report import Report
from functions.recap.schedule import GIVEN_UP_AFTER, ScheduleState, scheduled_task, task_name


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashedRecaps:
    """Settles and reports recaps with a crashed call, as the event's next call would."""

    recaps: RecapStore
    clock: ports.Clock
    random: ports.Random
    threads: ports.Threads

    def sweep(self) -> None:
        """Mark recaps with an expired lease as interrupted. The next sweep retries failures."""
        for key in self.recaps.crashed(self.clock.now()):
            try:
                with suppress(CallError):  # another call continues the recap
                    self._settle(key)
            except Exception as error:  # noqa: BLE001 - settle the other recaps
                event_id, recap_id = key
                log.fault("recaps.not-swept", error, eventId=event_id, recapId=recap_id)

    def _settle(self, key: RecapKey) -> None:
        recap = self.recaps.documents.get(key.path, ["tenantId"])
        if recap is None:
            with suppress(ChangedMeanwhileError):
                self.recaps.release_without_recap(key, self.clock.now())
            return
        claim = Claim.acquire(
            self.recaps,
            None,
            RecapArguments(event_id=key.event_id, resend_of=key.recap_id),
            recap.fields.get("tenantId", ""),
            clock=self.clock,
            random=self.random,
            mutex=self.threads.mutex(),
        )
        claim.read_ledger()
        state = claim.release(failed=True)
        Report().after(claim.ledger.values()).log(claim.key, state)


@dataclass(frozen=True, slots=True)
class ScheduleSweep:
    """Ends scheduled recaps that no task has ended: their queue stopped, or lost the task."""

    documents: Documents
    task_queue: ports.TaskQueue
    clock: ports.Clock

    def sweep(self) -> None:
        """Queue a task for each schedule that is long overdue, oldest first."""
        now = self.clock.now()
        where = [("state", "==", ScheduleState.SCHEDULED), ("at", "<=", now - GIVEN_UP_AFTER)]
        for task in overdue(self.documents, schedule_path, where, "at", partial(_end_task, now)):
            self.task_queue.enqueue(task)


def _end_task(now: datetime, schedule: Document) -> ports.Task:
    """Return the task that ends an overdue schedule, one per hour."""
    event_id = schedule.path.split("/")[1]
    version, at = str(schedule.fields["version"]), schedule.fields["at"]
    schedule.fields["by"]["uid"]  # without it the task would fail each time
    end = scheduled_task(event_id, version, at)
    return replace(end, name=task_name(f"{event_id}/{version}/{now:%Y%m%d%H}"), due=now)
