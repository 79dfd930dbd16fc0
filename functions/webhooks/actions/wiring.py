"""The organizers' actions, put together for this process on first use."""

import uuid

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.parallel import Threads
from functions.webhooks.actions.actions import Actions
from functions.webhooks.attempts import wiring as attempts
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.signing import wiring as signing
from functions.webhooks.store import WallStore


@once
def actions() -> Actions:
    """What an organizer calls."""
    return Actions(
        wall=WallStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        secrets=signing.secrets(),
        redelivery=deliveries.redelivery(),
        attempt=_attempt,
        in_parallel=Threads(deliveries.AT_ONCE, "resend"),
        clock=CLOCK,
        new_id=lambda: str(uuid.uuid4()),
    )


def _attempt(request: AttemptRequest) -> Delivery | None:
    """Only a test makes the worker: its sender loads the authorities that it trusts."""
    return attempts.worker().attempt(request)
