"""The result of a call, and the answer to its caller (spec 4.1, 7.1)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from functions import log
from functions.call.errors import CallError, Code
from functions.mail.outcome import Cause
from functions.recap.audience.photos import Problem
from functions.recap.ledger.batch import Batch, BatchState, Counts, RecapKey, RecapState, total

HOSTS_NAMED: Final = 5

ADDRESSES_OF_A_MAILBOX: Final = 100
"""Addresses of one mailbox that a recap is sent to. Without a bound, 1,000 photos with addresses
such as `ann+1@example.com` would send one person 1,000 emails."""


@dataclass(frozen=True, slots=True)
class RecapResult:
    """The answer of a successful call (spec 4.1)."""

    sent: int
    skipped: int
    message: str | None = None
    notes: Sequence[str] = field(default_factory=list)
    skipped_by: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A call: its recipients, and its result as far as that is known.

    Attributes:
        recipients: The guests to mail, by id, in the order of sending.
        before: Counts of the recap's batches before this call; `batches` are those now.
        under_way: Recipients of batches whose result is not recorded.
        again: Whether the call sends unconfirmed mails again.
        waiting: Recipients of open batches that this call leaves to the next one.
        skipped: Guests who had opted out before the batches were planned, or have no valid address.
        bounced: Guests whose address has sent a mail back for good.
        left: Guests who are in no batch, and the first of the next recap.
        crowded: Guests among them whose mailbox has as many addresses as one recap mails.
        tenant_limited: Whether the tenant's daily limit is below the number of guests.
        not_new: Guests who had a recap of this event and get no second one now.
        hidden_hosts: Numbers of photos on hosts that are not allowed in mails.
        problems: Numbers of photos without a picture in the email, by the reason.
        hidden_logo: Host of the event's logo, if that is not allowed in mails.
        why_nobody: Why there are no recipients.
        advice: Who can fix that the mail service refuses mails; empty where that is unknown.
    """

    recipients: Sequence[str] = ()
    before: Counts = field(default_factory=Counts)
    batches: Counts = field(default_factory=Counts)
    under_way: int = 0
    again: bool = False
    waiting: int = 0
    skipped: int = 0
    bounced: int = 0
    left: int = 0
    crowded: int = 0
    tenant_limited: bool = False
    not_new: int = 0
    hidden_hosts: Counter[str] = field(default_factory=Counter)
    problems: Counter[Problem] = field(default_factory=Counter)
    hidden_logo: str = ""
    why_nobody: str | None = None
    advice: str = ""

    def after(self, batches: Collection[Batch]) -> "Report":
        """This report with the recap's final batches."""
        started = [batch for batch in batches if batch.state is BatchState.STARTED]
        return replace(self, batches=total(batches), under_way=total(started).left)

    @property
    def call(self) -> Counts:
        """The counts of this call alone; `left` is what it had to send and did not."""
        done = self.batches - self.before
        return Counts(
            sent=done.sent,
            unknown=done.unknown,
            skipped=self.skipped + done.skipped,
            left=self.batches.left - self.waiting,
        )

    @property
    def skipped_by(self) -> Mapping[str, int]:
        """Who else got no mail, without zeros."""
        others = {"bounced": self.bounced, "left": self.left}
        return {reason: guests for reason, guests in others.items() if guests}

    def log(self, key: RecapKey, state: RecapState | None, cause: Cause | None = None) -> None:
        """Log the end of the call; `state` is the recap's, None where it is not recorded."""
        call = self.call
        write = log.info if state in (RecapState.SENT, RecapState.EMPTY) else log.error
        write(
            "recap.done",
            eventId=key.event_id,
            recapId=key.recap_id,
            state=state,
            sent=call.sent,
            unknown=call.unknown,
            open=call.left,
            underWay=self.under_way,
            skipped=call.skipped,
            left=self.left,
            cause=cause,
        )


