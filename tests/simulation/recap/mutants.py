"""Mutants of the recap: those that no unit test catches, and one of each other kind."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions.call.caller import Caller
from functions.firestore.model import Update, Write
from functions.mail.mail_status import Tally
from functions.mail.outcome import Later, SendOutcome, Unknown
from functions.mail.sendgrid import refusal
from functions.ports import Task
from functions.recap.daily_limit import count_emails
from functions.recap.delivery_status import StatusStore
from functions.recap.ledger import claim
from functions.recap.ledger.batch import Batch, RecapKey
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import Lock, lock_path
from functions.recap.recap_arguments import ScheduleArguments
from functions.recap.schedule import RecapSchedule
from tests.in_memory import mailer
from tests.simulation.mutant import Mutant

_commit = Claim.commit
_resend = Claim.resend
_schedule = RecapSchedule.schedule
_save = StatusStore.save


@dataclass(frozen=True, slots=True)
class HeldTasks:
    """A `TaskQueue` that keeps its tasks."""

    tasks: list[Task]

    def enqueue(self, task: Task) -> None:
        """Keep the task."""
        self.tasks.append(task)


def _started_in_memory_only(self: Claim, batch: Batch) -> Batch:
    return batch.started(self.lock.holder, self.clock.now())


def _start_any_version(self: Claim, started: Batch, lock: Lock) -> Batch:
    self.recaps.documents.commit(
        Update(lock_path(self.event_id), lock.fields),
        Update(self.key.batch_path(started.number), started.fields),
        *self.counted([started], [self.ledger[started.number]]),
    )
    found = self.recaps.batch(self.key, started.number)
    assert found
    return found


def _commit_counts_apart(
    self: Claim, batches: Sequence[Batch], *writes: Write, lock: Lock | None = None
) -> list[Batch]:
    if lock:
        return _commit(self, batches, *writes, lock=lock)
    settled = _commit(self, batches)
    for write in writes:
        self.recaps.documents.commit(write)
    return settled


def _count_refused_emails(tenant: str, changes: Iterable[tuple[datetime, int]]) -> list[Write]:
    return count_emails(tenant, [change for change in changes if change[1] > 0])


def _refusal_by_hope(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime
) -> SendOutcome:
    return Later("HTTP 503", None) if status == 503 else refusal(status, headers, body, now=now)


def _refusal_by_caution(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime
) -> SendOutcome:
    return Unknown("HTTP 503") if status == 503 else refusal(status, headers, body, now=now)


def _resend_to_everybody(self: Claim, heard: object) -> None:
    del heard
    _resend(self, ())


def _divide_in_memory_only(
    _: Claim, batch: Batch, accepted: Collection[int], unknown: Collection[int]
) -> Batch:
    return batch.without(batch.guests_at({*accepted, *unknown}))


def _confirm_no_one(self: Claim, reported: object) -> None:
    del self, reported


def _save_in_two_commits(self: StatusStore, key: RecapKey, stored: Any, change: Tally) -> None:
    _save(self, key, stored, Tally())
    self.documents.commit(Update(key.path, add=asdict(change)))


def _schedule_before_task(
    self: RecapSchedule, caller: Caller, arguments: ScheduleArguments
) -> datetime | None:
    held = HeldTasks([])
    at = _schedule(replace(self, task_queue=held), caller, arguments)
    for task in held.tasks:
        self.task_queue.enqueue(task)
    return at


MUTANTS: Final = (
    Mutant(
        "schedule-before-task",
        "a crash: the task of a schedule exists before its record",
        RecapSchedule,
        "schedule",
        _schedule_before_task,
    ),
    Mutant(
        "ledger-after-request",
        "a crash: a request is recorded before it is sent",
        Claim,
        "start",
        _started_in_memory_only,
    ),
    Mutant(
        "start-any-version",
        "a delayed call: both preconditions of a start",
        Claim,
        "_start",
        _start_any_version,
    ),
    Mutant(
        "later-by-hope",
        "a wrong response: after a gateway's 503, the result is unknown",
        mailer,
        "refusal",
        _refusal_by_hope,
    ),
    Mutant(
        "unknown-by-caution",
        "a right response: after the email service's 503, no email was accepted",
        mailer,
        "refusal",
        _refusal_by_caution,
    ),
    Mutant(
        "resent-to-everybody",
        "an email with a delivery report has arrived",
        Claim,
        "resend",
        _resend_to_everybody,
    ),
    Mutant(
        "divided-in-memory",
        "to record which mails of a request a mail server has accepted",
        Claim,
        "divide",
        _divide_in_memory_only,
    ),
    Mutant(
        "planned-although-reported",
        "a planned email may have been sent by an earlier request, and reported later",
        Claim,
        "confirm",
        _confirm_no_one,
    ),
    Mutant(
        "counted-by-itself",
        "one commit for a batch and the recap's counts",
        Claim,
        "commit",
        _commit_counts_apart,
    ),
    Mutant(
        "refusals-count",
        "that the commit of a refusal subtracts its emails from the daily limit",
        claim,
        "count_emails",
        _count_refused_emails,
    ),
    Mutant(
        "outcomes-by-themselves",
        "one commit for the mails' status and the recap's counts",
        StatusStore,
        "save",
        _save_in_two_commits,
    ),
)
