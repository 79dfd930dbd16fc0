"""One call of `sendEventRecap`, from the lock to the answer (spec 3.3, 4.1, 7.1)."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from functions import log
from functions.access import Caller, check_tenant
from functions.call_error import CallError, Code
from functions.preferences.links import PreferencesLinks
from functions.recap.arguments import RecapArguments
from functions.recap.dispatch import Dispatch, Mailer, Parcel
from functions.recap.guests import Audience, Guest, select
from functions.recap.ledger import (
    RECIPIENTS_PER_CALL,
    TIMEOUT,
    Batch,
    BatchState,
    RecapState,
    Tally,
    final_state,
    plan,
)
from functions.recap.mail.composer import Addressee, Composer, Recap
from functions.recap.photos import web_address
from functions.recap.store.guest_store import GuestStore
from functions.recap.store.recap_store import Claim, RecapStore

_LAST_WAIT_SECONDS: Final = TIMEOUT.total_seconds() - 120
"""Seconds from the start of a call after which it waits for nothing any more: a request that is
under way then, and the records after it, still end within the function's timeout."""


@dataclass(frozen=True, slots=True)
class RecapResult:
    """What the caller is told (spec 4.1)."""

    sent: int
    skipped: int
    message: str | None = None


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What the records say of the guests, by the guests' ids.

    `uids` has the user id that a guest's links are for, `opted_out` those who want no recap.
    """

    uids: Mapping[str, str]
    opted_out: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What became of a call.

    Attributes:
        tally: Of the batches that it sent.
        skipped: Recipients who were left out before that.
        sent_before: Mails that count as sent by earlier calls of the same recap,
        unknown_before: and how many of those the mail service has not confirmed.
        left: Guests who have never had a recap of this event, and are not in this one.
        nobody: Why there is nobody to send to.
    """

    tally: Tally = field(default_factory=Tally)
    skipped: int = 0
    sent_before: int = 0
    unknown_before: int = 0
    left: int = 0
    nobody: str | None = None


