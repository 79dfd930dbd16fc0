"""One call of `previewEventRecap`: a recap before it is sent (spec 4.9, 7.4).

It acquires no lock, starts no cooldown and writes only the count of previews emailed to the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from functions import log
from functions.call.caller import Caller
from functions.call.errors import CallError, Code
from functions.mail.message import Copy, EmailMessage, Mailer
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Later,
    PartlyAccepted,
    Refused,
    SendOutcome,
    Unknown,
    who_can_fix,
)
from functions.rate_limit import RateLimit
from functions.recap.ledger.batch import Batch, BatchState, RecapKey
from functions.recap.ledger.recap_store import Lock, recap_to_resume
from functions.recap.planner import Planner, RecapInputs
from functions.recap.recap_arguments import PreviewArguments
from functions.recap.report import Report, outlook

PREVIEWS_PER_HOUR: Final = 10
"""Previews that are emailed to one caller per hour (spec 8)."""

MARK: Final = "[Preview]"

MIN_GUESTS_TO_COUNT_SKIPPED: Final = 10
"""Below this number of guests the count of skipped guests would reveal a guest's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The answer to the caller (spec 4.9).

    Attributes:
        mail: The complete email of one guest. Its parts are empty if the event has no guest.
        recipients: Number of recipients.
        skipped: Number of skipped guests, or None for an event with few guests.
        had_recap: Number of recipients who had a recap of the event.
        left: Number of guests left for the next recap.
        hidden: Number of photos without a picture in the email.
        blocked: The refusal of `sendEventRecap` now, or None.
        notes: The notes that `sendEventRecap` would return.
        mailed: Whether the preview was emailed, or None if that was not requested.
        unreached: Guests whom the requested recap did not reach, or None without such a request.
    """

    mail: EmailMessage
    recipients: int
    skipped: int | None
    had_recap: int
    left: int
    hidden: int
    blocked: Mapping[str, object] | None
    notes: Sequence[str]
    mailed: bool | None
    unreached: "Sequence[Unreached] | None"


@dataclass(frozen=True, slots=True)
class Unreached:
    """A guest whom a recap did not reach. Name and address are empty if no photo has them."""

    trouble: str
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapPreview:
    """Shows recaps. Shared by all threads of the process.

    Attributes:
        min_guests: Minimum number of guests for which skipped guests are counted.
    """

    planner: Planner
    rate_limit: RateLimit
    min_guests: int = MIN_GUESTS_TO_COUNT_SKIPPED

    def show(self, caller: Caller, arguments: PreviewArguments, own_address: str | None) -> Preview:
        """Show the recap as it would be sent now.

        `own_address` is the caller's verified address, or None.

        Raises:
            CallError: See spec 7.4.
        """
        event, lock = self.planner.event(caller, arguments)
        with self.planner.slots.slot(event.tenant_id):
            to = self._own_mailbox(caller, own_address) if arguments.send_to_me else None
            try:
                self.planner.mailer.check()
                self.planner.links.check()  # a recap needs them, although a preview has none
                inputs = self.planner.gather(event, arguments, first=lock is None)
                may_show_counts = len(inputs.audience.guests) >= self.min_guests
                # With few guests the counts and the shown guest would reveal who opted out.
                visible = inputs if may_show_counts else replace(inputs, skip_reasons={})
                report, blocked = self._plan(visible, lock)
                ids = report.recipients if may_show_counts else []
                shown = inputs.recipients(_shown(inputs, arguments.guest, ids), signed=False)
                message = inputs.composer().message(shown.values())
                unreached = self._unreached(arguments, inputs)
            except CallError:
                raise
            except Exception as error:
                setting, who = who_can_fix(error)
                log.fault("recap.not-previewed", error, eventId=arguments.event_id, setting=setting)
                raise CallError(
                    Code.INTERNAL,
                    f"The preview failed, and sending would fail for the same reason. {who}",
                ) from error
            if to and message.copies:
                outcome = self.planner.mailer.send(_marked(message, to))
                _confirm(arguments.event_id, self.planner.mailer, outcome)
            mail = message.rendered() if message.copies else replace(message, text="", html="")
            return Preview(
                mail=mail,
                recipients=len(report.recipients),
                skipped=report.skipped if may_show_counts else None,
                had_recap=sum(guest in inputs.sent_at for guest in report.recipients),
                left=report.left,
                hidden=inputs.audience.problems.total(),
                blocked=blocked,
                notes=outlook(report),
                mailed=bool(message.copies) if to else None,
                unreached=unreached,
            )

    def _unreached(
        self, arguments: PreviewArguments, inputs: RecapInputs
    ) -> Sequence[Unreached] | None:
        """Return the guests whom the recap did not reach, with their addresses from photos."""
        if arguments.recap_id is None:
            return None
        found = self.planner.statuses.load(RecapKey(arguments.event_id, arguments.recap_id), [])
        return [
            Unreached(trouble, guest.name, guest.address) if guest else Unreached(trouble)
            for guest_id, status in found.statuses.items()
            if (trouble := status.trouble)
            for guest in [inputs.audience.by_id.get(guest_id)]
        ]

    def _own_mailbox(self, caller: Caller, own_address: str | None) -> str:
        """Return the caller's address if a preview may be emailed to it."""
        if own_address is None:
            raise CallError(
                Code.FAILED_PRECONDITION,
                "Previews are emailed only to a verified address. Verify your email address and "
                "sign in again, or omit sendToMe.",
            )
        if not self.rate_limit.allows(
            "previewEventRecap", f"mail to {caller.uid}", PREVIEWS_PER_HOUR
        ):
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                f"You have reached the limit of {PREVIEWS_PER_HOUR} emailed previews per hour. "
                "Try again in an hour, or omit sendToMe.",
                {"reason": "calls"},
            )
        return own_address

    def _plan(
        self, inputs: RecapInputs, lock: Lock | None
    ) -> tuple[Report, Mapping[str, object] | None]:
        """Return the report of `sendEventRecap` now, with this lock, and its refusal."""
        blocked = continued = None
        try:
            continued = recap_to_resume(lock, self.planner.clock.now())
        except CallError as refused:
            details = refused.details or {}
            blocked = {"code": refused.code, "message": refused.message, **details}
        key = RecapKey(inputs.arguments.event_id, continued or "")
        batches = self.planner.recaps.batches(key) if continued else []
        report = inputs.continuing_report([_without_its_call(batch) for batch in batches])
        if report is None:
            report = inputs.select_recipients()
        return report, blocked


