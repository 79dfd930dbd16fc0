"""One call of `sendEventRecap`, from the lock to the answer (spec 3.3, 4.1, 7.1)."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from functions import log
from functions.call_rules import Caller, CallError, Code
from functions.firestore.model import ChangedMeanwhileError
from functions.links.link import LinkSigner, PreferencesLinks
from functions.mail.message import Cause, Mailer, who_can_fix
from functions.outside import Clock, InParallel
from functions.recap.audience.guests import Guest
from functions.recap.dispatch import Dispatch
from functions.recap.feedback import MailLabels, StatusStore
from functions.recap.ledger.batch import (
    TIMEOUT,
    Batch,
    RecapKey,
    RecapState,
    open_batches,
    plan,
    resumable,
    sent_again,
    total,
)
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.limits import MailingStore, Slots, counted, with_recap
from functions.recap.mail.composer import Composer, Recipient
from functions.recap.planner import Gathered, Planner
from functions.recap.recap_arguments import RecapArguments
from functions.recap.report import RecapResult, Report, answer
from functions.wall.address import guest_uid
from functions.wall.wall_event import WallEvent

_LAST_WAIT_SECONDS: Final = TIMEOUT.total_seconds() - 120
"""Seconds from the start of a call after which it does not wait any more. A request that is running
then, and the records after it, still end within the function's timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapSender:
    """Sends recaps; one instance serves all threads of the process.

        slot ▸ take the lock ▸ gather ▸ choose ▸ reserve ▸ plan ▸ send ▸ release ▸ report

    Attributes:
        small_in_parallel: Sends the small batches, `in_parallel` all others.
        new_word: Gives an unguessable new word of letters and digits.
        new_mutex: Gives a mutex for the threads of a call.
    """

    planner: Planner
    recaps: RecapStore
    mailings: MailingStore
    statuses: StatusStore
    slots: Slots
    mailer: Mailer
    links: LinkSigner
    in_parallel: InParallel
    small_in_parallel: InParallel
    clock: Clock
    new_word: Callable[[], str]
    new_mutex: Callable[[], AbstractContextManager[object]]

    def send(self, caller: Caller, arguments: RecapArguments) -> RecapResult:
        """Send the recap, or the rest of an interrupted one.

        Raises:
            CallError: as in spec 7.1.
        """
        give_up_at = self.clock.monotonic() + _LAST_WAIT_SECONDS
        event, lock = self.planner.event(caller, arguments)
        if arguments.resend_unconfirmed:
            last = self.recaps.last_recap(arguments.event_id)
            if last is None:
                return RecapResult(0, 0, "No recap of this event was sent.")
            arguments = arguments.as_recorded(*last)
        try:
            # A call that is refused waits for no slot.
            resumable(lock, self.clock.now(), arguments.again)
            with self.slots.slot(event.tenant_id):
                return self._send(caller, arguments, event, give_up_at)
        except CallError as refused:
            if refused.code not in (Code.ABORTED, Code.RESOURCE_EXHAUSTED):
                raise
            raise self._with_last_recap(refused, arguments.event_id) from None

    def check(self, caller: Caller, arguments: RecapArguments, at: datetime | None) -> None:
        """Check that a call at that time would not be refused, as things are now.

        With None as the time, only the event and the caller are checked.

        Raises:
            CallError: as `send` would.
        """
        _, lock = self.planner.event(caller, arguments)
        try:
            if at is not None:
                resumable(lock, at)
        except CallError as refused:
            raise self._with_last_recap(refused, arguments.event_id) from None

    def _with_last_recap(self, refused: CallError, event_id: str) -> CallError:
        """The refusal, with the counts of the last recap, whose own answer may have been lost."""
        _, last = self.recaps.last_recap(event_id) or ("", {})
        counts = {
            "sent": last.get("sent", 0),
            "skipped": last.get("skipped", 0),
            "unconfirmed": last.get("unknown", 0),
        }
        details = {**(refused.details or {}), **({"lastRecap": counts} if last else {})}
        return CallError(refused.code, refused.message, details)

    def _send(
        self, caller: Caller, arguments: RecapArguments, event: WallEvent, give_up_at: float
    ) -> RecapResult:
        before, lock = self.recaps.take(
            caller,
            arguments,
            event.tenant_id,
            holder=self.new_word(),
            new_id=self.new_word,
            clock=self.clock,
        )
        claim = Claim(self.recaps, arguments.event_id, before, lock, self.clock, self.new_mutex())
        try:
            report, dispatch = self._prepare(claim, event, arguments, give_up_at)
        except Exception as error:
            setting, who = who_can_fix(error)
            event_id, recap_id = claim.key
            log.fault("recap.failed", error, eventId=event_id, recapId=recap_id, setting=setting)
            self._release(claim, event, failed=True)
            raise CallError(
                Code.INTERNAL, f"The recap could not be prepared, and nothing was sent. {who}"
            ) from error
        dispatch.send()
        state = self._release(claim, event)
        report = replace(report.after(claim.ledger.values()), advice=dispatch.advice)
        _log(claim, report, state, dispatch.cause)
        return answer(report, state)

    def _prepare(
        self, claim: Claim, event: WallEvent, arguments: RecapArguments, give_up_at: float
    ) -> tuple[Report, Dispatch]:
        """Plan the call; nothing is sent yet."""
        if claim.resumed:
            claim.read_ledger()
        self.mailer.check()
        gathered = self.planner.gather(
            event,
            arguments,
            self.planner.photos(arguments.event_id),
            room=self.mailer.bytes_per_recipient,
            first=claim.before is None,
        )
        audience = gathered.audience
        bytes_each = self.mailer.bytes_per_recipient
        composer = self.planner.composer(event, arguments, gathered, bytes_each)
        if arguments.again:
            claim.resend(self.statuses.load(claim.key, []).statuses.keys())
            continued: Report | None = gathered.again(claim.ledger.values())
        else:
            continued = gathered.continued(claim.ledger.values())
        report = continued or self._reserve(claim, event, gathered)
        guests = self.planner.with_pictures(arguments, audience, report.recipients)
        if not continued:
            _plan(claim, report, guests, composer, self.mailer.recipients_per_request)
        still_open = sent_again if arguments.again else open_batches
        batches = [gathered.remaining(batch) for batch in still_open(claim.ledger.values())]

        return report, Dispatch(
            claim=claim,
            mailer=self.mailer,
            composer=composer,
            batches=batches,
            recipients=self._recipients(claim.key, batches, guests, gathered.accounts),
            in_parallel=self.in_parallel,
            small_in_parallel=self.small_in_parallel,
            clock=self.clock,
            give_up_at=give_up_at,
        )

    def _recipients(
        self,
        key: RecapKey,
        batches: Iterable[Batch],
        guests: Mapping[str, Guest],
        accounts: Mapping[str, str],
    ) -> Mapping[str, Recipient]:
        """The recipients of all batches, by guest id, with their links and their mails' labels."""
        return {
            guest.id: Recipient(
                guest,
                self.links.sign(accounts.get(guest.id, guest_uid(guest.id)), guest.uid),
                MailLabels(
                    event_id=key.event_id,
                    recap_id=key.recap_id,
                    batch=batch.number,
                    guest_id=guest.id,
                ).as_texts(),
            )
            for batch in batches
            for guest in map(guests.__getitem__, batch.recipients)
        }

    def _reserve(self, claim: Claim, event: WallEvent, gathered: Gathered) -> Report:
        """Choose the recipients, and record them in the tenant's allowance.

        The choice is made again where another event of the tenant was recorded meanwhile.

        Raises:
            ChangedMeanwhileError: the lease is over; another call may have the recap.
        """
        by_id, recap_id = gathered.audience.by_id, claim.key.recap_id
        while True:
            found, version = self.mailings.load(event.tenant_id)
            now = self.clock.now()
            report = self.planner.choose(gathered, counted(found, recap_id, now))
            mailboxes = [by_id[guest].mailbox for guest in report.recipients]
            entries = with_recap(found, recap_id, mailboxes, now)
            if not claim.in_time:
                raise ChangedMeanwhileError
            with suppress(ChangedMeanwhileError):
                if report.recipients:
                    self.mailings.save(event.tenant_id, version, entries, now)
                return report

    def _release(
        self, claim: Claim, event: WallEvent, *, failed: bool = False
    ) -> RecapState | None:
        """Release the lock; returns the recap's state, None where it is not recorded.

        A recap without mails gives back its allowance first: after a crash in between, the next
        call continues the same recap, so that it counts once. After the release it would be a new
        one.
        """
        try:
            state = claim.state(failed=failed)
            if state in (RecapState.FAILED, RecapState.EMPTY):
                self._give_back(claim, event)
            return claim.release(state)
        except Exception as error:  # noqa: BLE001 - the answer matters more, and the lease ends
            event_id, recap_id = claim.key
            log.fault("recap.held", error, eventId=event_id, recapId=recap_id)
            return None

    def _give_back(self, claim: Claim, event: WallEvent) -> None:
        """Remove the recap from the tenant's allowance.

        A call that takes the lock later records the recap anew. So the lock is read after the
        allowance: if another call has the lock by then, the entries belong to that call. The
        allowance is written even if the recap is not in it, so that a call that was held up since
        before its lease ended cannot record the recap any more.
        """
        while True:
            found, version = self.mailings.load(event.tenant_id)
            now = self.clock.now()
            if not claim.is_held:
                return
            entries = with_recap(found, claim.key.recap_id, [], now)
            with suppress(ChangedMeanwhileError):
                self.mailings.save(event.tenant_id, version, entries, now)
                return


def _plan(
    claim: Claim, report: Report, guests: Mapping[str, Guest], composer: Composer, per_batch: int
) -> None:
    """Record the batches: the recipients of one can share a message."""
    nobodys = PreferencesLinks("", "")
    recipients = {guest: Recipient(guests[guest], nobodys) for guest in report.recipients}
    batches = plan(
        composer.groups(recipients),
        first=max(claim.ledger, default=-1) + 1,
        per_batch=per_batch,
    )
    planned = total(batches)
    counts = replace(planned, skipped=report.skipped, left=report.left + planned.left)
    claim.plan(batches, counts)


def _log(claim: Claim, report: Report, state: RecapState | None, cause: Cause | None) -> None:
    write = log.info if state in (RecapState.SENT, RecapState.EMPTY) else log.error
    call = report.call
    write(
        "recap.done",
        eventId=claim.key.event_id,
        recapId=claim.key.recap_id,
        state=state,
        sent=call.sent,
        unknown=call.unknown,
        open=call.left,
        underWay=report.under_way,
        skipped=call.skipped,
        left=report.left,
        cause=cause,
    )
