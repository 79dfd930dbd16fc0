"""One look at the watched URLs of an event, and the mail that tells the news (design 3.33).

    watched URLs ▸ their health ▸ the news ▸ write the mail ▸ put it on record ▸ send it

A mail that is on record may have left, and is never sent again, even after a crash. Only if the
mail service has certainly not taken the mail, it is taken off the record and tried again later.
The record holds notices alone: a fault here harms no delivery.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from functions import log
from functions.documents.refusals import ChangedMeanwhileError
from functions.mail.letterhead import Letterhead
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, BadAddresses, Later, Refused, SendOutcome, Unknown
from functions.mail.provider import Mailer
from functions.wall.fields import text
from functions.webhooks.deliveries.delivery import EndedWithin, Outcome
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.notices import addressees
from functions.webhooks.notices.addressees import Addressee
from functions.webhooks.notices.composer import Change, compose
from functions.webhooks.notices.ports import Notices, StoredWatch
from functions.webhooks.notices.watch import LOOKED_AT, News, Seen, Standing, Watch
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import SWITCHED_OFF, Subscription
from functions.webhooks.store import WallStore

LEAVES_WITHIN: Final = timedelta(minutes=1)
"""After it was put on record; later it does not leave at all: it may not be true any more."""

_ENDS: Final = (Outcome.SUCCESS, Outcome.FAILED)
_AT_ONCE: Final = timedelta(0)
_LOOKS: Final = 5
"""After which the next sweep goes on: others write all the time."""
_LONGEST_WAIT: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A mail that is on record, and what it tells; `before` is when the one before it was."""

    name: str
    event_id: str
    news: Sequence[News]
    before: datetime | None
    at: datetime


