"""The publisher, put together for this process on first use."""

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.parallel import HelpedThreads
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.milestones import Milestones
from functions.webhooks.publisher import Publisher
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.signing import wiring as signing
from functions.webhooks.store import WallStore


@once
def publisher() -> Publisher:
    """What the triggers call."""
    return Publisher(
        wall=WallStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        secrets=signing.secrets(),
        enqueue=deliveries.enqueue,
        pace=deliveries.pace(),
        in_parallel=HelpedThreads(deliveries.AT_ONCE, "enqueue"),
        clock=CLOCK,
        milestones=Milestones(WallStore(documents()), CLOCK.monotonic),
    )
