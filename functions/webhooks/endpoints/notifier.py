"""Email notices about an event's endpoints (spec 6.4).

    records of the event ▸ next steps ▸ changes ▸ addresses ▸ send the email ▸ record the notices

A notice is recorded when SendGrid has accepted the email, or may have accepted it. After a crash
before the record, the email may be sent twice. The next sweep resends a rejected email.

User content in the email (the event's name, and the label and host of a URL) is escaped, limited to
one line, and never a link. Paths and queries are omitted because they may contain keys. The only
link opens the console.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias

from functions import log, ports
from functions.email_address import deliverable, identity, record_id
from functions.firestore.model import Documents, as_text, as_time
from functions.mail.message import EmailMessage, Mailer, MailSender
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Later,
    PartlyAccepted,
    Refused,
    SendOutcome,
    Unknown,
)
from functions.mail.staff_mail import mail_time, staff_mail
from functions.mail.text import without_links
from functions.mail.translation import templates_in
from functions.rate_limit import RateLimit
from functions.webhooks.deliveries.delivery import KEPT_FOR, Attempt, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.endpoints.endpoint_store import EndpointStore, check_endpoint
from functions.webhooks.endpoints.failing_endpoint import (
    EndpointCheck,
    FailingEndpoint,
    NextAction,
    NoticeState,
)
from functions.webhooks.webhook_settings import SettingsStore, WebhookSettings

MAILS_TO_AN_ADDRESS: Final = 24
"""Maximum notices per day to one address, from all tenants."""

MAILS_OF_A_TENANT: Final = 200
"""Maximum notices per day of one tenant."""

_UNREACHABLE_UNTIL: Final = "unreachableUntil"
"""Field of an address record that is set after a hard bounce or spam complaint."""

_REASON_CHARACTERS: Final = 200
_LABEL_CHARACTERS: Final = 40

_PREDICATES: Final = {
    NoticeState.FAILING: ("is failing", "are failing"),
    NoticeState.DISABLED: ("is switched off", "are switched off"),
    NoticeState.RECOVERED: ("works again", "work again"),
}

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one endpoint's state.

    Attributes:
        url: The URL of the endpoint.
        label: The label of the endpoint, may be empty.
        state: The new state.
        since: End of the first of the consecutive failures.
        waiting: Number of deliveries since then that did not arrive.
        skipped: Number of these that were skipped while the URL was switched off.
        failed: The last attempt of the delivery that failed last, or None.
        acknowledged_at: Time at which the receiver acknowledged a delivery, or None.
    """

    url: str
    state: NoticeState
    since: datetime | None
    waiting: int
    skipped: int = 0
    failed: Attempt | None = None
    acknowledged_at: datetime | None = None
    label: str = ""


