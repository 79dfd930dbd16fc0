"""One call of `previewEventRecap`: a recap before it is sent (spec 4.9, 7.4).

It takes no lock, begins no cooldown and writes nothing, except the count of previews mailed to the
caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from functions import log
from functions.call.caller import Caller
from functions.call.errors import CallError, Code
from functions.links.link import LinkSigner
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
from functions.ports import Clock
from functions.rate_limit import RateLimit
from functions.recap.daily_limit import DailyLimit
from functions.recap.delivery_status import StatusStore
from functions.recap.ledger.batch import Batch, BatchState, RecapKey
from functions.recap.ledger.recap_store import Lock, RecapStore, resumable
from functions.recap.planner import Gathered, Planner
from functions.recap.recap_arguments import PreviewArguments
from functions.recap.report import Report, outlook
from functions.recap.slots import Slots

PREVIEWS_PER_HOUR: Final = 10
"""Previews that one caller gets by mail within an hour (spec 8)."""

MARK: Final = "[Preview]"

MIN_GUESTS_TO_COUNT_SKIPPED: Final = 10
"""Below this number of guests the count of skipped guests would reveal a guest's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The answer to the caller (spec 4.9).

    `mail` is written out; its parts are empty without a guest to show the mail of. `skipped` is
    None for an event of few guests, `mailed` where no mail was asked for, `unreached` where no
    recap was named. `hidden` counts photos without a picture in the email. `blocked` is the
    refusal of `sendEventRecap` now, `notes` what it would say.
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
    """A guest whom a sent recap did not reach; without name and address if no photo has them."""

    trouble: str
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapPreview:
    """Shows recaps; one instance serves all threads of the process.

    Attributes:
        min_guests: Guests from which on the skipped are counted.
    """

    planner: Planner
    recaps: RecapStore
    daily_limit: DailyLimit
    statuses: StatusStore
    slots: Slots
    mailer: Mailer
    links: LinkSigner
    rate_limit: RateLimit
    clock: Clock
    min_guests: int = MIN_GUESTS_TO_COUNT_SKIPPED

    def show(self, caller: Caller, arguments: PreviewArguments, own_address: str | None) -> Preview:
        """Show the recap as it would be sent now; `own_address` is verified.

        Raises:
            CallError: as in spec 7.4.
        """
        event, lock = self.planner.event(caller, arguments)
        with self.slots.slot(event.tenant_id):
            to = self._own_mailbox(caller, own_address) if arguments.send_to_me else None
            try:
                self.mailer.check()
                self.links.check()  # a recap needs them; a preview shows nobody's
                gathered = self.planner.gather(event, arguments, first=lock is None)
                may_show_counts = len(gathered.audience.guests) >= self.min_guests
                # With few guests the counts and the shown guest would reveal who opted out.
                visible = gathered if may_show_counts else replace(gathered, skip_reasons={})
                report, blocked = self._plan(visible, lock)
                ids = report.recipients if may_show_counts else []
                message = self._message(gathered, arguments.guest, ids)
                unreached = self._unreached(arguments, gathered)
            except CallError:
                raise
            except Exception as error:
                setting, who = who_can_fix(error)
                log.fault("recap.not-previewed", error, eventId=arguments.event_id, setting=setting)
                raise CallError(
                    Code.INTERNAL, f"The recap could not be prepared, nor could it be sent. {who}"
                ) from error
            if to and message.copies:
                outcome = self.mailer.send(_marked(message, to))
                _confirm(arguments.event_id, self.mailer, outcome)
            mail = message.rendered() if message.copies else replace(message, text="", html="")
            return Preview(
                mail=mail,
                recipients=len(report.recipients),
                skipped=report.skipped if may_show_counts else None,
                had_recap=sum(guest in gathered.sent_at for guest in report.recipients),
                left=report.left,
                hidden=gathered.audience.problems.total(),
                blocked=blocked,
                notes=outlook(report),
                mailed=bool(message.copies) if to else None,
                unreached=unreached,
            )

    def _unreached(
        self, arguments: PreviewArguments, gathered: Gathered
    ) -> Sequence[Unreached] | None:
        """The guests whom the recap did not reach, with the addresses that photos show to staff."""
        if arguments.recap_id is None:
            return None
        found = self.statuses.load(RecapKey(arguments.event_id, arguments.recap_id), [])
        return [
            Unreached(trouble, guest.name, guest.address) if guest else Unreached(trouble)
            for guest_id, status in found.statuses.items()
            if (trouble := status.trouble)
            for guest in [gathered.audience.by_id.get(guest_id)]
        ]

    def _own_mailbox(self, caller: Caller, own_address: str | None) -> str:
        """The caller's address, if a preview may be mailed to it."""
        if own_address is None:
            raise CallError(
                Code.FAILED_PRECONDITION,
                "Only a verified address gets a preview: verify that of your account and sign in "
                "again, or leave sendToMe out.",
            )
        if not self.rate_limit.allows(
            "previewEventRecap", f"mail to {caller.uid}", PREVIEWS_PER_HOUR
        ):
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                f"You have had {PREVIEWS_PER_HOUR} previews mailed within this hour; wait for the "
                "next one, or leave sendToMe out.",
                {"reason": "calls"},
            )
        return own_address

    def _plan(
        self, gathered: Gathered, lock: Lock | None
    ) -> tuple[Report, Mapping[str, object] | None]:
        """The report of `sendEventRecap` now, with this lock; its refusal."""
        blocked = continued = None
        try:
            continued = resumable(lock, self.clock.now())
        except CallError as refused:
            details = refused.details or {}
            blocked = {"code": refused.code, "message": refused.message, **details}
        key = RecapKey(gathered.arguments.event_id, continued or "")
        batches = self.recaps.batches(key) if continued else []
        report = gathered.continued([_without_its_call(batch) for batch in batches])
        if report is None:
            remaining = self.daily_limit.remaining(gathered.event.tenant_id, self.clock.now())
            report = gathered.choose(remaining)
        return report, blocked

    def _message(self, gathered: Gathered, address: str | None, ids: Sequence[str]) -> EmailMessage:
        """The mail of one guest; it has no copy where there is no guest to show."""
        shown = _shown(gathered, address, ids)
        recipients = gathered.recipients(shown, self.links, signed=False)
        return gathered.composer().message(recipients.values())


