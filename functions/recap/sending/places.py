"""The places for recaps and previews in one instance: no tenant takes them all (spec 8).

Cloud Run admits more calls than that: a body that drips holds a place of Cloud Run, and none here.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from functions.call_error import CallError, Code

PLACES: Final = 5
"""Recaps at a time; one more than previews of large events at a time."""

RECAP_WAIT_SECONDS: Final = 20.0
"""How long a recap waits for a place."""

PER_TENANT: Final = 2

LARGE_EVENT: Final = 2_000
"""Photos from which on a preview takes seconds of CPU."""


class RecapPlaces:
    """The places for recaps; one instance serves all threads of the process."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(PLACES)
        self._of_tenants: dict[str, threading.BoundedSemaphore] = {}

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """A place for a recap of that tenant.

        Raises:
            CallError: `resource-exhausted`, where no place gets free in `RECAP_WAIT_SECONDS`.
        """
        own = self._of_tenants.setdefault(tenant_id, threading.BoundedSemaphore(PER_TENANT))
        with _taken(own), _taken(self._free):
            yield


@contextmanager
def _taken(places: threading.BoundedSemaphore) -> Iterator[None]:
    if not places.acquire(timeout=RECAP_WAIT_SECONDS):
        raise CallError(
            Code.RESOURCE_EXHAUSTED, "Many recaps are being sent right now; call again soon."
        )
    try:
        yield
    finally:
        places.release()


class Places:
    """The places for previews; one instance serves all threads of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of_tenant: Counter[str] = Counter()
        self._large = 0

    @contextmanager
    def place(self, tenant_id: str) -> Iterator["Place"]:
        """A place for a preview of that tenant.

        Raises:
            CallError: `resource-exhausted`, where the tenant has its places already.
        """
        with self._lock:
            if self._of_tenant[tenant_id] >= PER_TENANT:
                raise CallError(
                    Code.RESOURCE_EXHAUSTED,
                    f"{PER_TENANT} previews of your events are being made right now; ask again "
                    "when one of them is done.",
                )
            self._of_tenant[tenant_id] += 1
        place = Place(self)
        try:
            yield place
        finally:
            with self._lock:
                self._of_tenant -= Counter([tenant_id])
                self._large -= place.is_large

    def grow(self) -> None:
        """Count a preview as large: the last place is for small events.

        Raises:
            CallError: `resource-exhausted`, where only the last place is left.
        """
        with self._lock:
            if self._large >= PLACES - 1:
                raise CallError(
                    Code.RESOURCE_EXHAUSTED,
                    "Several large previews are being made right now; ask again in a minute.",
                )
            self._large += 1


class Place:
    """The place of one preview."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.is_large = False

    def read(self, photos: int) -> None:
        """Tell of the number of photos that the preview has read.

        Raises:
            CallError: as `Places.grow` says.
        """
        if photos > LARGE_EVENT and not self.is_large:
            self._places.grow()
            self.is_large = True
