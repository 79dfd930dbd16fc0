"""What the schedule calls."""

from typing import TYPE_CHECKING

from functions import log

if TYPE_CHECKING:
    from functions.service import Service


def sweep(service: "Service") -> None:
    """The schedule; the next sweep tries again."""
    try:
        service.endpoint_sweep.sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("endpoints.not-swept", error)
