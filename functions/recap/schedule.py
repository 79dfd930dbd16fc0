"""Scheduled recaps: `scheduleEventRecap`, and the task that sends a recap when due (spec 4.15).

    call ▸ queue the task ▸ write the record         due ▸ record ▸ role ▸ `RecapSender` ▸ outcome

The task is queued before the record is written. A record without its task would promise emails that
are never sent, but a task without its record has no effect. The call ends before the earliest time
that it accepts. The record's version distinguishes the task of a replaced schedule from the present
one.

    state      next
    scheduled  sent, failed, cancelled, or scheduled in another version by the next call
    cancelled  sent, if the recap was being sent when the schedule was canceled

The queue stops retrying two hours after the recap's time. Half an hour later `ScheduleSweep` queues
a task that ends the schedule. The state is `sent` if a recap of this version was sent, otherwise
`failed`.

A call acquires the event's lock in one commit with a write of the schedule's record. A failure is
recorded only if the record was not written since the lock was read as free. So no recap is sent
after its failure was recorded, and no failure is recorded for a recap that is sent.
"""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeGuard

from functions import log, ports
from functions.call.caller import Caller, staff
from functions.call.errors import CallError, Code, refuse
from functions.firestore.model import (
    ChangedMeanwhileError,
    Document,
    Documents,
    Put,
    Query,
    Update,
    Write,
    as_text,
)
from functions.mail.message import Mailer, MailSender
from functions.mail.outcome import Accepted
from functions.mail.staff_mail import mail_time, staff_mail
from functions.mail.translation import templates_in
from functions.recap.ledger.batch import TIMEOUT, RecapState
from functions.recap.ledger.recap_store import schedule_path
from functions.recap.recap_arguments import (
    RECAP_FIELDS,
    RecapArguments,
    ScheduleArguments,
    ScheduleVersion,
    verified_address,
)
from functions.recap.report import unconfirmed
from functions.recap.send_recap import RecapSender

QUEUE: Final = "sendScheduledRecap"

TRIED_FOR: Final = timedelta(hours=1)
"""How long after its time a recap is retried: longer than a crashed call holds the lock."""

GIVEN_UP_AFTER: Final = timedelta(hours=2, minutes=30)
"""How long after its time the sweep ends a recap: half an hour after its queue stopped."""

_NOT_TRIED: Final = "The recap could not be sent within two hours of its time."

_NOT_ALLOWED: Final = "The account that scheduled this recap no longer has permission to send it."

_NOT_SENT: Final = (
    "Your scheduled recap wasn't sent",
    "You can send or schedule the recap again in the console.",
)
_NO_RECIPIENTS: Final = ("Your scheduled recap had no recipients", _NOT_SENT[1])
_UNCONFIRMED: Final = (
    "Your scheduled recap was sent, but some emails aren't confirmed",
    "You can resend the unconfirmed emails in the console.",
)
"""Headline and advice of the email to the user who scheduled the recap."""

_templates: Final = templates_in(Path(__file__).parent / "mail" / "templates")


