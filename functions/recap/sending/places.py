"""The places for recaps or previews in one instance: no tenant takes them all (spec 8).

Cloud Run admits more calls than that: a body that drips holds a place of Cloud Run, and none here.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from functions.call_error import CallError, Code

PLACES: Final = 5
PER_TENANT: Final = 2

LARGE_EVENT: Final = 2_000
"""Photos from which on a preview takes seconds of CPU."""

Photo = TypeVar("Photo")


@dataclass(slots=True, eq=False)
class Places:
    """The places; one instance serves all threads of the process.

    `seconds` is how long a call waits for a place.
    """

    seconds: float = 20.0
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _by_tenant: Counter[str] = field(default_factory=Counter)
    _large: int = 0

    @contextmanager
    def place(self, tenant_id: str) -> Iterator["Place"]:
        """A place for a call of that tenant.

        Raises:
            CallError: `resource-exhausted`, where no place gets free in time.
        """
        place = Place(self)
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(tenant_id), self.seconds):
                all_own = self._by_tenant[tenant_id] >= PER_TENANT
                raise _busy(
                    f"{PER_TENANT} calls for your events are at work"
                    if all_own
                    else "All places are taken"
                )
            self._by_tenant[tenant_id] += 1
        try:
            yield place
        finally:
            with self._changed:
                self._by_tenant -= Counter([tenant_id])
                self._large -= place.is_large
                self._changed.notify_all()

    def _is_free(self, tenant_id: str) -> bool:
        return self._by_tenant[tenant_id] < PER_TENANT and self._by_tenant.total() < PLACES

    def admit_large(self) -> None:
        """Count a large event; the last place is for small ones.

        Raises:
            CallError: `resource-exhausted`: waiting would keep the last place.
        """
        with self._changed:
            if self._large == PLACES - 1:
                raise _busy("Large events have their places")
            self._large += 1


@dataclass(slots=True)
class Place:
    """The place of one call; `is_large` once that call has read many photos."""

    _places: Places
    is_large: bool = False

    def admitted(self, photos: Iterable[Photo]) -> Iterator[Photo]:
        """The `photos` of an event, one by one.

        Raises:
            CallError: as `Places.admit_large` says, as soon as the event turns out to be large.
        """
        for number, photo in enumerate(photos):
            if number == LARGE_EVENT:
                self._places.admit_large()
                self.is_large = True
            yield photo


def _busy(problem: str) -> CallError:
    return CallError(Code.RESOURCE_EXHAUSTED, f"{problem} right now; call again in a minute.")
