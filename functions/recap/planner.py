"""Whom a recap goes to, and what they get (spec 4.1).

The call that sends a recap and the one that only shows it ask the same planner, so that they cannot
disagree. It reads, and writes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from functions.call_error import CallError
from functions.mail.address import deliverable
from functions.mail.letterhead import Letterhead
from functions.preferences.links import PreferencesLinks
from functions.preferences.reach import LeftOut
from functions.recap.allowance import Allowance, Allowed
from functions.recap.arguments import Mode, RecapArguments
from functions.recap.guests import Audience, Guest
from functions.recap.ledger import RECIPIENTS_PER_BATCH, RECIPIENTS_PER_CALL, Batch
from functions.recap.mail.composer import Composer, Recap, Recipient
from functions.recap.photos import web_address
from functions.recap.ports import ComplaintRecords, Guests, Mailings, RecapKey, Recaps
from functions.recap.recipients import Skipped, UserRecords, whose_turn
from functions.recap.report import Report
from functions.wall.fields import text


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is sent at most.

    Attributes:
        a_call: Recipients of a call,
        a_batch: and of a batch.
        an_address: Recaps of a tenant that one address gets in 24 hours.
        a_tenant: Mails of a tenant in 24 hours.
    """

    a_call: int = RECIPIENTS_PER_CALL
    a_batch: int = RECIPIENTS_PER_BATCH
    an_address: int = 3
    a_tenant: int = 20_000


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everybody on the approved photos of an event, and what their user records say."""

    audience: Audience
    users: UserRecords

    @property
    def willing(self) -> list[Guest]:
        """Who may be asked to a recap, in turn."""
        return [one for one in self.audience.in_turn() if one.id not in self.users.left_out]

    def still(self, batch: Batch) -> list[str]:
        """Ids of the recipients of a planned `batch` who are still to have the mail.

        Whoever is on no approved photo any more is left out without a word.
        """
        guests = self.audience.by_id
        return [one for one in batch.recipients if one in guests and one not in self.users.left_out]

    def left_out_of(self, batch: Batch) -> list[LeftOut]:
        """Why recipients of a planned `batch` are left out by now."""
        left_out = self.users.left_out
        return [left_out[one] for one in batch.recipients if one in left_out]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Whom a new recap goes to.

    Attributes:
        chosen: They, in the order in which they get it.
        skipped: Who is left out.
        left: Guests who have never had a recap of this event, and are not chosen.
        short: Whether the tenant may not mail all of those who are left.
        spared: Guests who have had a recap of this event, and get none now.
    """

    chosen: Sequence[Guest]
    skipped: Skipped
    left: int
    short: bool
    spared: int

    def report(self, audience: Audience) -> Report:
        """What there is to tell of it before anything is sent."""
        nobody = not self.chosen and not self.skipped.had_enough and not self.short
        return Report(
            skipped=self.skipped.total,
            left=self.left,
            full=self.skipped.had_enough,
            short=self.short,
            spared=self.spared,
            hidden=audience.hidden,
            nobody=_why_nobody(audience, self.skipped, self.spared) if nobody else None,
        )


