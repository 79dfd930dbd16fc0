"""Notes that a delivery has failed, in the record of its endpoint."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from functions.clock import Clock
from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.recent import Recent
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.endpoints.store import EndpointStore

_NOTED_AGAIN_SECONDS: Final = 60.0
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
        self._noted = Recent(seconds=_NOTED_AGAIN_SECONDS, monotonic=self.clock.monotonic)

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
        now = self.clock.now()
        found = self.endpoints.load(delivery.event_id, delivery.endpoint)
        try:
            if found:
                self.endpoints.note_failure(found.failed(now))
                return True
            self.endpoints.create(
                FailingEndpoint(
                    event_id=delivery.event_id,
                    id=delivery.endpoint,
                    tenant_id=self.tenant_of(delivery.event_id),
                    url=delivery.url,
                    since=delivery.ended_at or now,
                    failed_at=now,
                    due_at=now,
                )
            )
        except (AlreadyRecordedError, ChangedMeanwhileError):
            return False
        return True
