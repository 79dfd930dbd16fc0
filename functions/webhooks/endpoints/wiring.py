"""The sweep over the endpoints that fail, put together for this process on first use."""

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.parallel import Threads
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.endpoints.store import EndpointStore
from functions.webhooks.endpoints.sweep import EndpointSweep
from functions.webhooks.settings.store import SettingsStore


@once
def endpoint_sweep() -> EndpointSweep:
    """What the schedule calls."""
    return EndpointSweep(
        endpoints=EndpointStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        redelivery=deliveries.redelivery(),
        enqueue=deliveries.enqueue,
        in_parallel=Threads(deliveries.AT_ONCE, "endpoints"),
        clock=CLOCK,
    )
