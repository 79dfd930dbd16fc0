"""What the schedule calls."""

from functions import log
from functions.webhooks.recovery import wiring


def sweep() -> None:
    """The schedule; the next sweep tries again."""
    try:
        wiring.recoverer().sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("recoveries.not-swept", error)
