"""What the schedule calls."""

from functions import log
from functions.webhooks.endpoints import wiring


def sweep() -> None:
    """The schedule; the next sweep tries again."""
    try:
        wiring.endpoint_sweep().sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("endpoints.not-swept", error)
