"""One call of `previewEventRecap`: a recap before it is sent (spec 4.9, 7.5).

It takes no lock, begins no cooldown and writes nothing; what is mailed to the caller alone is
counted, for its limit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions import log
from functions.access import Caller, check_event
from functions.call_error import CallError, Code
from functions.mail.message import Copy, Message
from functions.mail.misconfigured import whose_turn
from functions.mail.outcome import Accepted, BadAddresses, Later, Outcome, Refused, Unknown
from functions.preferences.links import PreferencesLinks
from functions.recap.arguments import PreviewArguments
from functions.recap.guests import Audience, Guest
from functions.recap.ledger import Batch, BatchState, resumable, total
from functions.recap.planner import Gathered, Planner, recipient
from functions.recap.ports import Mailer, RecapKey, Recaps
from functions.recap.recipients import Skipped
from functions.recap.report import Report, outlook
from functions.signed_links.limiter import TooManyCallsError

MAILS_AN_HOUR: Final = 10
"""Previews that one caller has mailed (spec 8)."""

MARK: Final = "[Preview]"

TOLD_FROM: Final = 10
"""Guests that an event has before its preview tells how many of them are skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What the caller is shown (spec 4.9).

    Attributes:
        sender: Whom the mail is from, `Name <address>` or an address.
        reply_to: Where answers to it go.
        subject: Of the mail,
        html: its HTML part,
        text: and the plain one; both are empty where there is nobody to show the mail of.
        recipients: How many guests the recap would go to, at most.
        skipped: How many would be left out; None for an event of few guests, because there the
            number tells a guest's choice.
        left: Guests who would be left for the next recap.
        blocked: What `sendEventRecap` would refuse the call with by now, if anything.
        message: What it would say beside its counts.
        mailed: Whether the mail has gone to the caller; None where that was not asked for.
    """

    sender: str
    reply_to: str
    subject: str
    html: str
    text: str
    recipients: int
    skipped: int | None
    left: int
    blocked: CallError | None
    message: str | None
    mailed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What a call would send, to whom."""

    ids: Sequence[str]
    skipped: Skipped
    report: Report
    blocked: CallError | None


