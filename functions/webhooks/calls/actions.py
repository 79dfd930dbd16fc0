"""What an organizer does with webhooks: try a URL, send deliveries again, rotate the secret.

Every action first finds the event and checks that it is the caller's business (design 3.2).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from functions import log
from functions.call_rules import Caller, EventArguments, check_event
from functions.firestore.model import AlreadyRecordedError
from functions.outside import Clock, InParallel, wire_time
from functions.webhooks.calls.webhook_arguments import (
    Page,
    ResendArguments,
    RotateArguments,
    TestArguments,
    endpoint_at,
    next_page,
)
from functions.webhooks.deliveries.delivery import AttemptRequest, Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.redelivery import Obstacle, Redelivery, obstacle_at
from functions.webhooks.message import sample
from functions.webhooks.signing import RememberedSecrets
from functions.webhooks.webhook_settings import SettingsStore, Subscription, WebhookSettings
from functions.webhooks.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Resent:
    """How many deliveries a call has sent again, and how many it has left alone.

    `next` is for the call that goes on; None after the last page.
    """

    resent: int
    left_alone: int = 0
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a dry run has counted: deliveries that would be sent again, and deliveries left alone.

    `left_alone` counts deliveries to URLs with an `Obstacle`, and `tests` at all other URLs.
    """

    matching: int
    left_alone: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTest:
    """Sends a test to a URL of an event."""

    settings: SettingsStore
    deliveries: DeliveryStore
    worker: Worker
    clock: Clock
    new_word: Callable[[], str]
    """Makes a word that no test has had before."""

    def send_test(self, caller: Caller, arguments: TestArguments) -> Delivery:
        """Deliver a made-up message to a URL of the event (spec 4.6); its first attempt.

        The URL need not take that type and may be disabled: the test shows whether its receiver
        works. A test that fails is tried again like any other delivery.

        Raises:
            CallError: `invalid-argument` where the event has no such URL.
        """
        event_id, event_type = arguments.event_id, arguments.event_type
        check_event(caller, self.settings.event(event_id), arguments.tenant_id)
        endpoint = endpoint_at(arguments.url, self.settings.load(event_id))
        now = self.clock.now()
        delivery = Delivery.create(
            cause=f"test {self.new_word()}",
            event_id=event_id,
            event_type=event_type,
            url=arguments.url,
            endpoint=endpoint.id,
            data=sample(event_type, now),
            now=now,
            test=True,
        )
        with suppress(AlreadyRecordedError):  # by this call, whose answer was lost
            self.deliveries.create(event_id, [delivery])
        if delivery.outcome is Outcome.SKIPPED:
            return delivery
        request = AttemptRequest(event_id, delivery.id, delivery.due_attempt)
        return self.worker.attempt(request) or delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """Sends deliveries of an event again, and replaces its webhook secret."""

    settings: SettingsStore
    deliveries: DeliveryStore
    secrets: RememberedSecrets
    redelivery: Redelivery
    in_parallel: InParallel
    clock: Clock
    page: int
    """Deliveries that one call reads."""

    def resend(self, caller: Caller, arguments: ResendArguments) -> Resent:
        """Send a delivery again, or a page of deliveries, mostly failed and skipped ones.

        Raises:
            CallError: as `Redelivery.begin_one` says. A page leaves alone the deliveries that
                cannot be sent again; `invalid-argument` for a URL that the event has not.
        """
        check_event(caller, self.settings.event(arguments.event_id), arguments.tenant_id)
        settings = self.settings.load(arguments.event_id)
        if isinstance(arguments.what, Page):
            return self._resend_page(arguments.event_id, arguments.what, settings)
        self.redelivery.begin_one(arguments.event_id, arguments.what, settings)
        return Resent(resent=1)

    def make_dry_run(self, caller: Caller, arguments: EventArguments, page: Page) -> DryRun:
        """Count the deliveries that `resend` would send, with at most two aggregations a URL.

        Raises:
            CallError: `invalid-argument` where `page` is limited to a URL that the event has not.
        """
        check_event(caller, self.settings.event(arguments.event_id), arguments.tenant_id)
        settings = self.settings.load(arguments.event_id)
        matching = self._matching(page, settings)

        def count(selected: EndedWithin) -> int:
            return self.deliveries.count_ended(arguments.event_id, selected)

        def counted(endpoint: Subscription) -> Mapping[str, int]:
            there = replace(matching, endpoints=endpoint.names)
            in_all, obstacle = count(there), obstacle_at(endpoint)
            if obstacle:
                return {obstacle: in_all}
            of_tests = count(replace(there, tests_only=True)) if in_all else 0
            return {"": in_all - of_tests, "tests": of_tests}

        endpoints = [
            endpoint
            for endpoint in settings.subscriptions
            if matching.endpoints in ((), endpoint.names)
        ]
        left_alone = Counter(dict.fromkeys((*Obstacle, "tests"), 0))
        for at_url in self.in_parallel(counted, endpoints):
            left_alone.update(at_url)
        if not matching.endpoints:
            left_alone[Obstacle.REMOVED] = max(0, count(matching) - left_alone.total())
        return DryRun(matching=left_alone.pop("", 0), left_alone=left_alone)

    def rotate_secret(self, caller: Caller, arguments: RotateArguments) -> datetime:
        """Give the event a new webhook secret, at once or announced; when it begins to sign.

        Each attempt is signed with one secret. A new secret replaces an announced one. A process
        may sign with the old secret for `SECRET_KEPT` longer.
        """
        check_event(caller, self.settings.event(arguments.event_id), arguments.tenant_id)
        if not arguments.active_in:
            self.secrets.rotate(arguments.event_id, caller.record)
            log.warning("webhook.secret_rotated", eventId=arguments.event_id, uid=caller.uid)
            return self.clock.now()
        active_from = self.clock.now() + arguments.active_in
        self.secrets.announce(arguments.event_id, active_from, caller.record)
        log.warning(
            "webhook.secret_announced",
            eventId=arguments.event_id,
            uid=caller.uid,
            activeFrom=wire_time(active_from),
        )
        return active_from

    def withdraw_secret(self, caller: Caller, arguments: RotateArguments) -> bool:
        """End the announced secret before it signs; returns whether there was one."""
        check_event(caller, self.settings.event(arguments.event_id), arguments.tenant_id)
        withdrawn = self.secrets.withdraw(arguments.event_id)
        log.warning(
            "webhook.secret_withdrawn",
            eventId=arguments.event_id,
            uid=caller.uid,
            announced=withdrawn,
        )
        return withdrawn

    def _resend_page(self, event_id: str, page: Page, settings: WebhookSettings) -> Resent:
        matching = self._matching(page, settings)
        deliveries = self.deliveries.ended(event_id, matching, page.after, self.page)

        def begin(delivery: Delivery) -> bool:
            endpoint = settings.of(delivery.endpoint, delivery.url)
            if endpoint is None or obstacle_at(endpoint):
                return False
            return self.redelivery.begin(delivery, endpoint)

        resent = sum(self.in_parallel(begin, [entry for entry in deliveries if not entry.test]))
        is_full = len(deliveries) == self.page
        next_ = next_page(matching.until, deliveries[-1].end) if is_full else None
        return Resent(resent=resent, left_alone=len(deliveries) - resent, next=next_)

    def _matching(self, page: Page, settings: WebhookSettings) -> EndedWithin:
        # A delivery that fails again between two pages ends after `until`, and is in no page twice.
        now = self.clock.now()
        endpoints = () if page.url is None else endpoint_at(page.url, settings).names
        return replace(page, until=min(page.until, now), endpoints=endpoints)