def _without_its_call(batch: Batch) -> Batch:
    """The batch as the call that continues the recap would settle it."""
    started = batch.state is BatchState.STARTED
    return replace(batch, state=BatchState.UNKNOWN) if started else batch


def _shown(gathered: Gathered, address: str | None, ids: Sequence[str]) -> Sequence[str]:
    """The requested guest, or the one with most photos, preferably among the recipients `ids`."""
    audience = gathered.audience
    if address is not None:
        guest = audience.find(address)
        if guest is None:
            raise CallError(
                Code.NOT_FOUND,
                "No guest has left that address with an approved photo of this event; give "
                "another one as guest, or leave it out.",
            )
        return [guest.id]
    candidates = [audience.by_id[guest_id] for guest_id in ids] or audience.in_order()
    return [max(candidates, key=lambda guest: guest.photo_count).id] if candidates else []


def _marked(message: EmailMessage, to: str) -> EmailMessage:
    """The message for the caller: marked, and without the unsubscribe headers."""
    copies = [Copy(address=to, headers={}, values=copy.values) for copy in message.copies]
    return replace(message, subject=f"{MARK} {message.subject}", copies=copies)


def _confirm(event_id: str, mailer: Mailer, outcome: SendOutcome) -> None:
    """Check that the mail service accepted the preview.

    Raises:
        CallError: it did not, or the outcome is unknown.
    """
    match outcome:
        case Accepted():
            log.info("recap.preview-mailed", eventId=event_id)
            return
        case BadAddresses():
            raise CallError(
                Code.FAILED_PRECONDITION,
                "The mail service does not take your address; leave sendToMe out.",
            )
        case Unknown() | PartlyAccepted():
            said = "The mail service did not confirm the preview, which may arrive all the same."
        case Later(cause=cause) | Refused(cause=cause):
            who = (
                cause.who_can_fix(mailer.key_name) if cause else "The mail service did not take it."
            )
            said = f"The preview was not mailed. {who}"
    problem, cause = outcome.reason, outcome.cause
    log.error("recap.preview-not-mailed", eventId=event_id, problem=problem, cause=cause)
    raise CallError(Code.INTERNAL, said)
