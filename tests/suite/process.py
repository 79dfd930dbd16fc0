"""Processes of functions for tests, and the switch of the suite's own triggers.

The test is the front end of the processes that it starts. It decides which CloudEvents are
dispatched, how often, and what a process can reach.
"""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from emulator.cloud.environment import parameters
from emulator.cloud.firestore_write import FirestoreWrite
from emulator.cloud.front_end import SILENCE
from emulator.cloud.function_process import FunctionProcess
from emulator.firebase import read_addresses

__all__ = ["FirestoreWrite", "FunctionProcess", "local_parameters", "silenced"]

_FRONT: Final = f"http://{read_addresses()['functions']}"
_CALL_SECONDS: Final = 60


def local_parameters() -> dict[str, str]:
    """Set the parameters with which parts of the service work in the test's own process."""
    return parameters() | {"FUNCTIONS_EMULATOR": "true"}


@contextmanager
def silenced(event_id: str) -> Iterator[None]:
    """Write to an event, and below it, without the suite's own triggers noticing."""
    _front("PUT", event_id)
    try:
        yield
    finally:
        _front("DELETE", event_id)


def _front(method: str, event_id: str) -> None:
    request = urllib.request.Request(f"{_FRONT}{SILENCE}{event_id}", method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=_CALL_SECONDS):  # noqa: S310 - loopback
        pass
