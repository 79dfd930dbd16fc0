"""The result of a call, and the answer to its caller (spec 4.1, 7.1)."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from functions.call_error import CallError, Code
from functions.recap.ledger.batch import Batch, BatchState, Counts, RecapState, total


@dataclass(frozen=True, slots=True)
class RecapResult:
    """The answer of a successful call (spec 4.1)."""

    sent: int
    skipped: int
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a call.

    Attributes:
        before: Counts of the recap's batches before this call; `batches` are those now.
        under_way: Recipients of batches whose result is not recorded.
        skipped: Guests who were skipped before the batches were planned.
        left: Guests who are in no batch, and the first of the next recap.
        over_limit: Skipped guests whose mailbox had the tenant's maximum of recaps today.
        tenant_limited: Whether the tenant's maximum of mails today is below the number of guests.
        not_new: Guests who had a recap of this event and get no second one now.
        hidden: Photos on hosts that are not allowed in mails.
        why_nobody: Why there are no recipients.
        advice: Who can fix that the mail service refuses mails; empty where that is unknown.
    """

    before: Counts = field(default_factory=Counts)
    batches: Counts = field(default_factory=Counts)
    under_way: int = 0
    skipped: int = 0
    left: int = 0
    over_limit: int = 0
    tenant_limited: bool = False
    not_new: int = 0
    hidden: int = 0
    why_nobody: str | None = None
    advice: str = ""

    def after(self, batches: Collection[Batch]) -> "Report":
        """This report with the recap's final batches."""
        started = [batch for batch in batches if batch.state is BatchState.STARTED]
        return replace(self, batches=total(batches), under_way=total(started).left)

    @property
    def call(self) -> Counts:
        """The counts of this call alone; `left` is that of the whole recap."""
        done = self.batches - self.before
        return Counts(
            sent=done.sent,
            unknown=done.unknown,
            skipped=self.skipped + done.skipped,
            left=self.batches.left,
        )


def answer(report: Report, state: RecapState | None) -> RecapResult:
    """The answer to the caller; `state` is the recap's, None where it is not recorded.

    Raises:
        CallError: `internal`, where a mail was not sent or its result is unknown.
    """
    call = report.call
    if state is None or report.under_way:
        raise CallError(
            Code.INTERNAL,
            f"{call.sent} mails were sent, but not all of it could be recorded; "
            "call again in ten minutes to send the rest.",
        )
    if state is RecapState.FAILED:
        raise CallError(
            Code.INTERNAL,
            f"Nothing was sent. {report.advice}"
            if report.advice
            else "The mail service took none of the mails; nothing was sent, try again.",
        )
    unconfirmed = (
        f"The mail service did not confirm {call.unknown} of the mails; "
        "they count as sent, so that nobody gets two."
    )
    if state is RecapState.INTERRUPTED:
        sentences = [
            f"{call.sent} mails were sent and {call.left} were not; call again to send those.",
            unconfirmed if call.unknown else "",
            report.advice,
        ]
        raise CallError(Code.INTERNAL, " ".join(filter(None, sentences)))
    if call.unknown:
        raise CallError(Code.INTERNAL, f"{unconfirmed} All others were sent.")
    return RecapResult(call.sent, call.skipped, " ".join(_notes(report)) or None)


def outlook(report: Report, recipients: int) -> str | None:
    """The notes that `answer` would give if a call sent to all these `recipients` now."""
    ahead = replace(report, batches=Counts(sent=report.before.sent + recipients))
    return " ".join(_notes(ahead, ahead=True)) or None


def _notes(report: Report, *, ahead: bool = False) -> list[str]:
    notes = [report.why_nobody] if report.why_nobody else []
    if report.before.sent:
        continues = "would continue" if ahead else "continued"
        has = "would then have" if ahead else "has now"
        notes.append(
            f"This {continues} an interrupted recap, which {has} {report.batches.sent} "
            "mails in all."
        )
    if report.before.unknown:
        notes.append(
            f"The mail service has not confirmed {report.before.unknown} of them; "
            "they count as sent, so that nobody gets two."
        )
    if report.batches.skipped and not report.batches.sent:
        notes.append("The mail service takes none of the guests' addresses.")
    if report.over_limit:
        notes.append(
            f"{report.over_limit} guests were left out, as they have had as many recaps of your "
            "events in 24 hours as one address gets (RECAPS_PER_ADDRESS_A_DAY)."
        )
    if report.tenant_limited:
        notes.append(
            "Your events have sent as many recap mails as they may in 24 hours "
            "(RECAP_MAILS_PER_DAY)."
        )
    if report.not_new and not report.why_nobody:
        notes.append(
            f"{report.not_new} guests have had a recap of this event before: this one "
            f"{'would go' if ahead else 'went'} to guests without one alone."
        )
    if report.left:
        notes.append(
            f"{report.left} guests are left; the next recap, possible "
            f"{'in' if report.batches.sent else 'within'} 24 hours, goes to them first "
            "(with onlyNew, only to guests without one)."
        )
    if report.hidden and report.batches.sent:
        notes.append(
            f"{report.hidden} photos are not shown, as they are on none of the hosts of "
            "PHOTO_HOSTS, to which the operator of the service can add theirs."
        )
    return notes