_News: TypeAlias = tuple[FailingEndpoint, Change]
"""The record of an endpoint, and the change to report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Use case: send the notices of an event. Shared by all threads of the process."""

    endpoints: EndpointStore
    settings: SettingsStore
    deliveries: DeliveryStore
    documents: Documents
    rate_limit: RateLimit
    mailer: Mailer
    sender: MailSender
    base_url: str
    """Base URL of the site with the console, for the link in the email."""

    clock: ports.Clock

    def notify(self, event_id: str) -> None:
        """Send the event's unreported changes in one email, if there are any.

        Raises:
            Exception: An internal error, or an error in the settings of the email provider.
        """
        settings = self.settings.load(event_id)
        event = self.settings.event(event_id) if settings.notify else None
        news = list(self._news(event_id, settings)) if event is not None else []
        if event is None or not news:
            return
        reachable = self._reachable(settings.notify)
        if not reachable:
            log.warning("notice.no_recipients", eventId=event_id)
            self._record(news)
            return
        self.mailer.check()
        sender = self.sender.validated()  # before the emails are counted
        tenant_id = as_text(event.get("tenantId")) or ""
        addresses = [address for address in reachable if self._may_get(tenant_id, address)]
        if not addresses:
            return
        message = compose(
            [change for _, change in news],
            event_id=event_id,
            event_name=as_text(event.get("name")) or "",
            addresses=addresses,
            sender=sender,
            base_url=self.base_url,
        )
        if self._send(event_id, message, news):
            self._record(news)

    def _reachable(self, notify: Iterable[str]) -> Sequence[str]:
        """Return the addresses that can receive email, without duplicates."""
        addresses: dict[str, str] = {}
        for address in filter(None, map(deliverable, notify)):
            addresses.setdefault(record_id(address), address)
        paths = [f"users/{uid}" for uid in addresses]
        records = self.documents.get_all(paths, fields=[_UNREACHABLE_UNTIL])
        now = self.clock.now()
        return [
            address
            for address, record in zip(addresses.values(), records, strict=True)
            if not record or (as_time(record.fields.get(_UNREACHABLE_UNTIL)) or now) <= now
        ]

    def _may_get(self, tenant_id: str, address: str) -> bool:
        """Count one email to the address, and return whether the limits permit it."""
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
            record = replace(recorded, resent_until=now)  # only the sweep redelivers
            check = check_endpoint(record, settings, self.deliveries, now)
            if check is None:
                continue
            state = NoticeState.DISABLED if check.endpoint.disabled else NoticeState.FAILING
            if check.next_action is NextAction.NOTIFY_OF_RECOVERY:
                yield check.record, self._change(check, NoticeState.RECOVERED)
            elif check.next_action is NextAction.NOTIFY:
                yield check.record, self._change(check, state)

    def _change(self, check: EndpointCheck, state: NoticeState) -> Change:
        record, endpoint, latest = check.record, check.endpoint, check.latest
        event_id, now = record.event_id, self.clock.now()
        since: datetime | None = record.since
        missed = EndedWithin(since=record.since, until=now, endpoints=(record.id,))
        if state is not NoticeState.RECOVERED:
            last_success = latest.acknowledged_at or now - KEPT_FOR
            failed = replace(missed, since=last_success, outcomes=(Outcome.FAILED,))
            first = self.deliveries.ended(event_id, failed, None, 1)
            since = first[0].ended_at if first else None
            missed = replace(missed, since=since or now)
        waiting = self.deliveries.count_ended(event_id, missed)
        skipped = 0
        if waiting and state is not NoticeState.FAILING:
            not_tried = replace(missed, outcomes=(Outcome.SKIPPED,))
            skipped = self.deliveries.count_ended(event_id, not_tried)
        last = self.deliveries.last(event_id, record.id, Outcome.FAILED)
        return Change(
            url=endpoint.url,
            state=state,
            since=since,
            waiting=waiting,
            skipped=skipped,
            failed=last.log[-1] if last and last.log else None,
            acknowledged_at=latest.acknowledged_at,
            label=endpoint.label,
        )

    def _send(self, event_id: str, message: EmailMessage, news: Sequence[_News]) -> bool:
        """Send the email, and return whether SendGrid has accepted it or may have accepted it."""
        standings = ",".join(sorted({change.state for _, change in news}))
        outcome, addresses = _send_without_rejected(self.mailer, message)
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
            self.endpoints.note_notice(record, change.state, self.clock.now())


def _send_without_rejected(mailer: Mailer, message: EmailMessage) -> tuple[SendOutcome, int]:
    """Send the email without rejected addresses.

    Returns:
        The outcome, and the number of remaining addresses.
    """
    while True:
        outcome = mailer.send(message)
        if isinstance(outcome, PartlyAccepted):
            return Accepted(""), len(outcome.accepted | outcome.unknown)
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
    """Return one email about all `changes` (see `staff_mail`)."""
    works = all(change.state is NoticeState.RECOVERED for change in changes)
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
        return f"A webhook URL {_PREDICATES[changes[0].state][0]}"
    counts = Counter(change.state for change in changes)
    phrases = [
        f"{count} {_PREDICATES[state][count > 1]}"
        for state in NoticeState
        if (count := counts[state])
    ]
    return f"Webhook URLs: {', '.join(phrases)}"


def _shown(change: Change) -> dict[str, Any]:
    """Return the template fields of a URL: its name, state, and lines of description."""
    lines = _templates.get_template("change.txt").render(
        state=change.state,
        since=change.since and mail_time(change.since),
        acknowledged=change.acknowledged_at and mail_time(change.acknowledged_at),
        reason=_reason(change.failed),
        waiting=change.waiting,
        skipped=change.skipped,
    )
    name = name_of(change.url).replace(".", "[.]")  # email clients turn host names into links
    label = without_links(change.label, _LABEL_CHARACTERS)
    return {
        "name": f"{label} ({name})" if label else name,
        "state": change.state,
        "lines": lines.splitlines(),
    }


def _reason(failed: Attempt | None) -> str:
    """Return why the last delivery failed, or "" if the reason is unknown."""
    if failed and failed.status is not None:
        return f"HTTP {failed.status}"
    return without_links(failed.error, _REASON_CHARACTERS) if failed and failed.error else ""


def _what_to_do(changes: Sequence[Change], *, works: bool) -> str:
    if works and not any(change.waiting for change in changes):
        return "No action needed."
    if works:
        return "Resend failed deliveries in the console."
    advice = "Fix the endpoint, send a test, then resend failed deliveries in the console."
    if any(change.state is NoticeState.DISABLED for change in changes):
        advice += " An admin can switch a URL on again."
    return advice
