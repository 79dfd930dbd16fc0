"""One call of `sendEventRecap`, from the lock to the answer (spec 3.3, 4.1, 7.1)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions import log, ports
from functions.call.caller import Caller
from functions.call.errors import CallError, Code
from functions.mail.outcome import who_can_fix
from functions.recap.dispatch import Dispatch
from functions.recap.ledger.batch import TIMEOUT, batches_to_resend, open_batches, plan
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import recap_to_resume
from functions.recap.planner import Planner
from functions.recap.recap_arguments import RecapArguments
from functions.recap.report import RecapResult, Report, answer
from functions.wall.wall_event import WallEvent

_LAST_START_SECONDS: Final = TIMEOUT.total_seconds() - 120
"""Seconds from the start of a call after which no further request starts. A request that is running
at that time, and the records after it, still end within the function's timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapSender:
    """Sends recaps. Shared by all threads of the process.

    slot ▸ acquire the lock ▸ gather ▸ choose ▸ plan ▸ send ▸ release ▸ report
    """

    planner: Planner
    in_parallel: ports.ParallelMap
    small_in_parallel: ports.ParallelMap
    threads: ports.Threads
    has_reports: bool = True
    """Whether the email provider sends delivery reports."""

    def send(self, caller: Caller, arguments: RecapArguments, *, waits: bool = True) -> RecapResult:
        """Send the recap, or the rest of an interrupted recap.

        If `waits`, the call waits for a free slot.

        Raises:
            CallError: See spec 7.1.
        """
        give_up_at = self.planner.clock.monotonic() + _LAST_START_SECONDS
        event, lock = self.planner.event(caller, arguments)
        if arguments.resend_unconfirmed:
            last = self.planner.recaps.last_recap(arguments.event_id)
            if last is None:
                return RecapResult(0, 0, "No recap of this event was sent.")
            arguments = arguments.with_recorded(*last)
        with self._with_last_recap(arguments.event_id):
            # A call that is refused does not wait for a slot.
            recap_to_resume(lock, self.planner.clock.now(), arguments.resend_of)
            with self.planner.slots.slot(event.tenant_id, waits=waits):
                return self._send(caller, arguments, event, give_up_at)

    def check(self, caller: Caller, arguments: RecapArguments, at: datetime | None) -> None:
        """Check that a call at that time would not be refused in the present state.

        If `at` is None, only the event and the caller are checked.

        Raises:
            CallError: `send` would raise this error.
        """
        _, lock = self.planner.event(caller, arguments)
        with self._with_last_recap(arguments.event_id):
            if at is not None:
                recap_to_resume(lock, at)

    @contextmanager
    def _with_last_recap(self, event_id: str) -> Iterator[None]:
        """Add the counts of the last recap to a refusal: its own response may have been lost."""
        try:
            yield
        except CallError as refused:
            if refused.code not in (Code.ABORTED, Code.RESOURCE_EXHAUSTED):
                raise
            last: Mapping[str, Any] = {}
            with suppress(Exception):  # the refusal is complete without them
                _, last = self.planner.recaps.last_recap(event_id) or ("", {})
            names = {"sent": "sent", "skipped": "skipped", "unconfirmed": "unknown"}
            counts = {name: last.get(field, 0) for name, field in names.items()}
            details = {**(refused.details or {}), **({"lastRecap": counts} if last else {})}
            raise CallError(refused.code, refused.message, details) from None

    def _send(
        self, caller: Caller, arguments: RecapArguments, event: WallEvent, give_up_at: float
    ) -> RecapResult:
        claim = Claim.acquire(
            self.planner.recaps,
            caller,
            arguments,
            event.tenant_id,
            clock=self.planner.clock,
            random=self.planner.random,
            mutex=self.threads.mutex(),
        )
        try:
            report, dispatch = self._prepare(claim, event, arguments, give_up_at)
        except Exception as error:
            setting, who = who_can_fix(error)
            event_id, recap_id = claim.key
            log.fault("recap.failed", error, eventId=event_id, recapId=recap_id, setting=setting)
            claim.release(failed=True)
            raise CallError(
                Code.INTERNAL, f"The recap could not be prepared, and nothing was sent. {who}"
            ) from error
        dispatch.send()
        state = claim.release()
        report = replace(report.after(claim.ledger.values()), advice=dispatch.advice)
        report.log(claim.key, state, dispatch.cause)
        return answer(report, state)

    def _prepare(
        self, claim: Claim, event: WallEvent, arguments: RecapArguments, give_up_at: float
    ) -> tuple[Report, Dispatch]:
        """Plan the call without sending an email."""
        if claim.resumed:
            claim.read_ledger()
        self.planner.mailer.check()
        inputs = self.planner.gather(event, arguments, first=claim.before is None)
        composer = inputs.composer()
        if claim.resumed and (arguments.resend_of or open_batches(claim.ledger.values())):
            # No call resends the email to a guest who has it.
            reported = self.planner.statuses.load(claim.key, []).statuses.keys()
            if arguments.resend_of:
                claim.resend(reported)
            claim.confirm(reported)
        if arguments.resend_of:
            continued: Report | None = inputs.resend_report(claim.ledger.values())
        else:
            continued = inputs.continuing_report(claim.ledger.values())
        report = continued or inputs.select_recipients()
        recipients = inputs.recipients(report.recipients)
        if not continued:
            batches = plan(
                composer.groups(recipients),
                per_batch=self.planner.mailer.recipients_per_request,
                first=claim.next_number,
            )
            fields = {} if self.has_reports else {"mailServer": True}
            claim.plan(batches, skipped=report.skipped, left=report.left, **fields)
        still_open = batches_to_resend if arguments.resend_of else open_batches
        return report, Dispatch(
            claim=claim,
            mailer=self.planner.mailer,
            composer=composer,
            batches=[inputs.remaining(batch) for batch in still_open(claim.ledger.values())],
            recipients=recipients,
            in_parallel=self.in_parallel,
            small_in_parallel=self.small_in_parallel,
            give_up_at=give_up_at,
        )
