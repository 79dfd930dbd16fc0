"""Notes that a delivery has failed, in the record of its endpoint."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from functions.clock import Clock
from functions.firestore.model import AlreadyRecordedError, ChangedMeanwhileError
from functions.recent import Recent
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.endpoints.store import EndpointStore

_NOTED_AGAIN: Final = timedelta(minutes=1)
"""How often a process notes the same endpoint: a dead receiver may fail many times a second."""


@dataclass
class Failures:
    """Notes failures; one instance serves all threads of the process."""

    endpoints: EndpointStore
    tenant_of: Callable[[str], str]
    clock: Clock
    _noted: Recent[tuple[str, str], bool] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is noted yet."""
        seconds = _NOTED_AGAIN.total_seconds()
        self._noted = Recent(seconds=seconds, monotonic=self.clock.monotonic)

    def note(self, delivery: Delivery) -> None:
        """Note that `delivery` has ended `failed`; a test says nothing about an endpoint.

        Once it is written, it is written again after a minute, for each endpoint.
        """
        key, began = (delivery.event_id, delivery.endpoint), self.clock.monotonic()
        if delivery.test or self._noted.get(key):
            return
        while not self._is_noted(delivery):
            pass
        self._noted.put(key, value=True, since=began)

    def _is_noted(self, delivery: Delivery) -> bool:
        """Write the failure; False where the record has come or gone meanwhile."""
        now = self.clock.now()
        with suppress(AlreadyRecordedError, ChangedMeanwhileError):
            if self.endpoints.note_failure(delivery.event_id, delivery.endpoint, now):
                return True
            self.endpoints.create(
                FailingEndpoint(
                    event_id=delivery.event_id,
                    id=delivery.endpoint,
                    tenant_id=self.tenant_of(delivery.event_id),
                    url=delivery.url,
                    # Other instances may note earlier failures later.
                    since=(delivery.ended_at or now) - _NOTED_AGAIN,
                    failed_at=now,
                    due_at=now,
                )
            )
            return True
        return False
