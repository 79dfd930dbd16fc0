"""The places for recaps or previews in one instance: no tenant takes them all (spec 8).

Cloud Run admits more calls than that: a body that drips holds a place of Cloud Run, and none here.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

from functions.call_error import CallError, Code

PLACES: Final = 5
PER_TENANT: Final = 2

LARGE_EVENT: Final = 2_000
"""Photos from which on a preview takes seconds of CPU."""

WAIT_SECONDS: Final = 20.0
"""How long a call waits for a place of its tenant, and then for a place."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places; one instance serves all threads of the process."""

    _free: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(PLACES)
    )
    _large: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(PLACES - 1)
    )
    _of_tenants: dict[str, threading.BoundedSemaphore] = field(default_factory=dict)

    @contextmanager
    def place(self, tenant_id: str) -> Iterator["Place"]:
        """A place for a call of that tenant.

        Raises:
            CallError: `resource-exhausted`, where no place gets free in time.
        """
        own = self._of_tenants.setdefault(tenant_id, threading.BoundedSemaphore(PER_TENANT))
        busy = f"{PER_TENANT} calls for your events are at work"
        with ExitStack() as held:
            held.enter_context(_taken(own, busy, WAIT_SECONDS))
            held.enter_context(_taken(self._free, "All places are taken", WAIT_SECONDS))
            yield Place(held, self._large)


@dataclass(slots=True)
class Place:
    """The place of one call."""

    _held: ExitStack
    _large: threading.BoundedSemaphore
    _is_large: bool = False

    def read(self, photos: int) -> None:
        """Take note of the number of photos read so far: the last place is for small events.

        Raises:
            CallError: `resource-exhausted`, where large events have all other places.
        """
        if photos > LARGE_EVENT and not self._is_large:
            # Waiting would keep the last place.
            self._held.enter_context(_taken(self._large, "Large events have their places", 0))
            self._is_large = True


@contextmanager
def _taken(places: threading.BoundedSemaphore, busy: str, seconds: float) -> Iterator[None]:
    if not places.acquire(timeout=seconds):
        raise CallError(Code.RESOURCE_EXHAUSTED, f"{busy} right now; call again in a minute.")
    try:
        yield
    finally:
        places.release()
