"""Use cases of organizers: test a URL, resend deliveries, and rotate the webhook secret.

The handler has already checked that the caller may act on the event (`webhook_calls.py`).
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from functions import log, ports
from functions.call.caller import Caller
from functions.firestore.model import AlreadyRecordedError
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Cursor, Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.redelivery import Redelivery, SkipReason, skip_reason_of
from functions.webhooks.events import EventType, sample
from functions.webhooks.signing import RememberedSecrets
from functions.webhooks.webhook_settings import SettingsStore, Subscription, WebhookSettings
from functions.webhooks.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Resent:
    """Result of one page: the number of resent and skipped deliveries.

    The next page starts after `next` and uses the same `until`. `next` is None after the last page.
    """

    resent: int
    left_alone: int
    until: datetime
    next: Cursor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTest:
    """Use case: send a test to a URL of an event."""

    settings: SettingsStore
    worker: Worker
    clock: ports.Clock
    random: ports.Random

    def send_test(
        self, event_id: str, url: str, event_type: EventType = EventType.PHOTO_UPLOADED
    ) -> Delivery:
        """Deliver a sample message to a URL of the event and return it after the first attempt.

        The URL does not need to subscribe to that type and may be disabled, because the test shows
        whether the receiver works (spec 4.6). A failed test is retried like any other delivery.

        Raises:
            CallError: `invalid-argument` if the event has no such URL.
        """
        now = self.clock.now()
        endpoint = self.settings.load(event_id).require(url)
        delivery = Delivery.create(
            cause=f"test {self.random.new_id()}",
            event_id=event_id,
            event_type=event_type,
            url=url,
            endpoint=endpoint.id,
            data=sample(event_type, now),
            now=now,
            test=True,
        )
        with suppress(AlreadyRecordedError):  # by this call if its response was lost
            self.worker.deliveries.create(event_id, [delivery])
        if delivery.outcome is Outcome.SKIPPED:
            return delivery
        request = AttemptRequest(event_id, delivery.id, delivery.due_attempt)
        return self.worker.attempt(request) or delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """Use cases: resend deliveries of an event and replace its webhook secret."""

    settings: SettingsStore
    secrets: RememberedSecrets
    redelivery: Redelivery
    in_parallel: ports.ParallelMap
    clock: ports.Clock
    page: int
    """Number of deliveries that one call reads."""

    def resend(self, event_id: str, delivery_id: str) -> None:
        """Resend one delivery.

        Raises:
            CallError: See `Redelivery.resend_one`.
        """
        read_at = self.clock.now()
        settings = self.settings.load(event_id)
        self.redelivery.resend_one(event_id, delivery_id, settings, read_at=read_at)

    def resend_page(
        self,
        event_id: str,
        selected: EndedWithin,
        url: str | None = None,
        after: Cursor | None = None,
    ) -> Resent:
        """Resend a page of deliveries, except tests and deliveries that cannot be resent.

        Args:
            event_id: ID of the event.
            selected: Deliveries to resend.
            url: Select only deliveries to this URL.
            after: Cursor after which the page starts.

        Raises:
            CallError: `invalid-argument` if the event has no such URL.
        """
        read_at = self.clock.now()
        settings = self.settings.load(event_id)
        matching = self._matching(selected, url, settings)
        deliveries = self.redelivery.deliveries.ended(event_id, matching, after, self.page)

        def begin(delivery: Delivery) -> bool:
            endpoint = settings.of(delivery.endpoint, delivery.url)
            if endpoint is None or skip_reason_of(endpoint):
                return False
            return self.redelivery.begin(delivery, endpoint, read_at)

        resent = sum(self.in_parallel(begin, [entry for entry in deliveries if not entry.test]))
        is_full = len(deliveries) == self.page
        return Resent(
            resent=resent,
            left_alone=len(deliveries) - resent,
            until=matching.until,
            next=deliveries[-1].cursor if is_full else None,
        )

    def make_dry_run(
        self, event_id: str, selected: EndedWithin, url: str | None
    ) -> tuple[int, Mapping[str, int]]:
        """Count the deliveries that `resend_page` would resend, and the others by reason.

        The reasons are the values of `SkipReason`, and `tests` for tests that went to other URLs.
        The call runs at most two aggregation queries per URL.

        Raises:
            CallError: `invalid-argument` if the event has no such URL.
        """
        settings = self.settings.load(event_id)
        matching = self._matching(selected, url, settings)

        def count(deliveries: EndedWithin) -> int:
            return self.redelivery.deliveries.count_ended(event_id, deliveries)

        def counted(endpoint: Subscription) -> Mapping[str, int]:
            there = replace(matching, endpoints=endpoint.names)
            in_all, obstacle = count(there), skip_reason_of(endpoint)
            if obstacle:
                return {obstacle: in_all}
            of_tests = count(replace(there, tests_only=True)) if in_all else 0
            return {"": in_all - of_tests, "tests": of_tests}

        endpoints = [
            endpoint
            for endpoint in settings.subscriptions
            if matching.endpoints in ((), endpoint.names)
        ]
        left_alone = Counter(dict.fromkeys((*SkipReason, "tests"), 0))
        for at_url in self.in_parallel(counted, endpoints):
            left_alone.update(at_url)
        if not matching.endpoints:
            left_alone[SkipReason.REMOVED] = max(0, count(matching) - left_alone.total())
        return left_alone.pop("", 0), left_alone

    def rotate_secret(
        self, event_id: str, caller: Caller, active_in: timedelta = timedelta(0)
    ) -> datetime:
        """Rotate the event's webhook secret, now or after `active_in`.

        Each attempt is signed with one secret. A new secret replaces an announced secret. A process
        may sign with the old secret for `SECRET_KEPT` longer.

        Returns:
            The time at which the new secret becomes active.
        """
        active_from = self.clock.now() + active_in
        if active_in:
            self.secrets.announce(event_id, active_from, caller.record)
            log.warning(
                "webhook.secret_announced",
                eventId=event_id,
                uid=caller.uid,
                activeFrom=ports.wire_time(active_from),
            )
        else:
            self.secrets.rotate(event_id, caller.record)
            log.warning("webhook.secret_rotated", eventId=event_id, uid=caller.uid)
        return active_from

    def withdraw_secret(self, event_id: str, caller: Caller) -> bool:
        """Withdraw the announced secret before it is active, and return whether there was one."""
        withdrawn = self.secrets.withdraw(event_id)
        log.warning(
            "webhook.secret_withdrawn", eventId=event_id, uid=caller.uid, announced=withdrawn
        )
        return withdrawn

    def _matching(
        self, selected: EndedWithin, url: str | None, settings: WebhookSettings
    ) -> EndedWithin:
        # A delivery that fails again between two pages ends after `until`, so no page repeats it.
        until = min(selected.until, self.clock.now())
        endpoints = () if url is None else settings.require(url).names
        return replace(selected, until=until, endpoints=endpoints)
