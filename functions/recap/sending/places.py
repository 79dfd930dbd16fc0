"""The places for recaps or previews in one instance: no tenant takes them all (spec 8).

Cloud Run admits more calls than that: a body that drips holds a place of Cloud Run, and none here.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from functions.call_error import CallError, Code

PLACES: Final = 5
PER_TENANT: Final = 2

WAIT_SECONDS: Final = 20.0
"""How long a call waits for a place of its tenant, and then for a place."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places; one instance serves all threads of the process."""

    _free: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(PLACES)
    )
    _of_tenants: dict[str, threading.BoundedSemaphore] = field(default_factory=dict)

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """A place for a call of that tenant.

        Raises:
            CallError: `resource-exhausted`, where no place gets free in time.
        """
        own = self._of_tenants.setdefault(tenant_id, threading.BoundedSemaphore(PER_TENANT))
        busy = f"{PER_TENANT} calls for your events are at work"
        with _taken(own, busy), _taken(self._free, "All places are taken"):
            yield


@contextmanager
def _taken(places: threading.BoundedSemaphore, busy: str) -> Iterator[None]:
    if not places.acquire(timeout=WAIT_SECONDS):
        raise CallError(Code.RESOURCE_EXHAUSTED, f"{busy} right now; call again in a minute.")
    try:
        yield
    finally:
        places.release()
