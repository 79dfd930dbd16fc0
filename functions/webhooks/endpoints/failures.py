"""Recording of failed deliveries per endpoint."""

from contextlib import suppress
from dataclasses import dataclass, field

from functions.cache import TtlCache
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.fair_queue import Tenants
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import NOTED_AGAIN, FailingEndpoint


@dataclass
class Failures:
    """Use case: record failures of endpoints. Shared by all threads of the process."""

    endpoints: EndpointStore
    tenants: Tenants
    clock: Clock
    _noted: TtlCache[tuple[str, str], bool] = field(init=False)

    def __post_init__(self) -> None:
        """Create an empty cache of recorded failures."""
        seconds = NOTED_AGAIN.total_seconds()
        self._noted = TtlCache(self.clock, seconds=seconds)

    def note(self, delivery: Delivery) -> None:
        """Record that `delivery` has ended as `failed`, unless it is a test.

        Each endpoint has at most one write per minute.
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
            # Other instances may record earlier failures later.
            since=(delivery.ended_at or now) - NOTED_AGAIN,
            failed_at=now,
            due_at=now,
        )
        while True:
            with suppress(ChangedMeanwhileError):
                self.endpoints.note_failure(record)
                break
        self._noted.put(key, value=True, since=began)
