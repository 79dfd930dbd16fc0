"""The mail with the news of an event's endpoints (spec 6.4).

    records of the event ▸ next steps ▸ the news ▸ people ▸ send the mail ▸ record the news as known

News are recorded as known once the mail service has accepted the mail, or may have. After a crash
in between the mail may come twice. A mail that was not accepted comes with the next sweep.

Everything in the mail that people wrote is one bounded line, escaped, and no link: the event's
name, and the label and the host of a URL, whose path and query may hold keys. The only link leads
to the console.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias

from functions import log
from functions.email_address import deliverable, identity, record_id
from functions.firestore.model import Documents, text, time
from functions.mail.message import EmailMessage, Mailer, MailSender
from functions.mail.outcome import Accepted, BadAddresses, Later, Refused, SendOutcome, Unknown
from functions.mail.staff_mail import mail_time, staff_mail
from functions.mail.text import unlinked
from functions.mail.translation import templates_in
from functions.ports import Clock
from functions.rate_limit import RateLimit
from functions.webhooks.deliveries.delivery import KEPT_FOR, Attempt, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.endpoints.endpoint_store import EndpointStore, check_endpoint
from functions.webhooks.endpoints.failing_endpoint import (
    Check,
    FailingEndpoint,
    Standing,
    Step,
)
from functions.webhooks.webhook_settings import SettingsStore, WebhookSettings

MAILS_TO_AN_ADDRESS: Final = 24
"""Notices to one address in a day, from all tenants."""

MAILS_OF_A_TENANT: Final = 200
"""Notices to all addresses of one tenant in a day."""

_UNREACHABLE_UNTIL: Final = "unreachableUntil"
"""Field of the record of an address: it has sent a mail back for good, or complained."""

_REASON_CHARACTERS: Final = 200
_LABEL_CHARACTERS: Final = 40

_PREDICATES: Final = {
    Standing.FAILING: ("is failing", "are failing"),
    Standing.DISABLED: ("is switched off", "are switched off"),
    Standing.RECOVERED: ("works again", "work again"),
}

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The news of one URL.

    Attributes:
        url: The URL as it is configured.
        label: What organizers call it; may be empty.
        standing: The new standing.
        since: When the first of the deliveries ended that have failed in a row.
        waiting: Deliveries since then that did not get through.
        skipped: Deliveries among them that were not tried, while the URL was switched off.
        failed: The last attempt of the delivery that failed last, or None.
        acknowledged_at: When the receiver acknowledged a delivery again, or None.
    """

    url: str
    standing: Standing
    since: datetime | None
    waiting: int
    skipped: int = 0
    failed: Attempt | None = None
    acknowledged_at: datetime | None = None
    label: str = ""