class RecapPreview:
    """Shows recaps; one instance serves all threads of the process."""

    def __init__(
        self,
        planner: Planner,
        *,
        recaps: Recaps,
        mailer: Callable[[], Mailer],
        links: Callable[[], object],
        links_of_nobody: Callable[[], PreferencesLinks],
        count: Callable[[str], None],
        now: Callable[[], datetime],
        told_from: int = TOLD_FROM,
    ) -> None:
        """Put the parts together.

        Args:
            planner: Says whom a recap goes to.
            recaps: The locks and ledgers.
            mailer: Gives the mail service, with its key as it is now.
            links: Fails where a recap could not sign its links.
            links_of_nobody: Gives what stands in place of a guest's links.
            count: Counts one more preview for the mailbox of the user with an id, or raises
                `TooManyCallsError`.
            now: The time, aware.
            told_from: Guests that an event has before the skipped are counted.
        """
        self._planner = planner
        self._recaps = recaps
        self._mailer = mailer
        self._links = links
        self._links_of_nobody = links_of_nobody
        self._count = count
        self._now = now
        self._told_from = told_from

    def show(self, caller: Caller, wanted: PreviewArguments, own_address: str | None) -> Preview:
        """Show the recap that is `wanted`, as it would be now.

        Args:
            caller: Who asks.
            wanted: What for.
            own_address: The caller's verified address; None where there is none.

        Raises:
            CallError: as in spec 7.5.
        """
        event = check_event(caller, self._recaps.event(wanted.event_id), wanted.tenant_id)
        to = self._own_mailbox(caller, own_address) if wanted.send_to_me else None
        try:
            mailer = self._mailer()
            self._links()  # a recap needs them; a preview shows nobody's
            gathered = self._planner.gather(wanted, mailer.bytes_each)
            plan = self._plan(event, wanted, gathered)
            message = self._message(event, wanted, gathered, plan.ids, mailer.bytes_each)
        except CallError:
            raise
        except Exception as error:
            setting, turn = whose_turn(error)
            log.fault("recap.not-previewed", error, eventId=wanted.event_id, setting=setting)
            raise CallError(
                Code.INTERNAL, f"The recap could not be prepared, nor could it be sent. {turn}"
            ) from error
        if to and message.copies:
            _confirm(wanted.event_id, mailer.send(_marked(message, to)))
        text, html = message.filled(message.copies[0]) if message.copies else ("", "")
        is_told = len(gathered.audience.guests) >= self._told_from
        chose = plan.skipped.opted_out + plan.skipped.unreachable
        recipients = len(plan.ids) if is_told else len(plan.ids) + chose
        report = plan.report if is_told or not chose else replace(plan.report, nobody=None)
        return Preview(
            sender=message.sender,
            reply_to=message.reply_to or message.sender,
            subject=message.subject,
            html=html,
            text=text,
            recipients=recipients,
            skipped=plan.skipped.total if is_told else None,
            left=report.left,
            blocked=plan.blocked,
            message=outlook(report, recipients),
            mailed=bool(message.copies) if to else None,
        )

    def _own_mailbox(self, caller: Caller, own_address: str | None) -> str:
        """Where to mail the preview to, if the caller may have it mailed."""
        if own_address is None:
            raise CallError(
                Code.FAILED_PRECONDITION,
                "Only a verified address gets a preview: verify that of your account and sign in "
                "again, or leave sendToMe out.",
            )
        try:
            self._count(caller.uid)
        except TooManyCallsError:
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                f"You have had {MAILS_AN_HOUR} previews mailed within this hour; wait for the "
                "next one, or leave sendToMe out.",
            ) from None
        return own_address

    def _plan(
        self, event: Mapping[str, Any], wanted: PreviewArguments, gathered: Gathered
    ) -> _Plan:
        """What `sendEventRecap` would come to, called now."""
        found = self._recaps.lock(wanted.event_id)
        blocked, continued = self._planner.stopped(event), None
        try:
            continued = resumable(found.lock if found else None, self._now())
        except CallError as refused:
            blocked = blocked or refused
        key = RecapKey(wanted.event_id, continued or "")
        ledger = [_without_its_call(one) for one in self._recaps.batches(key)] if continued else []
        before = total(ledger)
        if before.sent:
            waiting = [one for one in ledger if one.state is BatchState.PLANNED]
            return _Plan(
                ids=[one for batch in waiting for one in gathered.still(batch)],
                skipped=Skipped.of(why for one in waiting for why in gathered.left_out_of(one)),
                report=Report(before=before, hidden=gathered.audience.hidden),
                blocked=blocked,
            )
        allowance = self._planner.allowance(event, key, reserved=False)
        choice = self._planner.choose(wanted, gathered, first=found is None, allow=allowance.look)
        return _Plan(
            ids=[one.id for one in choice.chosen],
            skipped=choice.skipped,
            report=choice.report(gathered.audience),
            blocked=blocked,
        )

    def _message(
        self,
        event: Mapping[str, Any],
        wanted: PreviewArguments,
        gathered: Gathered,
        ids: Sequence[str],
        bytes_each: int,
    ) -> Message:
        """The mail of the guest who is shown; with nobody to show, it has no copy."""
        audience = gathered.audience
        # Of few guests the choice of whose mail to show would tell who has opted out.
        is_told = len(audience.guests) >= self._told_from
        guest = _shown(wanted, ids if is_told else [], audience)
        shown = self._planner.with_pictures(wanted, audience, [guest.id] if guest else [])
        composer = self._planner.composer(event, wanted, audience, bytes_each)
        links = self._links_of_nobody()
        return composer.message([recipient(one, links) for one in shown.values()])


def _without_its_call(batch: Batch) -> Batch:
    """The batch as the call that continues its recap takes it."""
    started = batch.state is BatchState.STARTED
    return replace(batch, state=BatchState.UNKNOWN) if started else batch


def _shown(wanted: PreviewArguments, ids: Sequence[str], audience: Audience) -> Guest | None:
    """Who is asked for, or a guest with most photos, if possible of those who get the mail."""
    if wanted.guest is not None:
        guest = audience.find(wanted.guest)
        if guest is None:
            raise CallError(
                Code.NOT_FOUND,
                "No guest has left that address with an approved photo of this event; give "
                "another one as guest, or leave it out.",
            )
        return guest
    candidates = [audience.by_id[one] for one in ids] or audience.in_turn()
    return max(candidates, key=lambda one: one.photo_count, default=None)


def _marked(message: Message, to: str) -> Message:
    """The message for the caller: marked, and without what unsubscribes."""
    copies = [Copy(address=to, headers={}, values=one.values) for one in message.copies]
    return replace(message, subject=f"{MARK} {message.subject}", copies=copies)


def _confirm(event_id: str, outcome: Outcome) -> None:
    """Go on if the mail service has the preview.

    Raises:
        CallError: it has not, or nobody knows.
    """
    match outcome:
        case Accepted():
            log.info("recap.preview-mailed", eventId=event_id)
        case BadAddresses():
            raise CallError(
                Code.FAILED_PRECONDITION,
                "The mail service does not take your address; leave sendToMe out.",
            )
        case Later(reason) | Refused(reason):
            cause = outcome.cause
            log.error("recap.preview-not-mailed", eventId=event_id, problem=reason, cause=cause)
            turn = cause.turn if cause else "The mail service did not take it."
            raise CallError(Code.INTERNAL, f"The preview was not mailed. {turn}")
        case Unknown(reason):
            log.error("recap.preview-not-mailed", eventId=event_id, problem=reason, cause=None)
            raise CallError(
                Code.INTERNAL,
                "The mail service did not confirm the preview, which may arrive all the same.",
            )
