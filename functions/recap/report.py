"""The result of a call, and the answer to its caller (spec 4.1, 7.1)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from functions import log
from functions.call.errors import CallError, Code
from functions.mail.outcome import Cause
from functions.mail.text import quantity
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
    """A call: its recipients, and the known part of its result.

    Attributes:
        recipients: IDs of the guests to email, in the order of sending.
        before: Counts of the recap's batches before this call.
        batches: Counts of the recap's batches now.
        under_way: Recipients of batches without a recorded result.
        is_resend: Whether the call resends unconfirmed emails.
        waiting: Recipients of open batches that this call leaves to the next call.
        skipped: Guests who had opted out before the batches were planned, or have no valid address.
        bounced: Guests with an address that hard-bounced.
        left: Guests in no batch, who are first in line for the next recap.
        over_mailbox_limit: Guests in `left` because the recap already goes to
            `ADDRESSES_OF_A_MAILBOX` addresses of their mailbox.
        tenant_limited: Whether the tenant's daily limit is below the number of guests.
        not_new: Guests who had a recap of this event and get no second one now.
        hidden_hosts: Numbers of photos on hosts that emails may not show.
        problems: Numbers of photos without a picture in the email, by reason.
        hidden_logo: Host of the event's logo if emails may not show it.
        reason_without_recipients: The reason that the call has no recipients, or None.
        advice: Who can fix a refusal of the email provider, or "" if that is unknown.
    """

    recipients: Sequence[str] = ()
    before: Counts = field(default_factory=Counts)
    batches: Counts = field(default_factory=Counts)
    under_way: int = 0
    is_resend: bool = False
    waiting: int = 0
    skipped: int = 0
    bounced: int = 0
    left: int = 0
    over_mailbox_limit: int = 0
    tenant_limited: bool = False
    not_new: int = 0
    hidden_hosts: Counter[str] = field(default_factory=Counter)
    problems: Counter[Problem] = field(default_factory=Counter)
    hidden_logo: str = ""
    reason_without_recipients: str | None = None
    advice: str = ""

    def after(self, batches: Collection[Batch]) -> "Report":
        """Return this report with the recap's final batches."""
        started = [batch for batch in batches if batch.state is BatchState.STARTED]
        return replace(self, batches=total(batches), under_way=total(started).left)

    @property
    def call(self) -> Counts:
        """The counts of this call only. `left` counts the emails that it could not send."""
        done = self.batches - self.before
        return Counts(
            sent=done.sent,
            unknown=done.unknown,
            skipped=self.skipped + done.skipped,
            left=self.batches.left - self.waiting,
        )

    @property
    def skipped_by(self) -> Mapping[str, int]:
        """Numbers of other guests without an email, by reason, without zeros."""
        others = {"bounced": self.bounced, "left": self.left}
        return {reason: guests for reason, guests in others.items() if guests}

    def log(self, key: RecapKey, state: RecapState | None, cause: Cause | None = None) -> None:
        """Log the end of the call. `state` is the recap's, or None if it was not recorded."""
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
    """Return the answer to the caller.

    Args:
        report: The report of the call.
        state: The recap's state, or None if it was not recorded.

    Raises:
        CallError: `internal` if an email was not sent or its result is unknown.
    """
    call, unknown = report.call, report.batches.unknown
    details = {"unconfirmed": unknown} if unknown else None
    if state is None or report.under_way:
        raise CallError(
            Code.INTERNAL,
            f"{_emails(call.sent)} sent, but not every result was saved. Try again in ten "
            "minutes to send the rest.",
            details,
        )
    if call.left and state is RecapState.FAILED:
        raise CallError(
            Code.INTERNAL,
            f"Nothing was sent. {report.advice}"
            if report.advice
            else "The email provider rejected every email. Nothing was sent. Try again.",
        )
    confirmed = call.sent - call.unknown
    doubt = unconfirmed(call.unknown)
    if call.left:
        others = "1 was" if call.left == 1 else f"{call.left:,} were"
        sentences = [
            f"{_emails(confirmed)} sent and {others} not. Call again to send the rest.",
            doubt if call.unknown else "",
            report.advice,
        ]
        raise CallError(Code.INTERNAL, " ".join(filter(None, sentences)), details)
    if call.unknown:
        rest = quantity(confirmed, "other email was", "other emails were")
        raise CallError(Code.INTERNAL, f"{doubt} {rest} sent." if confirmed else doubt, details)
    notes = _notes(report)
    if not call.sent:
        message, *notes = notes or ["There are no guests left to send to."]
        return RecapResult(0, call.skipped, message, notes, report.skipped_by)
    return RecapResult(call.sent, call.skipped, None, notes, report.skipped_by)