def answer(report: Report, state: RecapState | None) -> RecapResult:
    """The answer to the caller; `state` is the recap's, None where it is not recorded.

    Raises:
        CallError: `internal`, where a mail was not sent or its result is unknown.
    """
    call, unknown = report.call, report.batches.unknown
    details = {"unconfirmed": unknown} if unknown else None
    if state is None or report.under_way:
        raise CallError(
            Code.INTERNAL,
            f"{call.sent} mails were sent, but not all of it could be recorded; "
            "call again in ten minutes to send the rest.",
            details,
        )
    if call.left and state is RecapState.FAILED:
        raise CallError(
            Code.INTERNAL,
            f"Nothing was sent. {report.advice}"
            if report.advice
            else "The mail service took none of the mails; nothing was sent, try again.",
        )
    confirmed = call.sent - call.unknown
    doubt = unconfirmed(call.unknown)
    if call.left:
        sentences = [
            f"{confirmed} mails were sent and {call.left} were not; call again to send those.",
            doubt if call.unknown else "",
            report.advice,
        ]
        raise CallError(Code.INTERNAL, " ".join(filter(None, sentences)), details)
    if call.unknown:
        sent = "The other mail was" if confirmed == 1 else f"All other {confirmed} mails were"
        others = f" {sent} sent." if confirmed else ""
        raise CallError(Code.INTERNAL, f"{doubt}{others}", details)
    notes = _notes(report)
    if not call.sent:
        message, *notes = notes or ["Nobody is left to send to."]
        return RecapResult(0, call.skipped, message, notes, report.skipped_by)
    return RecapResult(call.sent, call.skipped, None, notes, report.skipped_by)


def unconfirmed(mails: int) -> str:
    """What an organizer reads of mails that the mail service did not confirm."""
    return (
        f"The mail service did not confirm {mails} of the mails; "
        "they count as sent, so that nobody gets two. A call with resendUnconfirmed: true mails "
        "those again of which the mail service has reported nothing by then."
    )


def outlook(report: Report) -> Sequence[str]:
    """The notes of a call that sends to all its recipients now."""
    sent = report.before.sent + len(report.recipients)
    return _notes(replace(report, batches=Counts(sent=sent)))


def _notes(report: Report) -> list[str]:
    when = "in" if report.batches.sent else "within"
    notes = {
        report.why_nobody or "": True,
        f"This continues an interrupted recap: {report.batches.sent} mails in all.": (
            report.before.sent and not report.again
        ),
        unconfirmed(report.before.unknown): report.before.unknown,
        f"{report.waiting} mails of that recap were never sent; call without resendUnconfirmed to "
        "send those.": report.waiting,
        "The mail service takes none of the guests' addresses.": (
            report.batches.skipped and not report.batches.sent
        ),
        f"{report.bounced} guests were left out, as their addresses have sent a mail back for good "
        "within a year.": report.bounced,
        "Your events have sent as many recap mails as they may in 24 hours "
        "(RECAP_MAILS_PER_DAY).": report.tenant_limited,
        f"{report.not_new} guests have had a recap of this event before: this one goes to guests "
        "without one alone.": report.not_new and not report.why_nobody,
        f"A recap is sent to at most {ADDRESSES_OF_A_MAILBOX} addresses of one mailbox, such as "
        f"ann+1@example.com and ann+2@example.com; {report.crowded} more are left.": report.crowded,
        f"{report.left} guests are left; the next recap, possible {when} 24 hours, goes to them "
        "first (with onlyNew, only to guests without one).": report.left,
        _hidden(report.hidden_hosts): report.batches.sent,
        **{
            f"{_photos(report.problems[problem])} without a picture: {reason}": (
                report.problems[problem] and report.batches.sent
            )
            for problem, reason in _REASONS.items()
        },
        f"The logo is not shown, as its host is none of PHOTO_HOSTS: {report.hidden_logo}. "
        "The operator of the service can add it.": report.hidden_logo and report.batches.sent,
    }
    return [note for note, applies in notes.items() if note and applies]


_REASONS: Final = {
    Problem.NO_LINK: "the url is no web address that starts with https:// or http://.",
    Problem.TOO_LONG: "the url has more than 2,048 characters.",
    Problem.FORMAT: "email programs don't show the format, so the email has a link.",
}
"""What organizers read of photos without a picture; `_hidden` names the hosts."""


def _photos(number: int) -> str:
    return "1 photo is" if number == 1 else f"{number} photos are"


def _hidden(hosts: Counter[str]) -> str:
    most = hosts.most_common(HOSTS_NAMED)
    named = [f"{host} ({photos})" for host, photos in most if host]
    more = ["others"] if len(hosts) > HOSTS_NAMED else []
    says = (
        f"{hosts.total()} photos are not shown, as their hosts are none of PHOTO_HOSTS: "
        f"{', '.join(named + more)}. The operator of the service can add them."
    )
    return says if hosts else ""