class Notifier:
    """Looks and tells; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        notices: Notices,
        settings: SettingsStore,
        deliveries: DeliveryStore,
        wall: WallStore,
        mailer: Callable[[], Mailer],
        letterhead: Callable[[], Letterhead],
        willing: Callable[[str, Sequence[str]], Sequence[Addressee]],
        base_url: str,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        """Put the parts together.

        Args:
            notices: The watched URLs.
            settings: The URLs of an event, and the addresses for its notices.
            deliveries: The latest deliveries to a URL.
            wall: The name of the event.
            mailer: Gives the mail service, with the key of the moment.
            letterhead: Gives the sender, as the deployment names it at the moment.
            willing: A tenant's addresses whose owners want notices; other owners are asked.
            base_url: Of the links.
            now: The time, aware and in UTC.
            new_id: Gives a name that no mail has had before.
        """
        self._notices = notices
        self._settings = settings
        self._deliveries = deliveries
        self._wall = wall
        self._mailer = mailer
        self._letterhead = letterhead
        self._willing = willing
        self._base_url = base_url
        self._now = now
        self._new_id = new_id

    def look(self, event_id: str) -> None:
        """Look at the watched URLs of the event, if it is time, and tell the news.

        Raises:
            Exception: a fault of our own; asked again, or by the next sweep, it goes on.
        """
        for _ in range(_LOOKS):
            if self._look(event_id):
                return

    def _look(self, event_id: str) -> bool:
        """Look once; False if another process has written meanwhile."""
        stored = self._notices.load(event_id)
        now = self._now()
        if stored is None or not stored.watch.is_due(now):
            return True
        if stored.watch.sending:
            # The process of that mail has ended or is still sending: the mail counts as sent.
            log.warning("notice.unknown", eventId=event_id, reason="its sender did not come back")
        settings = self._settings.load(event_id)
        addresses = addressees.deliverable_of(settings.notify)
        configured = settings.by_url if addresses else {}
        watch, news = stored.watch.looked(self._seen(event_id, stored.watch, configured), now)
        event = self._wall.event(event_id) if news else None
        tenant_id = text(event.get("tenantId")) or "" if event else ""
        willing = self._willing(tenant_id, addresses) if event is not None else ()
        if event is not None and willing:
            name = text(event.get("name")) or ""
            return self._tell(event_id, StoredWatch(watch, stored.version), news, willing, name)
        if news:  # of an event that is being deleted, or whose people have not confirmed
            watch, _ = watch.looked({}, now)
        return self._save(event_id, watch, stored)

    def _seen(
        self, event_id: str, watch: Watch, configured: Mapping[str, Subscription]
    ) -> Mapping[str, Seen]:
        return {
            watched.url: Seen(
                is_disabled=configured[watched.url].disabled is not None,
                ended=self._deliveries.last_ended(event_id, watched.url, _ENDS, LOOKED_AT),
            )
            for watched in watch.urls
            if watched.url in configured
            # An admin who has switched a URL off needs no mail about the URL.
            if configured[watched.url].disabled != SWITCHED_OFF
        }

    def _tell(
        self,
        event_id: str,
        stored: StoredWatch,
        news: Sequence[News],
        willing: Sequence[Addressee],
        event_name: str,
    ) -> bool:
        """Send the mail, or leave it to a later look; False if another process has written."""
        news = [replace(item, since=self._since(event_id, item)) for item in news]
        changes = [self._change(event_id, item) for item in news]
        watch, now = stored.watch, self._now()
        try:
            message = compose(
                changes,
                event_id=event_id,
                event_name=event_name,
                addressees=willing,
                letterhead=self._letterhead(),
                base_url=self._base_url,
                tag=f"%{self._new_id()}%",
            )
            mailer = self._mailer()
        except Exception as error:  # noqa: BLE001 - the next look tries again, so many times
            log.fault("notice.not-written", error, eventId=event_id)
            put_off = watch.not_sent(news, watch.sent_at, _AT_ONCE, now)
            self._log_given_up(event_id, put_off)
            return self._save(event_id, put_off, stored)
        claim = _Claim(
            name=self._new_id(), event_id=event_id, news=news, before=watch.sent_at, at=now
        )
        if not self._is_claimed(claim, watch.claimed(news, claim.name, now), stored):
            return False
        self._send(claim, mailer, message)
        return True

    def _since(self, event_id: str, news: News) -> datetime | None:
        """When the first of the deliveries ended that have failed in a row."""
        if news.before.is_open and news.before.since:
            return news.before.since
        url = news.before.url
        ended = self._deliveries.last_ended(event_id, url, (Outcome.SUCCESS,), LOOKED_AT)
        acknowledged = [delivery.at for delivery in ended if not delivery.test]
        return self._deliveries.first_failure(
            event_id, url, acknowledged[0] if acknowledged else None
        )

    def _change(self, event_id: str, news: News) -> Change:
        url, now = news.before.url, self._now()
        wanted = EndedWithin(since=news.since or now, until=now, url=url)
        waiting = self._deliveries.count_ended(event_id, wanted)
        last = news.seen.counting[0] if news.seen.counting else None
        failed = next(
            (ended for ended in news.seen.counting if ended.outcome is Outcome.FAILED), None
        )
        skipped = 0
        if waiting and news.standing is not Standing.FAILING:
            not_tried = replace(wanted, outcomes=(Outcome.SKIPPED,))
            skipped = self._deliveries.count_ended(event_id, not_tried)
        return Change(
            url=url,
            standing=news.standing,
            since=news.since,
            waiting=waiting,
            skipped=skipped,
            status=failed.status if failed else None,
            error=failed.error if failed else None,
            acknowledged_at=last.at if last and news.standing is Standing.RECOVERED else None,
        )

    def _is_claimed(self, claim: _Claim, watch: Watch, stored: StoredWatch) -> bool:
        """Put the mail on record; False if another process has written first."""
        try:
            self._notices.save(claim.event_id, watch, stored.version)
        except ChangedMeanwhileError:
            # By another look or a mark, which sends its own mail; or by this save, whose answer was
            # lost.
            found = self._notices.load(claim.event_id)
            return found is not None and found.watch.sending == claim.name
        return True

    def _send(self, claim: _Claim, mailer: Mailer, message: EmailMessage) -> None:
        outcome: SendOutcome = Refused("every address was refused")
        while message.copies:
            if self._now() - claim.at > LEAVES_WITHIN:
                outcome = Later("held up", None)
                break
            outcome = mailer.send(message)
            if not isinstance(outcome, BadAddresses):
                break
            copies = [
                copy for place, copy in enumerate(message.copies) if place not in outcome.indices
            ]
            if len(copies) == len(message.copies):
                outcome = Refused("addresses that it was not sent to")
                break
            message = replace(message, copies=copies)
        self._settle(claim, outcome, len(message.copies))

    def _settle(self, claim: _Claim, outcome: SendOutcome, copies: int) -> None:
        """Put the outcome of the mail on record."""
        told = ",".join(sorted({item.standing for item in claim.news}))
        match outcome:
            case Accepted():
                log.info(
                    "notice.sent",
                    eventId=claim.event_id,
                    told=told,
                    urls=len(claim.news),
                    addresses=copies,
                )
                self._record(claim, lambda watch: watch.sent())
            case Unknown(reason):
                log.warning("notice.unknown", eventId=claim.event_id, reason=reason)
                self._record(claim, lambda watch: watch.sent())
            case BadAddresses():
                log.warning("notice.refused", eventId=claim.event_id)
                self._record(claim, lambda watch: watch.sent())
            case Later(reason, seconds):
                log.warning("notice.later", eventId=claim.event_id, reason=reason)
                wait = min(timedelta(seconds=seconds or 0), _LONGEST_WAIT)
                self._take_back(claim, wait)
            case Refused(reason):
                log.error("notice.not-sent", eventId=claim.event_id, reason=reason)
                self._take_back(claim, _AT_ONCE)

    def _take_back(self, claim: _Claim, wait: timedelta) -> None:
        now = self._now()
        watch = self._record(
            claim, lambda watch: watch.not_sent(claim.news, claim.before, wait, now)
        )
        if watch:
            self._log_given_up(claim.event_id, watch)

    def _record(self, claim: _Claim, change: Callable[[Watch], Watch]) -> Watch | None:
        """Write the changed watch, unless it is about another mail by now."""
        while True:
            found = self._notices.load(claim.event_id)
            if found is None or found.watch.sending != claim.name:
                return None
            watch = change(found.watch)
            try:
                self._notices.save(claim.event_id, watch, found.version)
            except ChangedMeanwhileError:
                continue  # by a mark, or by this save, whose answer was lost
            return watch

    def _save(self, event_id: str, watch: Watch, stored: StoredWatch) -> bool:
        """Write the result of a look; False if another process has written meanwhile."""
        try:
            self._notices.save(event_id, watch, stored.version)
        except ChangedMeanwhileError:
            return False
        return True

    def _log_given_up(self, event_id: str, watch: Watch) -> None:
        if not watch.tries:
            log.error("notice.given-up", eventId=event_id)
