"""Plans the recipients of a recap and their mails (spec 4.1).

Sending and preview use the same planner, so that they cannot disagree. It only reads.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from functions.call.caller import Caller, check_event
from functions.links.link import LinkSigner
from functions.mail.message import Mailer, MailSender
from functions.ports import Accounts, Clock, Random
from functions.preferences.preferences import SkipReason
from functions.recap.audience.guests import (
    Audience,
    Guest,
    GuestStore,
    least_recently_mailed_first,
    standing,
)
from functions.recap.audience.photos import PhotoHosts, host_of, logo_address
from functions.recap.ledger.batch import Batch, Counts, last_mail, open_batches, sent_again, total
from functions.recap.ledger.recap_store import Lock, RecapStore
from functions.recap.mail.composer import Composer, Recipient
from functions.recap.recap_arguments import Mode, RecapArguments
from functions.recap.report import ADDRESSES_OF_A_MAILBOX, Report
from functions.wall.wall_event import WallEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything that was read for a recap of `event`.

    `skip_reasons` are of the guests who get no recap, by id; `accounts` are user ids of guests who
    have an account, by id. `sent_at` is the time of the last recap of the event, by guest id.
    `logo_url` is the event's logo if mails may show it; otherwise `hidden_logo` is its host.
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

    def choose(self, remaining: int) -> Report:
        """Return the report of a new recap with its recipients.

        Args:
            remaining: The number of emails that the tenant may still send today.
        """
        per_call, audience, skipped = self.planner.per_call, self.audience, self.skip_reasons
        candidates = [guest for guest in audience.in_order() if guest.id not in skipped]
        guests = least_recently_mailed_first(
            candidates, self.sent_at, only_new=self.arguments.only_new
        )
        eligible, crowded = _within_mailboxes(guests)
        mails = min(per_call, remaining)
        reasons = Counter(skipped.values())
        unwilling = audience.invalid + reasons[SkipReason.OPTED_OUT]
        bounced, not_new = reasons[SkipReason.UNREACHABLE], len(candidates) - len(guests)
        return Report(
            recipients=[guest.id for guest in eligible[:mails]],
            skipped=unwilling,
            bounced=bounced,
            left=max(len(eligible) - mails, 0) + crowded,
            crowded=crowded,
            tenant_limited=mails < min(per_call, len(eligible)),
            not_new=not_new,
            hidden_hosts=audience.hidden_hosts,
            problems=audience.problems,
            hidden_logo=self.hidden_logo,
            why_nobody=None if guests else _why_nobody(audience, unwilling + bounced, not_new),
        )

    def continued(self, ledger: Collection[Batch]) -> Report | None:
        """The report of a call that continues a recap; None where the recap sent nothing."""
        if not last_mail(ledger):
            return None
        in_batches = {guest for batch in ledger for guest in batch.mailed + batch.refused}
        others = self.audience.by_id.keys() - self.skip_reasons.keys() - in_batches
        left = others - self.sent_at.keys() if self.arguments.only_new else others
        return replace(self._rest(ledger, open_batches(ledger)), left=len(left))

    def again(self, ledger: Collection[Batch]) -> Report:
        """The report of a call that sends unconfirmed mails again."""
        planned = sent_again(ledger)
        return replace(
            self._rest(ledger, planned),
            again=True,
            waiting=total(open_batches(ledger)).left - total(planned).left,
            why_nobody=None if planned else "No mail of the last recap is unconfirmed.",
        )

    def _rest(self, ledger: Collection[Batch], planned: Collection[Batch]) -> Report:
        remaining = [self.remaining(batch) for batch in planned]
        skipped = total(remaining).skipped - total(planned).skipped
        return Report(
            recipients=[guest for batch in remaining for guest in batch.recipients],
            # The batches will count the guests who are skipped now; the report does already.
            before=total(ledger) + Counts(skipped=skipped),
            skipped=skipped,
            bounced=sum(self._skipped(batch, SkipReason.UNREACHABLE) for batch in planned),
            not_new=sum(len(self._not_new(batch)) for batch in planned),
            hidden_hosts=self.audience.hidden_hosts,
            problems=self.audience.problems,
            hidden_logo=self.hidden_logo,
        )

    def remaining(self, batch: Batch) -> Batch:
        """A planned `batch` with the recipients who still get the mail.

        A recipient who is on no approved photo any more is left out without being counted.
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

    def recipients(
        self, ids: Iterable[str], links: LinkSigner, *, signed: bool = True
    ) -> Mapping[str, Recipient]:
        """The guests with these ids, with their pictures, and with their own links if `signed`."""
        by_id, accounts = self.audience.by_id, self.accounts
        chosen = {guest: by_id[guest] for guest in ids if guest in by_id}
        if self.audience.pictures_dropped and self.arguments.mode is Mode.PERSONAL:
            # While photos were collected it was not known whose pictures to keep.
            for photo in self.planner.guests.approved_photos(self.arguments.event_id):
                self.audience.add_again(photo, chosen)
        return {
            guest.id: Recipient(
                guest,
                links.sign(guest.uid, accounts.get(guest.id)) if signed else links.unsigned(),
            )
            for guest in chosen.values()
        }

    def composer(self) -> Composer:
        """The composer of the mails."""
        return Composer(
            self.event,
            self.arguments,
            self.planner.sender.validated(),
            reel=self.audience.reel.pictures(),
            photo_count=self.audience.photo_count,
            random=self.planner.random,
            bytes_per_recipient=self.planner.mailer.bytes_per_recipient,
            logo_url=self.logo_url,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans recaps; one instance serves all threads of the process.

    Attributes:
        mailer: Its `bytes_per_recipient` are also what a guest's pictures may take on average.
        hosts: The hosts whose photos may stand in a mail.
        per_call: Recipients of one call, at most.
    """

    recaps: RecapStore
    guests: GuestStore
    sender: MailSender
    mailer: Mailer
    accounts: Accounts
    hosts: PhotoHosts
    clock: Clock
    random: Random
    per_call: int

    def event(self, caller: Caller, arguments: RecapArguments) -> tuple[WallEvent, Lock | None]:
        """The event and its lock, if the caller may act on it.

        Raises:
            CallError: as `check_event` says.
        """
        found, lock = self.recaps.event_and_lock(arguments.event_id)
        fields = check_event(caller, found.fields if found else None, arguments.tenant_id)
        return WallEvent.read(fields, updated=found.written if found else self.clock.now()), lock

    def gather(self, event: WallEvent, arguments: RecapArguments, *, first: bool) -> Gathered:
        """Read the approved photos of the event, the user records and the earlier recaps.

        `first` says that the event had no recap before.
        """
        audience = Audience(
            arguments.mode,
            hosts=self.hosts,
            at_most=self.per_call,
            room=self.mailer.bytes_per_recipient,
        )
        for photo in self.guests.approved_photos(arguments.event_id):
            audience.add(photo)
        skipped, accounts = standing(self.guests, audience.guests, self.clock.now(), self.accounts)
        logo = logo_address(event.logo_url)
        is_shown = logo is not None and self.hosts.allow(logo)
        return Gathered(
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
    """Return the guests without those beyond `ADDRESSES_OF_A_MAILBOX`, and how many these are."""
    mailboxes, within, crowded = Counter[str](), list[Guest](), 0
    for guest in guests:
        mailboxes[guest.mailbox] += 1
        if mailboxes[guest.mailbox] <= ADDRESSES_OF_A_MAILBOX:
            within.append(guest)
        else:
            crowded += 1
    return within, crowded


def _why_nobody(audience: Audience, skipped: int, not_new: int) -> str:
    if not_new:
        return "Every guest has had a recap of this event; leave onlyNew out to send another one."
    if not audience.photo_count:
        return "There are no approved photos, so there is nobody to send to."
    if not skipped:
        return "No guest has left an e-mail address with an approved photo."
    return "Every guest has opted out, or has left an address that is invalid or has bounced."
