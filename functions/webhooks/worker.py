"""One attempt of a delivery (design 2): read the record, sign, POST, write the outcome.

A receiver's failure belongs to the delivery: the worker records it and queues the next attempt, and
the task succeeds. Only the service's own faults make the task fail, and its queue brings it back.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Protocol
from urllib.parse import quote

from functions import log
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock, NotDueError, TaskQueue
from functions.webhooks.deliveries.delivery import (
    Attempt,
    AttemptRequest,
    Delivery,
    Outcome,
    attempt_task,
)
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError
from functions.webhooks.deliveries.fair_pace import Pace, Tenants
from functions.webhooks.deliveries.receiver_speed import FastReceivers
from functions.webhooks.endpoints.failures import Failures
from functions.webhooks.signing import SIGNATURE_HEADER, RememberedSecrets, sign, standard_headers
from functions.webhooks.webhook_settings import (
    REMOVED,
    UNSUBSCRIBED,
    RememberedSettings,
    Subscription,
)

TEST_HEADER: Final = "Wall-Test"
"""Every attempt of a test has the header, and no other attempt (spec 6.2)."""

USER_AGENT: Final = "Wall-Webhooks/1.0"

SUSPICIOUS_AFTER: Final = 3
"""Failed dispatches after which an attempt is recorded as started before it is made."""

BEGUN_AT_MOST: Final = 3
"""How often an attempt may be recorded as started and not end: then it counts as failed.

