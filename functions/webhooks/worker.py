"""One attempt of a delivery (design 2): read the record, sign, POST, write the outcome.

A receiver's failure is the delivery's business: it is recorded, the next attempt is queued, and the
task has succeeded. Only our own failures make the task fail, and its queue brings it back.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

from functions import log
from functions.webhooks.deliveries import signature
from functions.webhooks.deliveries.attempt_task import AttemptRequest, TooEarlyError, attempt_task
from functions.webhooks.deliveries.delivery import Attempt, Delivery, Outcome
from functions.webhooks.endpoint_health import EndpointHealth
from functions.webhooks.endpoints.endpoint_url import EndpointUrl, host_of
from functions.webhooks.ports import (
    ChangedMeanwhileError,
    Deliveries,
    Secrets,
    Sender,
    SendError,
    StoredDelivery,
    TaskQueue,
)

USER_AGENT: Final = "Wall-Webhooks/1.0"

EARLY: Final = timedelta(seconds=0.5)
"""A task that comes no more than this too early is held back here; clocks differ by less."""


class Worker:
    """Makes attempts; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        deliveries: Deliveries,
        secrets: Secrets,
        sender: Sender,
        queue: TaskQueue,
        endpoint_health: EndpointHealth,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Put the parts together.

        Args:
            deliveries: The records.
            secrets: What is signed with.
            sender: What posts.
            queue: Where the next attempt's task goes.
            endpoint_health: Is told of what has failed for good.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
            sleep: Waits for some seconds.
        """
        self._deliveries = deliveries
        self._secrets = secrets
        self._sender = sender
        self._queue = queue
        self._endpoint_health = endpoint_health
        self._now = now
        self._monotonic = monotonic
        self._sleep = sleep

    def attempt(self, request: AttemptRequest) -> Delivery | None:
        """Make the attempt that is asked for, unless it has been made.

        Returns:
            The delivery as it stands then; None where there is none.

        Raises:
            TooEarlyError: it is not due yet.
            Exception: a fault of our own; asked again, the same attempt is made again.
        """
        stored = self._deliveries.load(request.event_id, request.delivery_id)
        if stored is None:
            log.warning("delivery.gone", deliveryId=request.delivery_id, eventId=request.event_id)
            return None
        delivery = stored.delivery
        if request.round != delivery.round:
            return delivery  # it was sent again meanwhile, and that round has tasks of its own
        if delivery.attempts < request.attempt and delivery.outcome.is_open:
            self._wait_until_due(delivery)
            delivery = self._save(stored, self._post(delivery))
            if delivery.outcome is Outcome.FAILED:
                self._endpoint_health.delivery_failed(delivery)
        if delivery.outcome.is_open:
            self._queue.enqueue(attempt_task(delivery))
        return delivery

    def _wait_until_due(self, delivery: Delivery) -> None:
        if delivery.next_attempt_at is None:
            return
        early = delivery.next_attempt_at - self._now()
        if early > EARLY:
            raise TooEarlyError
        if early > timedelta(0):
            self._sleep(early.total_seconds())

    def _post(self, delivery: Delivery) -> Attempt:
        body = delivery.body.encode()
        secret = self._secrets.of(delivery.event_id)
        at = self._now()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            signature.HEADER: signature.sign(secret, body, at=int(at.timestamp())),
            "Wall-Event-Type": delivery.event,
            # An id that is no token would end the header line; such an id is quoted.
            "Wall-Event-Id": quote(delivery.event_id),
            "Wall-Delivery-Id": delivery.id,
        }
        began = self._monotonic()
        status, error = None, None
        try:
            status = self._sender.post(EndpointUrl.parse(delivery.url), headers, body).status
        except SendError as failed:
            error = str(failed)
        return Attempt(
            number=delivery.due_attempt,
            at=at,
            status=status,
            milliseconds=round((self._monotonic() - began) * 1000),
            error=error,
            round=delivery.round,
        )

    def _save(self, stored: StoredDelivery, attempt: Attempt) -> Delivery:
        """Write what `attempt` came to; the delivery as it stands then."""
        done = stored.delivery.after(attempt)
        while True:
            try:
                self._deliveries.save(done, stored.version)
                break
            except ChangedMeanwhileError:
                # The same attempt was made twice at once, and the other one is on record. One is
                # enough, but an acknowledgement counts, whichever of the two got it.
                found = self._deliveries.load(done.event_id, done.id)
                if found is None:
                    break
                if not found.delivery.is_news(attempt):
                    done = found.delivery
                    break
                stored, done = found, found.delivery.after(attempt)
        _log(done, attempt)
        return done


def _log(delivery: Delivery, attempt: Attempt) -> None:
    log.info(
        "delivery.attempted",
        deliveryId=delivery.id,
        eventId=delivery.event_id,
        event=delivery.event,
        host=host_of(delivery.url),
        attempt=attempt.number,
        outcome=delivery.outcome,
        status=attempt.status,
        ms=attempt.milliseconds,
        error=attempt.error,
    )
    if delivery.outcome is Outcome.FAILED:
        log.error(
            "delivery.failed",
            deliveryId=delivery.id,
            eventId=delivery.event_id,
            event=delivery.event,
            host=host_of(delivery.url),
            attempts=delivery.attempts,
        )
