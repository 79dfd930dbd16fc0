"""One call of `sendEventRecap`, from the lock to the answer (spec 3.3, 4.1, 7.1)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions import log
from functions.access import Caller, check_tenant
from functions.call_error import CallError, Code
from functions.preferences.links import PreferencesLinks
from functions.recap.arguments import RecapArguments
from functions.recap.claim import Claim
from functions.recap.dispatch import Dispatch, PlannedBatch
from functions.recap.guests import Audience, Guest
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
from functions.recap.ports import Guests, Mailer, Recaps
from functions.recap.recipients import UserRecords, select
from functions.recap.report import RecapResult, Report, answer
from functions.side_by_side import SideBySide
from functions.wall.fields import text

_LAST_WAIT_SECONDS: Final = TIMEOUT.total_seconds() - 120
"""Seconds from the start of a call after which it waits for nothing any more: a request that is
under way then, and the records after it, still end within the function's timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many recipients a call and a batch have at most."""

    a_call: int = RECIPIENTS_PER_CALL
    a_batch: int = RECIPIENTS_PER_BATCH


class RecapSender:
    """Sends recaps; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        recaps: Recaps,
        guests: Guests,
        mailer: Callable[[], Mailer],
        links: Callable[[], Callable[[str], PreferencesLinks]],
        opted_out: Callable[[Mapping[str, Any]], bool],
        mail_from: Callable[[], str],
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
            mailer: Gives the mail service, with its key as it is now.
            links: Gives what makes the links of a mail to the user with an id.
            opted_out: Whether a user record declines recap mails.
            mail_from: Gives the sender.
            side_by_side: Sends the batches.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
            sleep: Waits for some seconds.
            new_word: Gives a word of letters and digits that nobody has or can guess.
            new_mutex: Gives what one thread at a time can enter.
            limits: Smaller ones than the specification's, for tests.
        """
        self._recaps = recaps
        self._guests = guests
        self._mailer = mailer
        self._links = links
        self._opted_out = opted_out
        self._mail_from = mail_from
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
        event = self._recaps.event(wanted.event_id)
        if event is None:
            raise CallError(Code.NOT_FOUND, "There is no event with that eventId.")
        check_tenant(caller, text(event.get("tenantId")) or None, wanted.tenant_id)
        claim = Claim.take(
            self._recaps,
            wanted.event_id,
            mode=wanted.mode,
            started_by=caller.uid,
            now=self._now,
            new_id=self._new_word,
            one_at_a_time=self._new_mutex(),
        )
        try:
            report, dispatch, batches = self._prepare(claim, event, wanted, give_up_at)
        except Exception as error:
            log.fault("recap.failed", error, eventId=wanted.event_id, recapId=claim.key.recap_id)
            _release(claim, failed=True)
            raise CallError(
                Code.INTERNAL, "The recap could not be prepared, and nothing was sent; try again."
            ) from error
        dispatch.send(batches)
        state = _release(claim)
        report = report.after(claim.ledger.values())
        _log(claim, report, state)
        return answer(report, state)

    def _prepare(
        self, claim: Claim, event: Mapping[str, Any], wanted: RecapArguments, give_up_at: float
    ) -> tuple[Report, Dispatch, Sequence[PlannedBatch]]:
        """What to send and how; nothing has left yet."""
        if claim.resumed:
            claim.read_ledger()
        audience = Audience(wanted.mode)
        for photo in self._guests.approved_photos(wanted.event_id):
            audience.add(photo)
        users = UserRecords.read(self._guests, audience.guests, self._opted_out)
        before = total(claim.ledger.values())
        report = Report(before=before) if before.sent else self._plan(claim, audience, users)
        dispatch = Dispatch(
            claim=claim,
            mailer=(mailer := self._mailer()),
            compose=self._composer(event, wanted, audience, mailer.bytes_each).message,
            side_by_side=self._side_by_side,
            monotonic=self._monotonic,
            sleep=self._sleep,
            give_up_at=give_up_at,
        )
        waiting = [one for one in claim.ledger.values() if one.state is BatchState.PLANNED]
        return report, dispatch, self._planned(waiting, audience, users)

    def _plan(self, claim: Claim, audience: Audience, users: UserRecords) -> Report:
        willing = [one for one in audience.guests if one.id not in users.opted_out]
        crowded = len(willing) > self._limits.a_call
        sent_at = self._recaps.sent_at(claim.key.event_id) if crowded else {}
        selection = select(willing, sent_at, self._limits.a_call)
        skipped = audience.invalid + len(users.opted_out)
        batches = plan(
            [one.id for one in selection.chosen],
            first=max(claim.ledger, default=-1) + 1,
            at_most=self._limits.a_batch,
        )
        planned = total(batches)
        claim.plan(batches, replace(planned, skipped=skipped, left=selection.left + planned.left))
        nobody = None if batches else _why_nobody(audience, skipped)
        return Report(skipped=skipped, left=selection.left, nobody=nobody)

    def _planned(
        self, batches: Iterable[Batch], audience: Audience, users: UserRecords
    ) -> Sequence[PlannedBatch]:
        links = self._links()
        guests = {guest.id: guest for guest in audience.guests}

        def recipient(guest: Guest) -> Recipient:
            return Recipient(
                address=guest.address,
                name=guest.name,
                links=links(users.uids[guest.id]),
                pictures=guest.pictures(),
                photo_count=guest.photos.count,
            )

        return [
            PlannedBatch(
                batch,
                # Whoever is on no approved photo any more is left out without a word.
                {
                    one: recipient(guests[one])
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


def _release(claim: Claim, *, failed: bool = False) -> RecapState | None:
    """Release the lock; where the recap stands, None where that is not on record."""
    try:
        return claim.release(failed=failed)
    except Exception as error:  # noqa: BLE001 - the answer matters more, and the lease ends
        log.fault("recap.held", error, eventId=claim.key.event_id, recapId=claim.key.recap_id)
        return None


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