An outage of Firestore does not count: a worker that can write the beginning can mostly write the
end."""

HOST_LIMIT_WAIT: Final = timedelta(seconds=1)
"""The wait of a delivery whose event has as many POSTs under way to the host as it may."""

EARLY: Final = timedelta(seconds=0.5)
"""A task that comes at most this early is held back here; clocks differ by less."""


@dataclass(frozen=True, slots=True)
class Source:
    """Whose POST it is."""

    tenant_id: str
    event_id: str


class SendError(Exception):
    """No HTTP status came back; the message says why, for the delivery's log.

    Where the cause is a `SendError` as well, it says more, for the service's own log alone.
    """


@dataclass(frozen=True, slots=True)
class Response:
    """The receiver's answer: its HTTP status, which alone decides anything.

    `excerpt` is the beginning of the body of an answer that acknowledges nothing, for people.
    """

    status: int
    excerpt: str | None = None


class HostLimitError(Exception):
    """The event or its tenant has as many POSTs under way there as it may; nothing was sent."""


class Sender(Protocol):
    """Posts to receivers; one instance serves all threads."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes, source: Source) -> Response:
        """POST `body` once, and wait at most five seconds for the answer's head.

        Raises:
            HostLimitError: the POST has to come later.
            SendError: no HTTP status came back in time, or nothing may be sent there.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Makes attempts; one instance serves all threads of the process."""

    deliveries: DeliveryStore
    secrets: RememberedSecrets
    settings: RememberedSettings
    sender: Sender
    tenants: Tenants
    task_queue: TaskQueue
    slow_pace: Pace
    failures: Failures
    clock: Clock
    fast_receivers: FastReceivers

    def attempt(self, request: AttemptRequest) -> Delivery | None:
        """The delivery after the attempt, unless it was made before; None where it is gone.

        Raises:
            NotDueError: the attempt is not due yet.
            Exception: a fault of the service; the same request makes the same attempt.
        """
        delivery = self.deliveries.load(request.event_id, request.delivery_id)
        if delivery is None:
            log.warning("delivery.gone", deliveryId=request.delivery_id, eventId=request.event_id)
            return None
        if request.round != delivery.round:
            return delivery  # a later round has begun, and has tasks of its own
        is_here = request.slow or not delivery.slow  # else its task is on the slow queue
        if is_here and delivery.attempts < request.attempt and delivery.outcome.is_open:
            self._source_and_secret(delivery)  # the receiver's time holds no wait for Firestore
            if self._belongs_on_slow_queue(request, delivery):
                delivery = self._moved_to_slow_queue(delivery)
            else:
                self._wait_until_due(delivery)
                delivery = self._make_where_wanted(request, delivery)
        if delivery.outcome is Outcome.FAILED:  # perhaps in a process that ended here
            self.failures.note(delivery)
        if delivery.outcome.is_open:
            self.task_queue.enqueue(attempt_task(delivery))
        return delivery

    def _make_where_wanted(self, request: AttemptRequest, delivery: Delivery) -> Delivery:
        """Make the attempt at the endpoint's present URL, or skip the delivery (spec 3.4).

        Raises:
            ChangedMeanwhileError: the delivery has changed otherwise; a repeated task finds it.
            UnreadableSettingsError: the settings are malformed; a repeated task reads them again.
        """
        now = self.clock.now()
        if delivery.needs_settings(now):
            endpoint = self.settings.of(delivery.event_id).of(delivery.endpoint, delivery.url)
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
        return self._make(request, delivery)

    def _belongs_on_slow_queue(self, request: AttemptRequest, delivery: Delivery) -> bool:
        if request.slow or delivery.test:
            return False
        return self.fast_receivers.has_to_wait(delivery.event_id, delivery.url)

    def _moved_to_slow_queue(
        self, delivery: Delivery, at_least: timedelta = timedelta(0)
    ) -> Delivery:
        """Record that the delivery waits on the slow queue, `at_least` that long, and return it.

        A delivery that waits there already keeps its place: it is not paced again. A task that is
        repeated follows the record to the slow queue.

        Raises:
            ChangedMeanwhileError: an attempt was made meanwhile; a repeated task finds it.
        """
        moved = replace(delivery, slow=True).due_after(self.clock.now() + at_least)
        if not delivery.slow:
            moved = self._paced(moved)
        try:
            self.deliveries.save(moved)
        except ChangedMeanwhileError:  # by a repetition of the task, or by this save
            if not delivery.slow:
                self.slow_pace.take_back(moved.event_id)
            found = self.deliveries.load(moved.event_id, moved.id)
            if found is None or not found.slow:
                raise
            return found
        return moved

    def _paced(self, delivery: Delivery) -> Delivery:
        """The delivery; an attempt at a slow receiver is due when the slow pace says."""
        if not delivery.slow:
            return delivery
        return delivery.due_after(self.clock.now() + self.slow_pace.wait(delivery.event_id))

    def _make(self, request: AttemptRequest, delivery: Delivery) -> Delivery:
        """Make the attempt, or give it up if it has ended every instance that made it.

        Where it has to come later, it has not begun.
        """
        begun = delivery.begun
        if request.dispatched_before >= SUSPICIOUS_AFTER:
            if delivery.begun >= BEGUN_AT_MOST:
                return self._save(delivery, self._given_up(delivery))
            begins = replace(delivery, begun=delivery.begun + 1)
            delivery = self._recorded(begins, self.deliveries.save)
        try:
            with self.fast_receivers.under_way(delivery.event_id, delivery.url):
                attempt = self._post(delivery)
        except HostLimitError:
            return self._moved_to_slow_queue(replace(delivery, begun=begun), HOST_LIMIT_WAIT)
        return self._save(delivery, attempt)

    def _recorded(self, changed: Delivery, save: Callable[[Delivery], None]) -> Delivery:
        """Record what has changed before the attempt, and return the delivery as it was read back.

        Raises:
            ChangedMeanwhileError: the delivery has changed otherwise; a repeated task finds it.
        """
        with suppress(ChangedMeanwhileError):  # perhaps by this save, whose answer was lost
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
            error=f"the attempt was begun {delivery.begun} times and never came to its end",
            round=delivery.round,
        )

    def _wait_until_due(self, delivery: Delivery) -> None:
        if delivery.next_attempt_at is None:
            return
        early = delivery.next_attempt_at - self.clock.now()
        if early > EARLY:
            raise NotDueError
        if early > timedelta(0):
            self.clock.sleep(early.total_seconds())

    def _source_and_secret(self, delivery: Delivery) -> tuple[Source, str]:
        """What the POST needs of the event; read once, and then remembered for a minute."""
        event_id = delivery.event_id
        return Source(self.tenants.of(event_id), event_id), self.secrets.of(event_id)

    def _post(self, delivery: Delivery) -> Attempt:
        body = delivery.body.encode()
        source, secret = self._source_and_secret(delivery)
        # Before `at`, to which its duration is added: no retry is due before its wait is over.
        began = self.clock.monotonic()
        at = self.clock.now()
        seconds = int(at.timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            SIGNATURE_HEADER: sign(secret, body, at=seconds),
            "Wall-Event-Type": delivery.event_type,
            # An id that is no token would end the header line; such an id is quoted.
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
        """Write the result of `attempt`; the delivery as it stands afterwards."""
        lag = attempt.at - delivery.due_since
        done = self._paced(delivery.after(attempt))
        while True:
            try:
                self.deliveries.save(done)
                break
            except ChangedMeanwhileError:
                # The same attempt was made twice at once, and the other result is recorded. It
                # stays, unless this attempt was acknowledged and the other was not.
                found = self.deliveries.load(done.event_id, done.id)
                if found is None:
                    break
                if not found.is_news(attempt, done.url):
                    done = found
                    break
                done = self._paced(found.after(attempt))
        _log(done, attempt, lag)
        return done


def _reason_to_skip(delivery: Delivery, endpoint: Subscription | None) -> str | None:
    """Return why nothing more is sent, or None.

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