def _without_its_call(batch: Batch) -> Batch:
    """Return the batch as the call that continues the recap would settle it."""
    started = batch.state is BatchState.STARTED
    return replace(batch, state=BatchState.UNKNOWN) if started else batch


def _shown(inputs: RecapInputs, address: str | None, ids: Sequence[str]) -> Sequence[str]:
    """Return the requested guest, or the recipient in `ids` or any guest with most photos."""
    audience = inputs.audience
    if address is not None:
        guest = audience.find(address)
        if guest is None:
            raise CallError(
                Code.NOT_FOUND,
                "No approved photo of this event has that email address. Pass another guest, or "
                "omit guest.",
            )
        return [guest.id]
    candidates = [audience.by_id[guest_id] for guest_id in ids] or audience.in_order()
    return [max(candidates, key=lambda guest: guest.photo_count).id] if candidates else []


def _marked(message: EmailMessage, to: str) -> EmailMessage:
    """Return the message for the caller, marked and without the unsubscribe headers."""
    copies = [Copy(address=to, headers={}, values=copy.values) for copy in message.copies]
    return replace(message, subject=f"{MARK} {message.subject}", copies=copies)


def _confirm(event_id: str, mailer: Mailer, outcome: SendOutcome) -> None:
    """Check that the email provider accepted the preview.

    Raises:
        CallError: The provider did not accept the preview, or the outcome is unknown.
    """
    match outcome:
        case Accepted():
            log.info("recap.preview-mailed", eventId=event_id)
            return
        case BadAddresses():
            raise CallError(
                Code.FAILED_PRECONDITION,
                "The email provider rejected your address. Omit sendToMe.",
            )
        case Unknown() | PartlyAccepted():
            said = "The email provider didn't confirm the preview. It may still arrive."
        case Later(cause=cause) | Refused(cause=cause):
            who = cause.who_can_fix(mailer.key_name) if cause else "Try again."
            said = f"We couldn't email the preview. {who}"
    problem, cause = outcome.reason, outcome.cause
    log.error("recap.preview-not-mailed", eventId=event_id, problem=problem, cause=cause)
    raise CallError(Code.INTERNAL, said)
