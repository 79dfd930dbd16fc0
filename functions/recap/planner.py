"""Selection of a recap's recipients and the content of their emails (spec 4.1).

Sending and preview use the same planner, with the same stores, limits and links, so they cannot
disagree. It only reads.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from functions.call.caller import Caller, check_event
from functions.links.link import LinkSigner
from functions.mail.message import BYTES_PER_RECIPIENT, Mailer, MailSender
from functions.ports import Accounts, Clock, Random
from functions.preferences.preferences import SkipReason
from functions.recap.audience.guest_store import GuestStore, skip_reasons_and_accounts
from functions.recap.audience.guests import Audience, Guest, least_recently_mailed_first
from functions.recap.audience.photos import PhotoHosts, host_of, logo_address
from functions.recap.daily_limit import DailyLimit
from functions.recap.delivery_status import StatusStore
from functions.recap.ledger.batch import (
    Batch,
    Counts,
    batches_to_resend,
    last_mail,
    open_batches,
    total,
)
from functions.recap.ledger.recap_store import Lock, RecapStore
from functions.recap.mail.composer import Composer, Recipient
from functions.recap.recap_arguments import Mode, RecapArguments
from functions.recap.report import ADDRESSES_OF_A_MAILBOX, Report
from functions.recap.slots import Slots
from functions.wall.wall_event import WallEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapInputs:
    """Everything that was read for a recap of `event`.

    Attributes:
        planner: The planner that has read it.
        event: The event.
        arguments: The arguments of the call.
        audience: The guests and their photos.
        skip_reasons: The reasons why guests get no recap, by guest ID.
        accounts: User IDs of guests who have an account, by guest ID.
        sent_at: Time of each guest's last recap of the event, by guest ID.
        logo_url: The event's logo if emails may show it.
        hidden_logo: Host of the event's logo if emails may not show it, or "".
    """

    planner: "Planner"
    event: WallEvent
    arguments: RecapArguments
    audience: Audience
    skip_reasons: Mapping[str, SkipReason]
    accounts: Mapping[str, str]
    sent_at: Mapping[str, datetime]
    logo_url: str | None
    hidden_logo: str

    def select_recipients(self) -> Report:
        """Select the recipients of a new recap within the limits, and return its report."""
        planner = self.planner
        remaining = planner.daily_limit.remaining(self.event.tenant_id, planner.clock.now())
        per_call, audience, skipped = self.planner.per_call, self.audience, self.skip_reasons
        candidates = [guest for guest in audience.in_order() if guest.id not in skipped]
        guests = least_recently_mailed_first(
            candidates, self.sent_at, only_new=self.arguments.only_new
        )
        eligible, over_mailbox_limit = _within_mailboxes(guests)
        mails = min(per_call, remaining)
        reasons = Counter(skipped.values())
        unwilling = audience.invalid + reasons[SkipReason.OPTED_OUT]
        bounced, not_new = reasons[SkipReason.UNREACHABLE], len(candidates) - len(guests)
        reason = None
        if not guests:
            reason = _reason_without_recipients(audience, unwilling + bounced, not_new)
        return Report(
            recipients=[guest.id for guest in eligible[:mails]],
            skipped=unwilling,
            bounced=bounced,
            left=max(len(eligible) - mails, 0) + over_mailbox_limit,
            over_mailbox_limit=over_mailbox_limit,
            tenant_limited=mails < min(per_call, len(eligible)),
            not_new=not_new,
            hidden_hosts=audience.hidden_hosts,
            problems=audience.problems,
            hidden_logo=self.hidden_logo,
            reason_without_recipients=reason,
        )

    def continuing_report(self, ledger: Collection[Batch]) -> Report | None:
        """Return the report of a call that continues a recap, or None if it sent no email."""
        if not last_mail(ledger):
            return None
        in_batches = {guest for batch in ledger for guest in batch.mailed + batch.rejected}
        others = self.audience.by_id.keys() - self.skip_reasons.keys() - in_batches
        left = others - self.sent_at.keys() if self.arguments.only_new else others
        return replace(self._rest(ledger, open_batches(ledger)), left=len(left))

    def resend_report(self, ledger: Collection[Batch]) -> Report:
        """Return the report of a call that resends unconfirmed emails."""
        planned = batches_to_resend(ledger)
        reason = None if planned else "Every email of the last recap is confirmed."
        return replace(
            self._rest(ledger, planned),
            is_resend=True,
            waiting=total(open_batches(ledger)).left - total(planned).left,
            reason_without_recipients=reason,
        )

    def _rest(self, ledger: Collection[Batch], planned: Collection[Batch]) -> Report:
        remaining = [self.remaining(batch) for batch in planned]
        skipped = total(remaining).skipped - total(planned).skipped
        return Report(
            recipients=[guest for batch in remaining for guest in batch.recipients],
            # The batches will count the guests who are skipped now. The report already does.
            before=total(ledger) + Counts(skipped=skipped),
            skipped=skipped,
            bounced=sum(self._skipped(batch, SkipReason.UNREACHABLE) for batch in planned),
            not_new=sum(len(self._not_new(batch)) for batch in planned),
            hidden_hosts=self.audience.hidden_hosts,
            problems=self.audience.problems,
            hidden_logo=self.hidden_logo,
        )

    def remaining(self, batch: Batch) -> Batch:
        """Return a planned `batch` with the recipients who still get the email.

        Recipients without an approved photo are removed and not counted.
        """
        left_out = self.skip_reasons.keys() | self._not_new(batch)
        return replace(
            batch,
            recipients=tuple(
                guest
                for guest in batch.recipients
                if guest in self.audience.by_id and guest not in left_out
            ),
            opted_out=batch.opted_out + self._skipped(batch, SkipReason.OPTED_OUT),
        )

    def _skipped(self, batch: Batch, reason: SkipReason) -> int:
        return sum(self.skip_reasons.get(guest) is reason for guest in batch.recipients)

    def _not_new(self, batch: Batch) -> set[str]:
        return self.sent_at.keys() & batch.recipients if self.arguments.only_new else set()

    def recipients(self, ids: Iterable[str], *, signed: bool = True) -> Mapping[str, Recipient]:
        """Return the guests with these IDs and their pictures, and if `signed`, their own links."""
        by_id, accounts, links = self.audience.by_id, self.accounts, self.planner.links
        chosen = {guest: by_id[guest] for guest in ids if guest in by_id}
        if self.audience.pictures_dropped and self.arguments.mode is Mode.PERSONAL:
            # The recipients were unknown while the photos were counted.
            for photo in self.planner.guests.approved_photos(self.arguments.event_id):
                self.audience.add_pictures_of(photo, chosen)
        return {
            guest.id: Recipient(
                guest,
                links.sign(guest.uid, accounts.get(guest.id)) if signed else links.unsigned(),
            )
            for guest in chosen.values()
        }

    def composer(self) -> Composer:
        """Return the composer of the emails."""
        return Composer(
            self.event,
            self.arguments,
            self.planner.sender.validated(),
            reel=self.audience.reel.pictures(),
            photo_count=self.audience.photo_count,
            random=self.planner.random,
            bytes_per_recipient=BYTES_PER_RECIPIENT,
            logo_url=self.logo_url,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans recaps. Shared by all threads of the process.

    Attributes:
        recaps: The recaps, with their locks and ledgers.
        guests: The photos and user records of guests.
        statuses: The delivery statuses of recap emails.
        slots: Slots for the calls that plan a recap.
        hosts: The allowed hosts of photos in an email.
        per_call: Maximum recipients of one call.
    """

    recaps: RecapStore
    guests: GuestStore
    statuses: StatusStore
    daily_limit: DailyLimit
    slots: Slots
    links: LinkSigner
    sender: MailSender
    mailer: Mailer
    accounts: Accounts
    hosts: PhotoHosts
    clock: Clock
    random: Random
    per_call: int

    def event(self, caller: Caller, arguments: RecapArguments) -> tuple[WallEvent, Lock | None]:
        """Return the event and its lock if the caller may act on it.

        Raises:
            CallError: See `check_event`.
        """
        found, lock = self.recaps.event_and_lock(arguments.event_id)
        fields = check_event(caller, found.fields if found else None, arguments.tenant_id)
        return WallEvent.read(fields, updated=found.written if found else self.clock.now()), lock

    def gather(self, event: WallEvent, arguments: RecapArguments, *, first: bool) -> RecapInputs:
        """Read the approved photos of the event, the user records and the earlier recaps.

        `first` is whether the event had no recap before.
        """
        audience = Audience(
            arguments.mode,
            hosts=self.hosts,
            at_most=self.per_call,
            bytes_per_guest=BYTES_PER_RECIPIENT,
        )
        for photo in self.guests.approved_photos(arguments.event_id):
            audience.add(photo)
        skipped, accounts = skip_reasons_and_accounts(
            self.guests, audience.guests, self.clock.now(), self.accounts
        )
        logo = logo_address(event.logo_url)
        is_shown = logo is not None and self.hosts.allow(logo)
        return RecapInputs(
            planner=self,
            event=event,
            arguments=arguments,
            audience=audience,
            skip_reasons=skipped,
            accounts=accounts,
            sent_at={} if first else self.recaps.sent_at(arguments.event_id),
            logo_url=logo if is_shown else None,
            hidden_logo=host_of(logo) if logo and not is_shown else "",
        )


def _within_mailboxes(guests: Iterable[Guest]) -> tuple[list[Guest], int]:
    """Return at most `ADDRESSES_OF_A_MAILBOX` guests of each mailbox, and the number of others."""
    mailboxes, within, others = Counter[str](), list[Guest](), 0
    for guest in guests:
        mailboxes[guest.mailbox] += 1
        if mailboxes[guest.mailbox] <= ADDRESSES_OF_A_MAILBOX:
            within.append(guest)
        else:
            others += 1
    return within, others


def _reason_without_recipients(audience: Audience, skipped: int, not_new: int) -> str:
    if not_new:
        return "Every guest has already received a recap. To send to everyone, omit onlyNew."
    if not audience.photo_count:
        return "There are no approved photos yet, so there's nobody to send to."
    if not skipped:
        return "No approved photo has an email address."
    return (
        "No guests can be reached: all have opted out, or their addresses are invalid or have "
        "bounced."
    )
