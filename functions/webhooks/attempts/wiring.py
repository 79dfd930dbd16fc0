"""The worker and the sweeper, put together for this process on first use.

Each function imports its own parts: an instance that sweeps loads no sender.
"""

from typing import TYPE_CHECKING

from functions import parameters
from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.parallel import Threads
from functions.webhooks.attempts.sweeper import Sweeper
from functions.webhooks.deliveries import wiring as deliveries

if TYPE_CHECKING:
    from functions.webhooks.attempts.worker import Worker


@once
def worker() -> "Worker":
    """What the queues of attempts call."""
    from functions.webhooks.attempts.fast_receivers import FastReceivers
    from functions.webhooks.attempts.worker import Worker
    from functions.webhooks.deliveries.pace import Pace, slow_attempts_a_second
    from functions.webhooks.endpoints.failures import Failures
    from functions.webhooks.endpoints.store import EndpointStore
    from functions.webhooks.sender import wiring as senders
    from functions.webhooks.signing import wiring as signing

    instances, threads = parameters.DELIVERY_INSTANCES.value, parameters.THREADS.value
    a_second = slow_attempts_a_second(instances, threads)
    return Worker(
        deliveries=deliveries.store(),
        secrets=signing.secrets(),
        sender=senders.sender().post,
        tenant_of=deliveries.tenants().of,
        enqueue=deliveries.enqueue,
        slow_pace=Pace(a_second, CLOCK.monotonic, deliveries.tenants().of),
        failures=Failures(EndpointStore(documents()), deliveries.tenants().of, CLOCK),
        clock=CLOCK,
        fast_receivers=FastReceivers(CLOCK.monotonic, deliveries.tenants().of),
    )


@once
def sweeper() -> Sweeper:
    """What the schedule calls."""
    return Sweeper(
        deliveries=deliveries.store(),
        enqueue=deliveries.enqueue,
        in_parallel=Threads(deliveries.AT_ONCE, "sweep"),
        clock=CLOCK,
    )