class ScheduleState(StrEnum):
    """The states of the record."""

    SCHEDULED = "scheduled"
    SENT = "sent"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapSchedule:
    """Schedules recaps and sends them. Shared by all threads of the process.

    Attributes:
        base_url: Address of the site with the console.
    """

    documents: Documents
    sender: RecapSender
    task_queue: ports.TaskQueue
    accounts: ports.Accounts
    mailer: Mailer
    mail_sender: MailSender
    base_url: str
    clock: ports.Clock
    random: ports.Random

    def schedule(self, caller: Caller, arguments: ScheduleArguments) -> datetime | None:
        """Schedule the event's recap in place of an earlier schedule, or cancel that schedule.

        Returns:
            When the recap is due, or None if the schedule was canceled.

        Raises:
            CallError: `sendEventRecap` would be refused at that time in the present state.
        """
        path, at = schedule_path(arguments.event_id), arguments.at
        self.sender.check(caller, arguments, at)
        if at is None:
            self.documents.transact(path, _canceled)
            return None
        version = self.random.new_id()
        self.task_queue.enqueue(scheduled_task(arguments.event_id, version, at))
        if self.clock.now() >= at:  # its task may have found no record
            refuse("at has passed before the recap was scheduled. Schedule it for a later time.")
        record = {
            **arguments.recap_fields,
            "at": at,
            "tenantId": arguments.tenant_id,
            "by": caller.record,
            "version": version,
            "state": ScheduleState.SCHEDULED,
            "outcome": None,
        }
        self.documents.commit(Put(path, record))
        return at

    def send(self, event_id: str, version: str, at: datetime) -> None:
        """Send the scheduled recap if its version is still `version`, due at `at`.

        The task of a replaced schedule ends after one read.

        Raises:
            NotDueError: It is too early, another call has the lock, or the fault may be temporary.
            Exception: An internal fault that may be temporary.
        """
        if self.clock.now() < at:
            raise ports.NotDueError  # its record may not be written yet either
        found = self.documents.get(schedule_path(event_id))
        if not _is_waiting(found, version):
            return
        is_over = self.clock.now() >= at + GIVEN_UP_AFTER
        claims: Mapping[str, Any] = {}
        # The end is recorded even if the account and its address can't be looked up.
        with suppress(*([Exception] if is_over else [])):
            claims = self.accounts.claims_of(found.fields["by"]["uid"]) or {}
        message = None
        try:
            message = self._attempt(event_id, found, claims, is_over=is_over)
        except ChangedMeanwhileError as changed:
            # Another run has the lock, or there is no schedule.
            raise ports.NotDueError from changed
        except CallError as refused:
            recap = self._recap_sent(event_id, version)
            if not recap:
                if not is_over and self._may_pass(refused, at):
                    log.warning("recap.schedule-waits", eventId=event_id, code=refused.code)
                    raise ports.NotDueError from refused
                self._fail(event_id, version, at, refused, verified_address(claims))
                return
        else:
            recap = self._recap_sent(event_id, version)
        if not recap and not message:
            raise ports.NotDueError  # another call has continued the recap since
        outcome = _outcome(recap or {}, message)
        self._succeed(event_id, version, at, outcome, verified_address(claims))

    def _attempt(
        self, event_id: str, found: Document, claims: Mapping[str, Any], *, is_over: bool
    ) -> str | None:
        """Send the recap unless its time `is_over`, and return the note about it.

        Raises:
            CallError: The time is over. Otherwise see `RecapSender.send`.
            ChangedMeanwhileError: See `Claim.acquire`.
        """
        if is_over:
            raise CallError(Code.INTERNAL, _NOT_TRIED)
        caller = staff(found.fields["by"]["uid"], claims)
        # A task that waited for a slot would block recaps of other tenants.
        return self.sender.send(caller, _arguments(event_id, found), waits=False).message

    def _recap_sent(self, event_id: str, version: str) -> Mapping[str, Any] | None:
        """Return the recap that was sent by this version, perhaps by an earlier run of its task."""
        recaps = Query(collection=f"events/{event_id}/recaps", where=[("schedule", "==", version)])
        found = (recap.fields for recap in self.documents.find(recaps))
        return next((recap for recap in found if recap["state"] == RecapState.SENT), None)

    def _succeed(
        self,
        event_id: str,
        version: str,
        at: datetime,
        outcome: Mapping[str, Any],
        address: str | None,
    ) -> None:
        """Record that the recap was sent, even if it was canceled meanwhile."""

        def sent(found: Document | None) -> Sequence[Write]:
            if found is None or found.fields.get("version") != version:
                return []
            if found.fields.get("state") in (ScheduleState.SENT, ScheduleState.FAILED):
                return []  # another run has recorded the outcome, and emailed it
            return [Update(found.path, {"state": ScheduleState.SENT, "outcome": outcome})]

        news = None if outcome["sent"] else _NO_RECIPIENTS
        if "unconfirmed" in outcome:
            news = _UNCONFIRMED
        if self.documents.transact(schedule_path(event_id), sent) and news:
            self._mail(event_id, address, at, news, outcome["message"])

    def _fail(
        self, event_id: str, version: str, at: datetime, refused: CallError, address: str | None
    ) -> None:
        """Record that the recap was not sent, log it, and email the reason.

        Raises:
            NotDueError: Another call has the lock, or has just sent the recap.
        """
        # A call that acquires the lock after this read also writes the record: see `Claim.acquire`.
        found = self.documents.get(schedule_path(event_id))
        if not _is_waiting(found, version):
            return
        lock = self.sender.planner.recaps.lock(event_id)
        if (lock and lock.leased_until) or self._recap_sent(event_id, version):
            raise ports.NotDueError
        denied = refused.code is Code.PERMISSION_DENIED
        message = _NOT_ALLOWED if denied else refused.message
        outcome = {"code": refused.code, "message": message}
        failed = {"state": ScheduleState.FAILED, "outcome": outcome}
        try:
            self.documents.commit(Update(found.path, failed, version=found.version))
        except ChangedMeanwhileError as changed:
            raise ports.NotDueError from changed
        log.error("recap.schedule-failed", eventId=event_id, code=refused.code)
        if not denied:  # an account without the role gets no news of the event
            self._mail(event_id, address, at, _NOT_SENT, message)

    def _may_pass(self, refused: CallError, at: datetime) -> bool:
        """Return whether the recap is tried again after this refusal."""
        if refused.code is Code.ABORTED:
            return True  # the call that has the lock may be another run, which sends the recap
        passing = refused.code in (Code.INTERNAL, Code.RESOURCE_EXHAUSTED)
        is_cooldown = (refused.details or {}).get("reason") == "cooldown"
        return passing and not is_cooldown and self.clock.now() < at + TRIED_FOR

    def _mail(
        self, event_id: str, address: str | None, at: datetime, news: tuple[str, str], reason: str
    ) -> None:
        """Email the news to the user who scheduled the recap."""
        if address is None:
            return
        headline, advice = news
        try:
            event = self.documents.get(f"events/{event_id}", ["name"])
            name = as_text(event.fields.get("name")) if event else None
            message = staff_mail(
                _templates,
                "planned",
                headline,
                event_id=event_id,
                event_name=name or "",
                place="recap",
                base_url=self.base_url,
                sender=self.mail_sender,
                addresses=[address],
                preheader=reason,
                reason=reason,
                advice=advice,
                due=mail_time(at),
            )
            outcome = self.mailer.send(message)
            if not isinstance(outcome, Accepted):
                log.error("recap.failure-not-mailed", eventId=event_id)
        except Exception as error:  # noqa: BLE001 - the record also has the outcome
            log.fault("recap.failure-not-mailed", error, eventId=event_id)


