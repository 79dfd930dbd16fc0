"""Failures of endpoints, as the worker records them."""

from contextlib import suppress
from dataclasses import dataclass, field

from functions.cache import Recent
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.fair_pace import Tenants
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import NOTED_AGAIN, FailingEndpoint


@dataclass
class Failures:
    """Notes failures; one instance serves all threads of the process."""

    endpoints: EndpointStore
    tenants: Tenants
    clock: Clock
    _noted: Recent[tuple[str, str], bool] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is noted yet."""
        seconds = NOTED_AGAIN.total_seconds()
        self._noted = Recent(self.clock, seconds=seconds)

    def note(self, delivery: Delivery) -> None:
        """Note that `delivery` has ended `failed`; a test says nothing about an endpoint.

        Once it is written, it is written again after a minute, for each endpoint.
        """
        key, began = (delivery.event_id, delivery.endpoint), self.clock.monotonic()
        if delivery.test or self._noted.get(key):
            return
        now = self.clock.now()
        record = FailingEndpoint(
            event_id=delivery.event_id,
            id=delivery.endpoint,
            tenant_id=self.tenants.of(delivery.event_id),
            url=delivery.url,
            # Other instances may note earlier failures later.
            since=(delivery.ended_at or now) - NOTED_AGAIN,
            failed_at=now,
            due_at=now,
        )
        while True:
            with suppress(ChangedMeanwhileError):
                self.endpoints.note_failure(record)
                break
        self._noted.put(key, value=True, since=began)