class Planner:
    """Plans recaps; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        recaps: Recaps,
        guests: Guests,
        mailings: Mailings,
        complaints: ComplaintRecords,
        left_out: Callable[[Mapping[str, Any]], LeftOut | None],
        letterhead: Callable[[], Letterhead],
        shows: Callable[[str], bool],
        now: Callable[[], datetime],
        new_word: Callable[[], str],
        limits: Limits | None = None,
    ) -> None:
        """Put the parts together.

        Args:
            recaps: The locks and ledgers.
            guests: Photos and preferences.
            mailings: Whom the tenants have mailed lately.
            complaints: Which tenants are stopped for complaints.
            left_out: Why whoever has a user record gets no recap, if so.
            letterhead: Gives whom the mails are from.
            shows: Whether the photo at a web address may stand in a mail.
            now: The time, aware and in UTC.
            new_word: Gives a word of letters and digits that nobody has or can guess.
            limits: Of what is sent.
        """
        self._recaps = recaps
        self._guests = guests
        self._mailings = mailings
        self._complaints = complaints
        self._left_out = left_out
        self._letterhead = letterhead
        self._shows = shows
        self._now = now
        self._new_word = new_word
        self.limits = limits or Limits()

    def stopped(self, event: Mapping[str, Any]) -> CallError | None:
        """Why the tenant of the event sends no recap at all; None where that may be.

        A superadmin's call is refused as well: the mails would be the same.
        """
        found = self._complaints.find(tenant_id(event))
        return found.stop.refusal if found and found.stop.holds else None

    def gather(self, wanted: RecapArguments, room: int) -> Gathered:
        """Read photos and user records; one guest's pictures may take `room` bytes of a mail."""
        audience = Audience(wanted.mode, shows=self._shows, at_most=self.limits.a_call, room=room)
        for photo in self._guests.approved_photos(wanted.event_id):
            audience.add(photo)
        return Gathered(audience, UserRecords.read(self._guests, audience.guests, self._left_out))

    def allowance(self, event: Mapping[str, Any], key: RecapKey, *, reserved: bool) -> Allowance:
        """What the tenant of the event may still mail; see `Allowance`."""
        return Allowance(
            self._mailings,
            tenant_id(event),
            key,
            self._now,
            an_address=self.limits.an_address,
            a_tenant=self.limits.a_tenant,
            reserved=reserved,
        )

    def choose(
        self,
        wanted: RecapArguments,
        gathered: Gathered,
        *,
        first: bool,
        allow: Callable[[Sequence[Guest], Callable[[Allowed], Sequence[Guest]]], None],
    ) -> Choice:
        """Choose whom a new recap goes to.

        Args:
            wanted: For which event, and whether for guests who have had none alone.
            gathered: Everybody.
            first: Whether the event has had no recap.
            allow: Asks for the choice among those who may have one more mail: `Allowance.reserve`,
                which puts it on record, or `Allowance.look`, which does not.
        """
        willing = gathered.willing
        sent_at: Mapping[str, datetime] | None = {} if first else None
        chosen: Sequence[Guest] = []
        full, left, spared, short = 0, 0, 0, False

        def choose(allowed: Allowed) -> Sequence[Guest]:
            nonlocal chosen, full, left, spared, short, sent_at
            if sent_at is None:
                sent_at = self._recaps.sent_at(wanted.event_id)
            waiting = whose_turn(allowed.guests, sent_at, only_new=wanted.only_new)
            at_most = min(self.limits.a_call, allowed.mails)
            chosen = waiting[:at_most]
            left = sum(guest.id not in sent_at for guest in waiting[at_most:])
            spared = len(allowed.guests) - len(waiting)
            full = len(willing) - len(allowed.guests)
            short = allowed.mails < min(self.limits.a_call, len(waiting))
            return chosen

        if willing:
            allow(willing, choose)
        skipped = replace(
            Skipped.of(gathered.users.left_out.values()),
            invalid_address=gathered.audience.invalid,
            had_enough=full,
        )
        return Choice(chosen=chosen, skipped=skipped, left=left, short=short, spared=spared)

    def with_pictures(
        self, wanted: RecapArguments, audience: Audience, ids: Iterable[str]
    ) -> Mapping[str, Guest]:
        """Those of these ids who are guests, with their pictures."""
        chosen = {one: audience.by_id[one] for one in ids if one in audience.by_id}
        if audience.crowded and wanted.mode is Mode.PERSONAL:
            # Nobody's were kept while it was not known whose to keep.
            for photo in self._guests.approved_photos(wanted.event_id):
                audience.add_again(photo, chosen)
        return chosen

    def composer(
        self, event: Mapping[str, Any], wanted: RecapArguments, audience: Audience, bytes_each: int
    ) -> Composer:
        """What writes the mails; `bytes_each` may differ for one recipient, counted as JSON."""
        recap = Recap(
            mode=wanted.mode,
            letterhead=self._letterhead(),
            event_name=text(event.get("name")) or "",
            language=text(event.get("language")),
            reply_to=deliverable(text(event.get("replyTo")) or ""),
            gallery_url=web_address(event.get("galleryUrl")),
            subject=wanted.subject,
            message=wanted.message,
            reel=audience.reel.pictures(),
            photo_count=audience.photo_count,
        )
        return Composer(recap, new_word=self._new_word, bytes_each=bytes_each)


def tenant_id(event: Mapping[str, Any]) -> str:
    """The tenant of an event; empty for an event without a tenant."""
    return text(event.get("tenantId")) or ""


def recipient(
    guest: Guest, links: PreferencesLinks, labels: Mapping[str, str] | None = None
) -> Recipient:
    """The guest as the mail knows them; `labels` are what the mail is known by later."""
    return Recipient(
        address=guest.address,
        name=guest.name,
        links=links,
        pictures=guest.pictures(),
        photo_count=guest.photo_count,
        labels=labels or {},
    )


def _why_nobody(audience: Audience, skipped: Skipped, spared: int) -> str:
    if spared:
        return "Every guest has had a recap of this event; leave onlyNew out to send another one."
    if not audience.photo_count:
        return "There are no approved photos, so there is nobody to send to."
    if not skipped.total:
        return "No guest has left an e-mail address with an approved photo."
    return "Every guest has opted out of recap mails or left an invalid address."
