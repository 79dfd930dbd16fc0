"""One call of `sendEventRecap`, from the lock to the answer (spec 3.3, 4.1, 7.1)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions import log
from functions.access import Caller, check_event
from functions.call_error import CallError, Code
from functions.preferences.links import PreferencesLinks
from functions.recap.allowance import Allowance, Allowed
from functions.recap.arguments import Mode, RecapArguments
from functions.recap.claim import Claim
from functions.recap.dispatch import Dispatch, PlannedBatch
from functions.recap.guests import Audience, Guest
from functions.recap.labels import MailLabels
from functions.recap.ledger import (
    RECIPIENTS_PER_BATCH,
    RECIPIENTS_PER_CALL,
    TIMEOUT,
    Batch,
    BatchState,
    RecapState,
    plan,
    total,
)
from functions.recap.mail.composer import Composer, Recap, Recipient
from functions.recap.photos import web_address
from functions.recap.ports import Guests, Mailer, Mailings, RecapKey, Recaps
from functions.recap.recipients import Selection, UserRecords, select
from functions.recap.report import RecapResult, Report, answer
from functions.side_by_side import SideBySide
from functions.wall.fields import text

_LAST_WAIT_SECONDS: Final = TIMEOUT.total_seconds() - 120
"""Seconds from the start of a call after which it waits for nothing any more: a request that is
under way then, and the records after it, still end within the function's timeout."""


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