def unconfirmed(emails: int) -> str:
    """Return the note for an organizer about emails that the provider did not confirm."""
    they_count = "It counts" if emails == 1 else "They count"
    return (
        f"The email provider didn't confirm {quantity(emails, 'email', 'emails')}. {they_count} "
        "as sent, so no guest receives two. To resend the emails that still have no delivery "
        "report, call again with resendUnconfirmed: true."
    )


def outlook(report: Report) -> Sequence[str]:
    """Return the notes of a call that sends to all its recipients now."""
    sent = report.before.sent + len(report.recipients)
    return _notes(replace(report, batches=Counts(sent=sent)))


def _notes(report: Report) -> list[str]:
    when = "in" if report.batches.sent else "within"
    notes = {
        report.reason_without_recipients or "": True,
        "This continues an interrupted recap: "
        f"{quantity(report.batches.sent, 'email', 'emails')} in total.": (
            report.before.sent and not report.is_resend
        ),
        unconfirmed(report.before.unknown): report.before.unknown,
        f"{quantity(report.waiting, 'email of that recap was', 'emails of that recap were')} never "
        "sent. Call again without resendUnconfirmed to send the rest.": report.waiting,
        "The email provider rejected every guest's address.": (
            report.batches.skipped and not report.batches.sent
        ),
        f"Not sent to {quantity(report.bounced, 'guest', 'guests')} with an address that "
        "hard-bounced in the last 12 months.": report.bounced,
        "Your events have reached the limit of recap emails in 24 hours "
        "(RECAP_MAILS_PER_DAY).": report.tenant_limited,
        f"Not sent to {quantity(report.not_new, 'guest', 'guests')} who already received a recap "
        "of this event (onlyNew).": report.not_new and not report.reason_without_recipients,
        f"A recap has a limit of {ADDRESSES_OF_A_MAILBOX} addresses of one mailbox, such as "
        "ann+1@example.com and ann+2@example.com. "
        f"{quantity(report.over_mailbox_limit, 'guest is', 'guests are')} beyond it.": (
            report.over_mailbox_limit
        ),
        f"{quantity(report.left, 'guest', 'guests')} did not fit in this call. They are first in "
        f"line for the next recap, {when} 24 hours.": report.left,
        _hidden(report.hidden_hosts): report.batches.sent,
        **{
            f"{_photos(report.problems[problem])} without a picture: {reason}": (
                report.problems[problem] and report.batches.sent
            )
            for problem, reason in _REASONS.items()
        },
        f"The logo is hidden because its host, {report.hidden_logo}, isn't in PHOTO_HOSTS. Ask "
        "the operator to add it.": report.hidden_logo and report.batches.sent,
    }
    return [note for note, applies in notes.items() if note and applies]


def _emails(count: int) -> str:
    return quantity(count, "email was", "emails were")


def _photos(count: int) -> str:
    return quantity(count, "photo is", "photos are")


_REASONS: Final = {
    Problem.NO_LINK: "the url is not a web address that starts with https:// or http://.",
    Problem.TOO_LONG: "the url has more than 2,048 characters.",
    Problem.FORMAT: "email programs don't show the format, so the email has a link.",
}
"""Explanations for photos without a picture. `_hidden` names the hosts."""


def _hidden(hosts: Counter[str]) -> str:
    most = hosts.most_common(HOSTS_NAMED)
    named = [f"{host} ({photos})" for host, photos in most if host]
    more = ["others"] if len(hosts) > HOSTS_NAMED else []
    why, add = (
        ("its host isn't in PHOTO_HOSTS", "add it")
        if hosts.total() == 1
        else ("their hosts aren't in PHOTO_HOSTS", "add them")
    )
    note = (
        f"{_photos(hosts.total())} hidden because {why}: {', '.join(named + more)}. "
        f"Ask the operator to {add}."
    )
    return note if hosts else ""