_News: TypeAlias = tuple[FailingEndpoint, Change]
"""What people do not know of an endpoint, and its record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Notifies an event's people of its news; one instance serves all threads of the process."""

    endpoints: EndpointStore
    settings: SettingsStore
    deliveries: DeliveryStore
    documents: Documents
    rate_limit: RateLimit
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
        event = self.settings.event(event_id) if settings.notify else None
        news = list(self._news(event_id, settings)) if event is not None else []
        if event is None or not news:
            return
        reachable = self._reachable(settings.notify)
        if not reachable:
            log.warning("notice.nobody", eventId=event_id)
            self._record(news)
            return
        self.mailer.check()
        sender = self.sender.checked()  # before the mails are counted
        tenant_id = text(event.get("tenantId")) or ""
        addresses = [address for address in reachable if self._may_get(tenant_id, address)]
        if not addresses:
            return
        message = compose(
            [change for _, change in news],
            event_id=event_id,
            event_name=text(event.get("name")) or "",
            addresses=addresses,
            sender=sender,
            base_url=self.base_url,
        )
        if self._send(event_id, message, news):
            self._record(news)

    def _reachable(self, notify: Iterable[str]) -> Sequence[str]:
        """The addresses that mail can go to, each once."""
        addresses: dict[str, str] = {}
        for address in filter(None, map(deliverable, notify)):
            addresses.setdefault(record_id(address), address)
        paths = [f"users/{uid}" for uid in addresses]
        records = self.documents.get_all(paths, fields=[_UNREACHABLE_UNTIL]) if paths else []
        now = self.clock.now()
        return [
            address
            for address, record in zip(addresses.values(), records, strict=True)
            if not record or (time(record.fields.get(_UNREACHABLE_UNTIL)) or now) <= now
        ]

    def _may_get(self, tenant_id: str, address: str) -> bool:
        """Whether one more mail may go to the address; the mail is counted."""
        for of, name, at_most in (
            ("address", identity(address), MAILS_TO_AN_ADDRESS),
            ("tenant", tenant_id, MAILS_OF_A_TENANT),
        ):
            if not self.rate_limit.allows("notices", f"{of} {name}", at_most, timedelta(days=1)):
                log.warning("notice.limited", of=of)
                return False
        return True

    def _news(self, event_id: str, settings: WebhookSettings) -> Iterator[_News]:
        for recorded in self.endpoints.of_event(event_id):
            now = self.clock.now()
            record = replace(recorded, resent_until=now)  # the sweep sends again, and nobody else
            check = check_endpoint(record, settings, self.deliveries, now)
            if check is None:
                continue
            standing = Standing.DISABLED if check.endpoint.disabled else Standing.FAILING
            if check.step is Step.NOTIFY_OF_RECOVERY:
                yield check.record, self._change(check, Standing.RECOVERED)
            elif check.step is Step.NOTIFY:
                yield check.record, self._change(check, standing)

    def _change(self, check: Check, standing: Standing) -> Change:
        record, endpoint, latest = check.record, check.endpoint, check.latest
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
            self.endpoints.note_notice(record, change.standing, self.clock.now())


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


def compose(
    changes: Sequence[Change],
    *,
    event_id: str,
    event_name: str,
    addresses: Iterable[str],
    sender: MailSender,
    base_url: str,
) -> EmailMessage:
    """One message about all `changes`; see `staff_mail`."""
    works = all(change.standing is Standing.RECOVERED for change in changes)
    return staff_mail(
        _templates,
        "notice",
        _headline(changes),
        event_id=event_id,
        event_name=event_name,
        place="receivers",
        base_url=base_url,
        sender=sender,
        addresses=addresses,
        works=works,
        changes=[_shown(change) for change in changes],
        what_to_do=_what_to_do(changes, works=works),
    )


def _headline(changes: Sequence[Change]) -> str:
    if len(changes) == 1:
        return f"A webhook URL {_PREDICATES[changes[0].standing][0]}"
    counts = Counter(change.standing for change in changes)
    phrases = [
        f"{count} {_PREDICATES[standing][count > 1]}"
        for standing in Standing
        if (count := counts[standing])
    ]
    return f"Webhook URLs: {', '.join(phrases)}"


def _shown(change: Change) -> dict[str, Any]:
    """The fields of a URL in the templates: its name, and what has become of it, in lines."""
    lines = _templates.get_template("change.txt").render(
        standing=change.standing,
        since=change.since and mail_time(change.since),
        acknowledged=change.acknowledged_at and mail_time(change.acknowledged_at),
        reason=_reason(change.failed),
        waiting=change.waiting,
        skipped=change.skipped,
    )
    name = name_of(change.url).replace(".", "[.]")  # mail programs make links of hosts
    label = unlinked(change.label, _LABEL_CHARACTERS)
    return {
        "name": f"{label} ({name})" if label else name,
        "standing": change.standing,
        "lines": lines.splitlines(),
    }


def _reason(failed: Attempt | None) -> str:
    """Why the last delivery failed; empty if that is not known."""
    if failed and failed.status is not None:
        return f"HTTP {failed.status}"
    return unlinked(failed.error, _REASON_CHARACTERS) if failed and failed.error else ""


def _what_to_do(changes: Sequence[Change], *, works: bool) -> str:
    if works and not any(change.waiting for change in changes):
        return "There is nothing to do."
    if works:
        return "Send again what has not arrived, in the console."
    advice = "Mend the receiver, try it with a test, then send again what has not arrived."
    if any(change.standing is Standing.DISABLED for change in changes):
        advice += " An admin switches a URL on again."
    return f"{advice} All of that is in the console."