class RecapSender:
    """Sends recaps; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        recaps: Recaps,
        guests: Guests,
        mailings: Mailings,
        mailer: Callable[[], Mailer],
        links: Callable[[], Callable[[str], PreferencesLinks]],
        opted_out: Callable[[Mapping[str, Any]], bool],
        mail_from: Callable[[], str],
        shows: Callable[[str], bool],
        side_by_side: SideBySide,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
        new_word: Callable[[], str],
        new_mutex: Callable[[], AbstractContextManager[object]],
        limits: Limits | None = None,
    ) -> None:
        """Put the parts together.

        Args:
            recaps: The locks and ledgers.
            guests: Photos and preferences.
            mailings: Whom the tenants have mailed lately.
            mailer: Gives the mail service, with its key as it is now.
            links: Gives what makes the links of a mail to the user with an id.
            opted_out: Whether a user record declines recap mails, or none arrive there.
            mail_from: Gives the sender.
            shows: Whether the photo at a web address may stand in a mail.
            side_by_side: Sends the batches.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
            sleep: Waits for some seconds.
            new_word: Gives a word of letters and digits that nobody has or can guess.
            new_mutex: Gives what one thread at a time can enter.
            limits: Of what is sent.
        """
        self._recaps = recaps
        self._guests = guests
        self._mailings = mailings
        self._mailer = mailer
        self._links = links
        self._opted_out = opted_out
        self._mail_from = mail_from
        self._shows = shows
        self._side_by_side = side_by_side
        self._now = now
        self._monotonic = monotonic
        self._sleep = sleep
        self._new_word = new_word
        self._new_mutex = new_mutex
        self._limits = limits or Limits()

    def send(self, caller: Caller, wanted: RecapArguments) -> RecapResult:
        """Send the recap that is `wanted`, or what is left of it.

        Raises:
            CallError: as in spec 7.1.
        """
        give_up_at = self._monotonic() + _LAST_WAIT_SECONDS
        event = check_event(caller, self._recaps.event(wanted.event_id), wanted.tenant_id)
        tenant_id = text(event.get("tenantId")) or None
        claim = Claim.take(
            self._recaps,
            wanted.event_id,
            mode=wanted.mode,
            started_by=caller.uid,
            now=self._now,
            new_id=self._new_word,
            one_at_a_time=self._new_mutex(),
        )
        allowance = Allowance(
            self._mailings,
            tenant_id or "",
            claim.key,
            self._now,
            an_address=self._limits.an_address,
            a_tenant=self._limits.a_tenant,
            reserved=claim.resumed,
        )
        try:
            report, dispatch, batches = self._prepare(claim, allowance, event, wanted, give_up_at)
        except Exception as error:
            log.fault("recap.failed", error, eventId=wanted.event_id, recapId=claim.key.recap_id)
            _release(claim, allowance, failed=True)
            raise CallError(
                Code.INTERNAL, "The recap could not be prepared, and nothing was sent; try again."
            ) from error
        dispatch.send(batches)
        state = _release(claim, allowance)
        report = report.after(claim.ledger.values())
        _log(claim, report, state)
        return answer(report, state)

    def _prepare(
        self,
        claim: Claim,
        allowance: Allowance,
        event: Mapping[str, Any],
        wanted: RecapArguments,
        give_up_at: float,
    ) -> tuple[Report, Dispatch, Sequence[PlannedBatch]]:
        """What to send and how; nothing has left yet."""
        if claim.resumed:
            claim.read_ledger()
        mailer = self._mailer()
        audience = Audience(
            wanted.mode, shows=self._shows, at_most=self._limits.a_call, room=mailer.bytes_each
        )
        for photo in self._guests.approved_photos(wanted.event_id):
            audience.add(photo)
        users = UserRecords.read(self._guests, audience.guests, self._opted_out)
        before = total(claim.ledger.values())
        if before.sent:
            report = Report(before=before, hidden=audience.hidden)
        else:
            report = self._plan(claim, allowance, audience, users)
        waiting = [one for one in claim.ledger.values() if one.state is BatchState.PLANNED]
        guests = self._chosen(wanted, waiting, audience)
        dispatch = Dispatch(
            claim=claim,
            mailer=mailer,
            compose=self._composer(event, wanted, audience, mailer.bytes_each).message,
            side_by_side=self._side_by_side,
            monotonic=self._monotonic,
            sleep=self._sleep,
            give_up_at=give_up_at,
        )
        return report, dispatch, self._planned(claim.key, waiting, guests, users)

    def _plan(
        self, claim: Claim, allowance: Allowance, audience: Audience, users: UserRecords
    ) -> Report:
        willing = [one for one in audience.in_turn() if one.id not in users.opted_out]
        sent_at: Mapping[str, datetime] | None = None
        selection, full, short = Selection([], 0), 0, False

        def choose(allowed: Allowed) -> Sequence[Guest]:
            nonlocal selection, full, short, sent_at
            at_most = min(self._limits.a_call, allowed.mails)
            if len(allowed.guests) > at_most and sent_at is None:
                sent_at = self._recaps.sent_at(claim.key.event_id)
            selection = select(allowed.guests, sent_at or {}, at_most)
            full = len(willing) - len(allowed.guests)
            short = allowed.mails < min(self._limits.a_call, len(allowed.guests))
            return selection.chosen

        if willing:
            allowance.reserve(willing, choose)
        skipped = audience.invalid + len(users.opted_out) + full
        batches = plan(
            [one.id for one in selection.chosen],
            first=max(claim.ledger, default=-1) + 1,
            at_most=self._limits.a_batch,
        )
        planned = total(batches)
        claim.plan(batches, replace(planned, skipped=skipped, left=selection.left + planned.left))
        return Report(
            skipped=skipped,
            left=selection.left,
            full=full,
            short=short,
            hidden=audience.hidden,
            nobody=None if batches or full or short else _why_nobody(audience, skipped),
        )

    def _chosen(
        self, wanted: RecapArguments, batches: Sequence[Batch], audience: Audience
    ) -> Mapping[str, Guest]:
        """The recipients of the batches who are still guests, with their pictures."""
        ids = {one for batch in batches for one in batch.recipients}
        chosen = {guest.id: guest for guest in audience.guests if guest.id in ids}
        if audience.crowded and wanted.mode is Mode.PERSONAL:
            # Nobody's were kept while it was not known whose to keep.
            for photo in self._guests.approved_photos(wanted.event_id):
                audience.add_again(photo, chosen)
        return chosen

    def _planned(
        self,
        key: RecapKey,
        batches: Iterable[Batch],
        guests: Mapping[str, Guest],
        users: UserRecords,
    ) -> Sequence[PlannedBatch]:
        links = self._links()

        def recipient(guest: Guest, batch: int) -> Recipient:
            uid = users.uids[guest.id]
            labels = MailLabels(
                event_id=key.event_id,
                recap_id=key.recap_id,
                batch=batch,
                guest_id=guest.id,
                uid=uid,
            )
            return Recipient(
                address=guest.address,
                name=guest.name,
                links=links(uid),
                pictures=guest.pictures(),
                photo_count=guest.photo_count,
                labels=labels.as_texts(),
            )

        return [
            PlannedBatch(
                batch,
                # Whoever is on no approved photo any more is left out without a word.
                {
                    one: recipient(guests[one], batch.number)
                    for one in batch.recipients
                    if one in guests and one not in users.opted_out
                },
                batch.opted_out + sum(one in users.opted_out for one in batch.recipients),
            )
            for batch in batches
        ]

    def _composer(
        self, event: Mapping[str, Any], wanted: RecapArguments, audience: Audience, bytes_each: int
    ) -> Composer:
        recap = Recap(
            mode=wanted.mode,
            sender=self._mail_from(),
            event_name=text(event.get("name")) or "",
            gallery_url=web_address(event.get("galleryUrl")),
            subject=wanted.subject,
            message=wanted.message,
            reel=audience.reel.pictures(),
            photo_count=audience.photo_count,
        )
        return Composer(recap, new_word=self._new_word, bytes_each=bytes_each)


def _release(claim: Claim, allowance: Allowance, *, failed: bool = False) -> RecapState | None:
    """Release the lock; where the recap stands, None where that is not on record."""
    event_id, recap_id = claim.key
    try:
        state = claim.release(failed=failed)
    except Exception as error:  # noqa: BLE001 - the answer matters more, and the lease ends
        log.fault("recap.held", error, eventId=event_id, recapId=recap_id)
        return None
    if state in (RecapState.FAILED, RecapState.EMPTY):
        try:
            allowance.give_back()
        except Exception as error:  # noqa: BLE001 - it counts as sent for a day
            log.fault("recap.not-given-back", error, eventId=event_id, recapId=recap_id)
    return state


def _why_nobody(audience: Audience, skipped: int) -> str:
    if not audience.photo_count:
        return "There are no approved photos, so there is nobody to send to."
    if not skipped:
        return "No guest has left an e-mail address with an approved photo."
    return "Every guest has opted out of recap mails or left an invalid address."


def _log(claim: Claim, report: Report, state: RecapState | None) -> None:
    write = log.info if state in (RecapState.SENT, RecapState.EMPTY) else log.error
    call = report.call
    write(
        "recap.done",
        eventId=claim.key.event_id,
        recapId=claim.key.recap_id,
        state=state,
        sent=call.sent,
        unknown=call.unknown,
        open=call.left,
        underWay=report.under_way,
        skipped=call.skipped,
        left=report.left,
    )
