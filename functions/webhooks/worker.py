"""One attempt of a delivery (design 2): read the record, sign and send the body, write the outcome.

If the receiver fails, the worker records the failure, enqueues the next attempt, and the task
succeeds. Only internal errors fail the task, and its queue retries it.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Protocol
from urllib.parse import quote

from functions import log, ports
from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import SETTINGS_KEPT, Attempt, Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError
from functions.webhooks.deliveries.fair_queue import FairQueue, Tenants
from functions.webhooks.deliveries.receiver_speed import FastReceivers
from functions.webhooks.endpoints.endpoint_store import EndpointStore, Failures
from functions.webhooks.signing import SIGNATURE_HEADER, RememberedSecrets, sign, standard_headers
from functions.webhooks.webhook_settings import (
    REMOVED,
    UNSUBSCRIBED,
    RememberedSettings,
    SettingsStore,
    Subscription,
)

TEST_HEADER: Final = "Wall-Test"
"""Header of every attempt of a test, and of no other attempt (spec 6.2)."""

USER_AGENT: Final = "Wall-Webhooks/1.0"

SUSPICIOUS_AFTER: Final = 3
"""Failed dispatches after which an attempt is recorded as started before the request."""

BEGUN_AT_MOST: Final = 3
"""Number of starts without an end after which an attempt counts as failed.

Outages of Firestore rarely count, because recording the start is a write as well."""

HOST_LIMIT_WAIT: Final = timedelta(seconds=1)
"""Delay of a delivery if its event or tenant has reached the host's concurrency limit."""

EARLY: Final = timedelta(seconds=0.5)
"""A task that comes at most this early waits in the worker. Clocks differ by less."""


@dataclass(frozen=True, slots=True)
class Source:
    """Tenant and event of a request."""

    tenant_id: str
    event_id: str


class SendError(Exception):
    """The request got no HTTP status. The message is the reason for the delivery's log.

    If the cause is also a `SendError`, its message has details only for the service's own log.
    """


@dataclass(frozen=True, slots=True)
class Response:
    """The receiver's response. Decisions depend only on the HTTP status.

    `excerpt` is the beginning of the body, for organizers, unless the status is 2xx.
    """

    status: int
    excerpt: str | None = None


class HostLimitError(Exception):
    """The event or its tenant has reached the host's concurrency limit. No request was sent."""


