"""The mail with the news of an event's endpoints (spec 6.4).

    records of the event ▸ next steps ▸ the news ▸ people ▸ send the mail ▸ record the news as known

News are recorded as known once the mail service has accepted the mail, or may have. After a crash
in between the mail may come twice. A mail that was not accepted comes with the next sweep.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from functions import log
from functions.firestore.model import ChangedMeanwhileError, Documents, text, time
from functions.mail.message import (
    Accepted,
    BadAddresses,
    EmailMessage,
    Later,
    Mailer,
    MailSender,
    Refused,
    SendOutcome,
    Unknown,
)
from functions.outside import Clock
from functions.rate_limit import RateLimit
from functions.wall.address import address_hash, deliverable, guest_uid, normalised
from functions.webhooks.deliveries.delivery import KEPT_FOR, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore, latest_deliveries
from functions.webhooks.failing_endpoints.failing_endpoint import (
    FailingEndpoint,
    Latest,
    Standing,
    Step,
    next_step,
)
from functions.webhooks.failing_endpoints.notice_composer import Change, compose
from functions.webhooks.wall_store import WallStore
from functions.webhooks.webhook_settings import SettingsStore, Subscription, WebhookSettings

MAILS_TO_AN_ADDRESS: Final = 24
"""Notices to one address in a day, from all tenants."""

MAILS_OF_A_TENANT: Final = 200
"""Notices to all addresses of one tenant in a day."""

_UNREACHABLE_UNTIL: Final = "unreachableUntil"
"""Field of the record of an address: it has sent a mail back for good, or complained."""


@dataclass(frozen=True, slots=True)
class People:
    """Chooses the addresses of `notify` that a mail goes to."""

    documents: Documents
    rate_limit: RateLimit
    clock: Clock

    def reachable(self, notify: Iterable[str]) -> Sequence[str]:
        """The addresses that mail can go to, each once."""
        addresses: dict[str, str] = {}
        for address in filter(None, map(deliverable, notify)):
            addresses.setdefault(normalised(address), address)
        paths = [f"users/{guest_uid(address_hash(address))}" for address in addresses]
        records = self.documents.get_all(paths, fields=[_UNREACHABLE_UNTIL]) if paths else []
        now = self.clock.now()
        return [
            address
            for address, record in zip(addresses.values(), records, strict=True)
            if not record or (time(record.fields.get(_UNREACHABLE_UNTIL)) or now) <= now
        ]

    def within_limits(self, tenant_id: str, addresses: Iterable[str]) -> Sequence[str]:
        """The `addresses` that one more mail may go to; each mail is counted."""
        return [address for address in addresses if self._may_be_sent(tenant_id, address)]

    def _may_be_sent(self, tenant_id: str, address: str) -> bool:
        for of, name, at_most in (
            ("tenant", tenant_id, MAILS_OF_A_TENANT),
            ("address", normalised(address), MAILS_TO_AN_ADDRESS),
        ):
            if not self.rate_limit.allows("notices", f"{of} {name}", at_most, timedelta(days=1)):
                log.warning("notice.limited", of=of)
                return False
        return True


_News: TypeAlias = tuple[FailingEndpoint, Change]
"""What people do not know of an endpoint, and its record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Notifies an event's people of its news; one instance serves all threads of the process."""

    endpoints: EndpointStore
    settings: SettingsStore
    deliveries: DeliveryStore
    wall: WallStore
    people: People
    mailer: Mailer
    sender: MailSender
    base_url: str
    """Address of the site with the console, which the mail has a link to."""

    clock: Clock

    def notify(self, event_id: str) -> None:
        """Send people the news; no mail where there are none.

        Raises:
            Exception: a fault of our own, or of the mail service's settings.
        """
        settings = self.settings.load(event_id)
        event = self.wall.event(event_id) if settings.notify else None
        news = list(self._news(event_id, settings)) if event is not None else []
        if event is None or not news:
            return
        reachable = self.people.reachable(settings.notify)
        if not reachable:
            log.warning("notice.nobody", eventId=event_id)
            self._record(news)
            return
        addresses = self.people.within_limits(text(event.get("tenantId")) or "", reachable)
        if not addresses:
            return
        message = compose(
            [change for _, change in news],
            event_id=event_id,
            event_name=text(event.get("name")) or "",
            addresses=addresses,
            sender=self.sender.checked(),
            base_url=self.base_url,
        )
        if self._send(event_id, message, news):
            self._record(news)

    def _news(self, event_id: str, settings: WebhookSettings) -> Iterator[_News]:
        for recorded in self.endpoints.of_event(event_id):
            endpoint, now = settings.by_id.get(recorded.id), self.clock.now()
            if endpoint is None:
                continue
            record = recorded.of(endpoint, now)
            latest = latest_deliveries(self.deliveries, record, endpoint, has_people=True, now=now)
            # The sweep sends again, and not this function.
            step = next_step(record.resent(now), endpoint, latest, has_people=True, now=now)
            standing = Standing.DISABLED if endpoint.disabled else Standing.FAILING
            if step is Step.NOTIFY_OF_RECOVERY:
                yield record, self._change(record, endpoint, Standing.RECOVERED, latest)
            elif step is Step.NOTIFY:
                yield record, self._change(record, endpoint, standing, latest)

    def _change(
        self, record: FailingEndpoint, endpoint: Subscription, standing: Standing, latest: Latest
    ) -> Change:
        event_id, now = record.event_id, self.clock.now()
        since: datetime | None = record.since
        missed = EndedWithin(since=record.since, until=now, endpoints=(record.id,))
        if standing is not Standing.RECOVERED:
            last_success = latest.acknowledged_at or now - KEPT_FOR
            failed = replace(missed, since=last_success, outcomes=(Outcome.FAILED,))
            first = self.deliveries.ended(event_id, failed, None, 1)
            since = first[0].ended_at if first else None
            missed = replace(missed, since=since or now)
        waiting = self.deliveries.count_ended(event_id, missed)
        skipped = 0
        if waiting and standing is not Standing.FAILING:
            not_tried = replace(missed, outcomes=(Outcome.SKIPPED,))
            skipped = self.deliveries.count_ended(event_id, not_tried)
        last = self.deliveries.last(event_id, record.id, Outcome.FAILED)
        return Change(
            url=endpoint.url,
            standing=standing,
            since=since,
            waiting=waiting,
            skipped=skipped,
            failed=last.log[-1] if last and last.log else None,
            acknowledged_at=latest.acknowledged_at,
            label=endpoint.label,
        )

    def _send(self, event_id: str, message: EmailMessage, news: Sequence[_News]) -> bool:
        """Send the mail; whether the mail service has accepted it, or may have."""
        standings = ",".join(sorted({change.standing for _, change in news}))
        self.mailer.check()
        outcome, addresses = _send_without_refused(self.mailer, message)
        match outcome:
            case Accepted():
                log.info(
                    "notice.sent",
                    eventId=event_id,
                    told=standings,
                    urls=len(news),
                    addresses=addresses,
                )
                return True
            case Unknown(reason):
                log.warning("notice.unknown", eventId=event_id, reason=reason)
                return True
            case BadAddresses():
                log.warning("notice.refused", eventId=event_id)
                return True
            case Later(reason, _):
                log.warning("notice.later", eventId=event_id, reason=reason)
            case Refused(reason):
                log.error("notice.not-sent", eventId=event_id, reason=reason)
        return False

    def _record(self, news: Iterable[_News]) -> None:
        for record, change in news:
            with suppress(ChangedMeanwhileError):  # the record is gone
                self.endpoints.note_notice(record.notified(change.standing, self.clock.now()))


def _send_without_refused(mailer: Mailer, message: EmailMessage) -> tuple[SendOutcome, int]:
    """The outcome of the mail without the addresses that are refused, and how many are left."""
    while True:
        outcome = mailer.send(message)
        if not isinstance(outcome, BadAddresses):
            return outcome, len(message.copies)
        copies = [copy for index, copy in enumerate(message.copies) if index not in outcome.indices]
        if not copies or len(copies) == len(message.copies):
            return outcome, 0
        message = replace(message, copies=copies)