def scheduled_task(event_id: str, version: str, at: datetime) -> ports.Task:
    """Return the task of one version of an event's schedule."""
    return ports.Task(
        queue=QUEUE,
        name=task_name(f"{event_id}/{version}"),
        data={"eventId": event_id, "version": version, "at": at.isoformat()},
        due=at,
        seconds=int(TIMEOUT.total_seconds()),
    )


def task_name(text: str) -> str:
    """Return the name of a task that is unique to `text`."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, text))


def _outcome(recap: Mapping[str, Any], message: str | None) -> dict[str, Any]:
    """Return the outcome of a recap that was sent, by its record."""
    outcome = {"sent": recap.get("sent", 0), "skipped": recap.get("skipped", 0)}
    if unknown := recap.get("unknown", 0):
        return outcome | {"unconfirmed": unknown, "message": unconfirmed(unknown)}
    return outcome | ({"message": message} if message else {})


def task_of(data: Any) -> tuple[str, str, datetime]:
    """Parse the event, version and due time of a task.

    Raises:
        MalformedTaskError: The body was not created by `scheduled_task`.
    """
    match data:
        case {"eventId": str(event_id), "version": str(version), "at": str(at)} if event_id:
            return event_id, version, datetime.fromisoformat(at)
    raise ports.MalformedTaskError("a scheduled recap's task needs eventId, version and at")


def _is_waiting(found: Document | None, version: str) -> TypeGuard[Document]:
    """Return whether the record is of this version, and has no outcome yet."""
    current = (version, ScheduleState.SCHEDULED)
    return found is not None and (found.fields.get("version"), found.fields.get("state")) == current


def _arguments(event_id: str, found: Document) -> RecapArguments:
    """Return the arguments that the record holds, checked again.

    Raises:
        CallError: `invalid-argument`.
    """
    data = {name: found.fields.get(name) for name in ("tenantId", *RECAP_FIELDS)}
    arguments = RecapArguments.read({"eventId": event_id} | data)
    schedule = ScheduleVersion(found.fields["version"], found.version)
    return replace(arguments, schedule=schedule)


def _canceled(found: Document | None) -> Sequence[Write]:
    if found is None or found.fields.get("state") != ScheduleState.SCHEDULED:
        return []
    return [Update(found.path, {"state": ScheduleState.CANCELLED})]
