"""The worlds by name."""

from collections.abc import Mapping
from typing import Final

from tests.simulation.endpoints.world import EndpointWorld
from tests.simulation.explore import MakeWorld
from tests.simulation.recap.world import RecapWorld
from tests.simulation.webhooks.world import WebhookWorld

WORLDS: Final[Mapping[str, MakeWorld]] = {
    "endpoints": EndpointWorld,
    "recap": RecapWorld,
    "webhooks": WebhookWorld,
}
