"""Notes that a delivery has failed, in the record of its endpoint."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.recent import Recent
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.endpoints.store import EndpointStore

_NOTED_AGAIN_SECONDS: Final = 60.0
"""How often a process notes the same endpoint: a dead receiver may fail many times a second."""

_REMEMBERED: Final = 10_000


class Failures:
    """Notes failures; one instance serves all threads of the process."""

    def __init__(
        self,
        endpoints: EndpointStore,
        *,
        tenant_of: Callable[[str], str],
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """Put the parts together.

        Args:
            endpoints: The records of endpoints that fail.
            tenant_of: Gives the tenant of an event.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
        """
        self._endpoints = endpoints
        self._tenant_of = tenant_of
        self._now = now
        self._noted: Recent[tuple[str, str], bool] = Recent(
            seconds=_NOTED_AGAIN_SECONDS, at_most=_REMEMBERED, monotonic=monotonic
        )

    def note(self, delivery: Delivery) -> None:
        """Note that `delivery` has ended `failed`; a test says nothing about an endpoint.

        At most once a minute for each endpoint: a read, and a write.
        """
        key = (delivery.event_id, delivery.endpoint)
        if delivery.test or self._noted.get(key):
            return
        self._noted.put(key, value=True)
        try:
            while not self._is_noted(delivery):
                pass
        except Exception:
            self._noted.put(key, value=False)  # the next call tries again
            raise

    def _is_noted(self, delivery: Delivery) -> bool:
        """Write the failure; False where the record has come or gone meanwhile."""
        now = self._now()
        found = self._endpoints.load(delivery.event_id, delivery.endpoint)
        try:
            if found:
                self._endpoints.note_failure(found.failed(now))
            else:
                self._endpoints.create(self._first(delivery, now))
        except (AlreadyRecordedError, ChangedMeanwhileError):
            return False
        return True

    def _first(self, delivery: Delivery, now: datetime) -> FailingEndpoint:
        return FailingEndpoint(
            event_id=delivery.event_id,
            id=delivery.endpoint,
            tenant_id=self._tenant_of(delivery.event_id),
            url=delivery.url,
            since=delivery.ended_at or now,
            failed_at=now,
            due_at=now,
        )