class RecapSender:
    """Sends recaps; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        recaps: RecapStore,
        guests: GuestStore,
        mailer: Callable[[], Mailer],
        links: Callable[[], Callable[[str], PreferencesLinks]],
        opted_out: Callable[[Mapping[str, Any]], bool],
        mail_from: Callable[[], str],
        now: Callable[[], datetime],
    ) -> None:
        """Put the parts together.

        Args:
            recaps: The ledger.
            guests: Photos and preferences.
            mailer: Gives the mail service, with its key as it is now.
            links: Gives what makes the links of a mail to the user with an id.
            opted_out: Whether a user record declines recap mails.
            mail_from: Gives the sender.
            now: The time, aware and in UTC.
        """
        self._recaps = recaps
        self._guests = guests
        self._mailer = mailer
        self._links = links
        self._opted_out = opted_out
        self._mail_from = mail_from
        self._now = now

    def send(self, caller: Caller, wanted: RecapArguments) -> RecapResult:
        """Send the recap that is `wanted`, or what is left of it.

        Raises:
            CallError: as in spec 7.1.
        """
        give_up_at = time.monotonic() + _LAST_WAIT_SECONDS
        event = self._recaps.event(wanted.event_id)
        if event is None:
            raise CallError(Code.NOT_FOUND, "There is no event with that eventId.")
        check_tenant(caller, _text(event.get("tenantId")) or None, wanted.tenant_id)
        claim = self._recaps.take(wanted.event_id, wanted.mode, caller.uid, self._now())
        try:
            report = self._deliver(claim, event, wanted, give_up_at)
        except Exception as error:
            # Nothing of this call has left.
            log.fault("recap.failed", error, eventId=claim.event_id, recapId=claim.recap_id)
            state = RecapState.INTERRUPTED if claim.resumed else RecapState.FAILED
            self._finish(claim, state, sent_now=False)
            raise CallError(
                Code.INTERNAL, "The recap could not be prepared, and nothing was sent; try again."
            ) from error
        state = final_state(report.tally, report.sent_before)
        released = self._finish(claim, state, sent_now=report.tally.sent > 0)
        _log(claim, report, state)
        return _answer(report, state, released=released)

    def _deliver(
        self, claim: Claim, event: Mapping[str, Any], wanted: RecapArguments, give_up_at: float
    ) -> _Report:
        ledger = self._settle_crashed(claim) if claim.resumed else []
        done = [one for one in ledger if one.state.counts_as_sent]
        audience = Audience(wanted.mode)
        for photo in self._guests.approved_photos(claim.event_id):
            audience.add(photo)
        guests = {guest.id: guest for guest in audience.guests}
        wishes = self._wishes(audience.guests)
        report = _Report(
            sent_before=sum(len(one.recipients) for one in done),
            unknown_before=sum(
                len(one.recipients) for one in done if one.state is BatchState.UNKNOWN
            ),
        )
        if report.sent_before:
            batches = [one for one in ledger if one.state is BatchState.PLANNED]
            report = replace(
                report,
                skipped=sum(
                    guest in wishes.opted_out for one in batches for guest in one.recipients
                ),
            )
        else:
            batches, report = self._plan(claim, audience, wishes)
        parcels = self._parcels(batches, guests, wishes)
        if not parcels:
            return report
        composer = Composer(self._recap(event, wanted, audience))
        dispatch = Dispatch(
            store=self._recaps,
            mailer=self._mailer(),
            claim=claim,
            compose=composer.request,
            now=self._now,
            give_up_at=give_up_at,
        )
        return replace(report, tally=dispatch.send(parcels))

    def _settle_crashed(self, claim: Claim) -> list[Batch]:
        """The ledger; what a crashed call had under way counts as sent from now on."""
        ledger = []
        for batch in self._recaps.batches(claim):
            settled = batch
            if batch.state is BatchState.STARTED:
                settled = self._recaps.settle(
                    claim,
                    replace(batch, state=BatchState.UNKNOWN),
                    Tally(unknown=len(batch.recipients)),
                    note="the call ended before its answer",
                )
            ledger.append(settled)
        return ledger

    def _plan(
        self, claim: Claim, audience: Audience, wishes: _Wishes
    ) -> tuple[list[Batch], _Report]:
        willing = [one for one in audience.guests if one.id not in wishes.opted_out]
        crowded = len(willing) > RECIPIENTS_PER_CALL
        sent_at = self._recaps.sent_at(claim.event_id) if crowded else {}
        selection = select(willing, sent_at, RECIPIENTS_PER_CALL)
        skipped = audience.invalid + len(wishes.opted_out)
        planned = plan([one.id for one in selection.chosen])
        batches = self._recaps.plan(claim, planned, skipped=skipped, left=selection.left)
        nobody = None if batches else _why_nobody(audience, skipped)
        return batches, _Report(skipped=skipped, left=selection.left, nobody=nobody)

    def _wishes(self, guests: Sequence[Guest]) -> _Wishes:
        by_record = {uid: guest for guest in guests for uid in guest.guest_ids}
        by_email = {one: guest for guest in guests for one in (guest.address, *guest.spellings)}
        uids = {guest.id: guest.guest_id for guest in guests}
        accounts: dict[str, str] = {}
        opted_out = set()
        for uid, record in self._guests.records(by_record):
            if self._opted_out(record):
                opted_out.add(by_record[uid].id)
        for uid, record in self._guests.records_with(by_email):
            guest = by_email[_text(record.get("email"))]
            if self._opted_out(record):
                opted_out.add(guest.id)
            # Several accounts with one address are rare; the choice is at least always the same.
            accounts[guest.id] = min(uid, accounts.get(guest.id, uid))
        return _Wishes(uids | accounts, frozenset(opted_out))

    def _parcels(
        self, batches: Iterable[Batch], guests: Mapping[str, Guest], wishes: _Wishes
    ) -> list[Parcel]:
        links = self._links()

        def addressee(guest: Guest) -> Addressee:
            return Addressee(
                address=guest.address,
                name=guest.name,
                links=links(wishes.uids[guest.id]),
                pictures=guest.pictures(),
                photo_count=guest.photos.count,
            )

        return [
            Parcel(
                batch,
                # Whoever is on no approved photo any more is left out without a word.
                {
                    one: addressee(guests[one])
                    for one in batch.recipients
                    if one in guests and one not in wishes.opted_out
                },
                sum(one in wishes.opted_out for one in batch.recipients),
            )
            for batch in batches
        ]

    def _recap(self, event: Mapping[str, Any], wanted: RecapArguments, audience: Audience) -> Recap:
        return Recap(
            mode=wanted.mode,
            sender=self._mail_from(),
            event_name=_text(event.get("name")),
            gallery_url=web_address(event.get("galleryUrl")),
            subject=wanted.subject,
            message=wanted.message,
            reel=audience.reel.pictures(),
            photo_count=audience.photo_count,
        )

    def _finish(self, claim: Claim, state: RecapState, *, sent_now: bool) -> bool:
        """Release the lock; whether that is on record. If not, the lease ends by itself."""
        try:
            self._recaps.finish(claim, state, sent_now=sent_now, now=self._now())
        except Exception as error:  # noqa: BLE001 - the answer matters more
            log.fault("recap.held", error, eventId=claim.event_id, recapId=claim.recap_id)
            return False
        return True


def _why_nobody(audience: Audience, skipped: int) -> str:
    if not audience.photo_count:
        return "There are no approved photos, so there is nobody to send to."
    if not skipped:
        return "No guest has left an e-mail address with an approved photo."
    return "Every guest has opted out of recap mails or left an invalid address."


def _answer(report: _Report, state: RecapState, *, released: bool) -> RecapResult:
    tally = report.tally
    if tally.faults or not released:
        raise CallError(
            Code.INTERNAL,
            f"{tally.sent} mails were sent, but not all of it could be put on record; "
            "call again in some minutes to send what is left.",
        )
    if state is RecapState.FAILED:
        raise CallError(
            Code.INTERNAL, "The mail service took none of the mails; nothing was sent, try again."
        )
    unconfirmed = (
        f"The mail service did not confirm {tally.unknown} of the mails; "
        "they count as sent, so that nobody gets two."
    )
    if state is RecapState.INTERRUPTED:
        raise CallError(
            Code.INTERNAL,
            f"{tally.sent} mails were sent and {tally.open} were not; call again to send those."
            + (f" {unconfirmed}" if tally.unknown else ""),
        )
    if tally.unknown:
        raise CallError(Code.INTERNAL, f"{unconfirmed} All others were sent.")
    notes = [report.nobody] if report.nobody else []
    if report.sent_before:
        notes.append(
            f"This continued an interrupted recap, which has now {tally.sent + report.sent_before} "
            "mails in all."
        )
    if report.unknown_before:
        notes.append(
            f"The mail service has not confirmed {report.unknown_before} of them; "
            "they count as sent, so that nobody gets two."
        )
    if state is RecapState.EMPTY and not report.nobody:
        notes.append("The mail service takes none of the guests' addresses.")
    if report.left:
        notes.append(
            f"{report.left} guests are left; the next recap, possible in 24 hours, "
            "goes to them first."
        )
    return RecapResult(tally.sent, report.skipped + tally.refused, " ".join(notes) or None)


def _log(claim: Claim, report: _Report, state: RecapState) -> None:
    write = log.info if state in (RecapState.SENT, RecapState.EMPTY) else log.error
    write(
        "recap.done",
        eventId=claim.event_id,
        recapId=claim.recap_id,
        state=state,
        sent=report.tally.sent,
        unknown=report.tally.unknown,
        open=report.tally.open,
        faults=report.tally.faults,
        skipped=report.skipped + report.tally.refused,
        left=report.left,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