class Sender(Protocol):
    """Port: HTTP client for receivers. Shared by all threads."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes, source: Source) -> Response:
        """POST `body` once and wait at most five seconds for the response headers.

        Raises:
            HostLimitError: The host's concurrency limit is reached.
            SendError: The response did not arrive in time, or the URL is not allowed.
        """


@dataclass(eq=False, slots=True, kw_only=True)
class Worker:
    """Use case: run an attempt. Shared by all threads of the process."""

    deliveries: DeliveryStore
    secrets: RememberedSecrets
    settings: SettingsStore
    settings_kept: timedelta = SETTINGS_KEPT
    sender: Sender
    tenants: Tenants
    task_queue: ports.TaskQueue
    slow_fair_queue: FairQueue
    endpoints: EndpointStore
    clock: ports.Clock
    failures: Failures = field(init=False)
    _settings: RememberedSettings = field(init=False)
    _fast_receivers: FastReceivers = field(init=False)

    def __post_init__(self) -> None:
        """Create what the worker remembers: settings, failing endpoints and fast receivers."""
        self.failures = Failures(self.endpoints, self.tenants, self.clock)
        self._settings = RememberedSettings(self.settings, self.clock, self.settings_kept)
        self._fast_receivers = FastReceivers(self.clock, self.tenants)

    def attempt(self, request: AttemptRequest) -> Delivery | None:
        """Run the attempt, unless it has already run, and return the delivery.

        Returns:
            The current record of the delivery, or None if it does not exist.

        Raises:
            NotDueError: The attempt is not due yet.
            Exception: An internal error. The request can be repeated.
        """
        delivery = self.deliveries.load(request.event_id, request.delivery_id)
        if delivery is None:
            log.warning("delivery.gone", deliveryId=request.delivery_id, eventId=request.event_id)
            return None
        if request.round != delivery.round:
            return delivery  # a later round has started and has its own tasks
        # A delivery that was moved to the slow queue has another task there.
        is_on_this_queue = request.slow or not delivery.slow
        if is_on_this_queue and delivery.attempts < request.attempt and delivery.outcome.is_open:
            self._source_and_secret(delivery)  # fill the caches, so that `ms` excludes Firestore
            if self._belongs_on_slow_queue(request, delivery):
                delivery = self._moved_to_slow_queue(delivery)
            else:
                self._wait_until_due(delivery)
                delivery = self._run_at_current_url(request, delivery)
        if delivery.outcome is Outcome.FAILED:  # perhaps in a process that crashed before this line
            self.failures.note(delivery)
        if delivery.outcome.is_open:
            self.task_queue.enqueue(attempt_task(delivery))
        return delivery

    def _run_at_current_url(self, request: AttemptRequest, delivery: Delivery) -> Delivery:
        """Run the attempt at the endpoint's current URL, or skip the delivery (spec 3.4).

        Raises:
            ChangedMeanwhileError: The delivery has changed. The retried task reads it again.
            UnreadableSettingsError: The settings are malformed. The retried task reads them again.
        """
        now = self.clock.now()
        if delivery.needs_settings(now):
            endpoint = self._settings.of(delivery.event_id).of(delivery.endpoint, delivery.url)
            if reason := _reason_to_skip(delivery, endpoint):
                skipped = self._recorded(delivery.skipped(reason, now), self.deliveries.save)
                log.warning(
                    "delivery.skipped",
                    deliveryId=skipped.id,
                    eventId=skipped.event_id,
                    event=skipped.event_type,
                    host=skipped.host,
                    reason=skipped.reason,
                )
                return skipped
            if endpoint and endpoint.url != delivery.url:
                moved = delivery.moved_to(endpoint.url)
                delivery = self._recorded(moved, self.deliveries.move)
                if self._belongs_on_slow_queue(request, delivery):
                    return self._moved_to_slow_queue(delivery)
        return self._run_or_give_up(request, delivery)

    def _belongs_on_slow_queue(self, request: AttemptRequest, delivery: Delivery) -> bool:
        if request.slow or delivery.test:
            return False
        return self._fast_receivers.belongs_on_slow_queue(delivery.event_id, delivery.url)

    def _moved_to_slow_queue(
        self, delivery: Delivery, at_least: timedelta = timedelta(0)
    ) -> Delivery:
        """Move the delivery to the slow queue for at least `at_least`, and return its record.

        The fair queue of the slow queue postpones a delivery only once. A retried task follows the
        record to the slow queue.

        Raises:
            ChangedMeanwhileError: An attempt has run. The retried task reads the delivery again.
        """
        moved = replace(delivery, slow=True).due_after(self.clock.now() + at_least)
        if not delivery.slow:
            moved = self._postponed(moved)
        try:
            self.deliveries.save(moved)
        except ChangedMeanwhileError:  # by a retry of the task, or by this save
            if not delivery.slow:
                self.slow_fair_queue.undo(moved.event_id)
            found = self.deliveries.load(moved.event_id, moved.id)
            if found is None or not found.slow:
                raise
            return found
        return moved

    def _postponed(self, delivery: Delivery) -> Delivery:
        """Return the delivery, postponed by the fair queue if it is on the slow queue."""
        if not delivery.slow:
            return delivery
        return delivery.due_after(
            self.clock.now() + self.slow_fair_queue.delay_for(delivery.event_id)
        )

    def _run_or_give_up(self, request: AttemptRequest, delivery: Delivery) -> Delivery:
        """Run the attempt, or fail it if every instance that ran it crashed.

        An attempt that is postponed does not count as started.
        """
        begun = delivery.begun
        if request.dispatched_before >= SUSPICIOUS_AFTER:
            if delivery.begun >= BEGUN_AT_MOST:
                return self._save(delivery, self._given_up(delivery))
            begins = replace(delivery, begun=delivery.begun + 1)
            delivery = self._recorded(begins, self.deliveries.save)
        try:
            with self._fast_receivers.track(delivery.event_id, delivery.url):
                attempt = self._post(delivery)
        except HostLimitError:
            return self._moved_to_slow_queue(replace(delivery, begun=begun), HOST_LIMIT_WAIT)
        return self._save(delivery, attempt)

    def _recorded(self, changed: Delivery, save: Callable[[Delivery], None]) -> Delivery:
        """Save a change before the attempt, and return the record as read back.

        Raises:
            ChangedMeanwhileError: The delivery has another change. The retried task reads it again.
        """
        with suppress(ChangedMeanwhileError):  # perhaps by this save if its response was lost
            save(changed)
        found = self.deliveries.load(changed.event_id, changed.id)
        if found is None or found != changed:
            raise ChangedMeanwhileError
        return found

    def _given_up(self, delivery: Delivery) -> Attempt:
        log.error(
            "delivery.given-up",
            deliveryId=delivery.id,
            eventId=delivery.event_id,
            host=delivery.host,
            begun=delivery.begun,
        )
        return Attempt(
            number=delivery.due_attempt,
            at=self.clock.now(),
            status=None,
            milliseconds=0,
            error=f"the attempt started {delivery.begun} times but never finished",
            round=delivery.round,
        )

    def _wait_until_due(self, delivery: Delivery) -> None:
        if delivery.next_attempt_at is None:
            return
        early = delivery.next_attempt_at - self.clock.now()
        if early > EARLY:
            raise ports.NotDueError
        if early > timedelta(0):
            self.clock.sleep(early.total_seconds())

    def _source_and_secret(self, delivery: Delivery) -> tuple[Source, str]:
        """Return the tenant, event and secret for the request. All are cached."""
        event_id = delivery.event_id
        return Source(self.tenants.of(event_id), event_id), self.secrets.of(event_id)

    def _post(self, delivery: Delivery) -> Attempt:
        body = delivery.body.encode()
        source, secret = self._source_and_secret(delivery)
        # Measured before `at`, to which the duration is added, so that no retry is due too early.
        began = self.clock.monotonic()
        at = self.clock.now()
        seconds = int(at.timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            SIGNATURE_HEADER: sign(secret, body, at=seconds),
            "Wall-Event-Type": delivery.event_type,
            # Percent-encoded, because an ID may contain characters that end the header.
            "Wall-Event-Id": quote(delivery.event_id),
            "Wall-Delivery-Id": delivery.id,
            **standard_headers(secret, delivery.id, body, at=seconds),
        }
        if delivery.test:
            headers[TEST_HEADER] = "true"
        status, error, excerpt = None, None, None
        try:
            response = self.sender.post(delivery.url, headers, body, source)
            status, excerpt = response.status, response.excerpt
        except SendError as failed:
            error = str(failed)
            if isinstance(cause := failed.__cause__, SendError):
                log.info("delivery.unreached", deliveryId=delivery.id, reason=str(cause))
        return Attempt(
            number=delivery.due_attempt,
            at=at,
            status=status,
            milliseconds=round((self.clock.monotonic() - began) * 1000),
            error=error,
            round=delivery.round,
            answer=excerpt,
        )

    def _save(self, delivery: Delivery, attempt: Attempt) -> Delivery:
        """Write the result of `attempt` and return the record of the delivery."""
        lag = attempt.at - delivery.lag_from
        done = self._postponed(delivery.with_attempt(attempt))
        while True:
            try:
                self.deliveries.save(done)
                break
            except ChangedMeanwhileError:
                # The same attempt ran twice concurrently, and the other result is recorded. It
                # stays unless only this attempt was acknowledged.
                found = self.deliveries.load(done.event_id, done.id)
                if found is None:
                    break
                if not found.overrides_result(attempt, done.url):
                    done = found
                    break
                done = self._postponed(found.with_attempt(attempt))
        _log(done, attempt, lag)
        return done


def _reason_to_skip(delivery: Delivery, endpoint: Subscription | None) -> str | None:
    """Return why the delivery ends as skipped, or None.

    A test checks only whether the endpoint was removed, and a redelivery ignores the subscription.
    """
    if endpoint is None:
        return REMOVED
    if endpoint.disabled and not delivery.test:
        return endpoint.disabled
    is_repeated = delivery.test or delivery.round
    if delivery.event_type not in endpoint.event_types and not is_repeated:
        return UNSUBSCRIBED
    try:
        EndpointUrl.parse(endpoint.url)
    except UnusableUrlError as unusable:
        return str(unusable)
    return None


def _log(delivery: Delivery, attempt: Attempt, lag: timedelta) -> None:
    log.info(
        "delivery.attempted",
        deliveryId=delivery.id,
        eventId=delivery.event_id,
        event=delivery.event_type,
        host=delivery.host,
        attempt=attempt.number,
        outcome=delivery.outcome,
        status=attempt.status,
        ms=attempt.milliseconds,
        lagMs=max(0, lag // timedelta(milliseconds=1)),
        error=attempt.error,
    )
    if delivery.outcome is Outcome.FAILED:
        log.error(
            "delivery.failed",
            deliveryId=delivery.id,
            eventId=delivery.event_id,
            event=delivery.event_type,
            host=delivery.host,
            attempts=delivery.attempts,
        )
