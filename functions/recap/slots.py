"""The slots for recaps and previews in one instance: no tenant takes them all (spec 8).

Cloud Run admits more calls: a body that drips holds a place of Cloud Run, and no slot here. A plain
`BoundedSemaphore` would let one tenant hold every slot for minutes.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from functions.call_error import CallError, Code

SLOTS: Final = 5
PER_TENANT: Final = 2

LARGE_EVENT: Final = 2_000
"""Photos from which on a preview takes seconds of CPU."""

Photo = TypeVar("Photo")


@dataclass(slots=True, eq=False)
class Slot:
    """The slot of one call; `is_large` once that call has read many photos."""

    tenant_id: str
    is_large: bool = False


@dataclass(slots=True, eq=False)
class Slots:
    """The slots; one instance serves all threads of the process.

    `seconds` is how long a call waits for a slot.
    """

    seconds: float = 20.0
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _taken: list[Slot] = field(default_factory=list)

    @contextmanager
    def slot(self, tenant_id: str) -> Iterator[Slot]:
        """A slot for a call of that tenant.

        Raises:
            CallError: `resource-exhausted`, where no slot gets free in time.
        """
        slot = Slot(tenant_id)
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(tenant_id), self.seconds):
                all_own = self._taken_by(tenant_id) >= PER_TENANT
                raise _busy(
                    f"{PER_TENANT} calls for your events are at work"
                    if all_own
                    else "All places are taken"
                )
            self._taken.append(slot)
        try:
            yield slot
        finally:
            with self._changed:
                self._taken.remove(slot)
                self._changed.notify_all()

    def _is_free(self, tenant_id: str) -> bool:
        return self._taken_by(tenant_id) < PER_TENANT and len(self._taken) < SLOTS

    def _taken_by(self, tenant_id: str) -> int:
        return sum(slot.tenant_id == tenant_id for slot in self._taken)

    def admitted(self, slot: Slot, photos: Iterable[Photo]) -> Iterator[Photo]:
        """The `photos` of an event, one by one, for the call in `slot`.

        Raises:
            CallError: `resource-exhausted`, as soon as the event turns out to be large and only the
                last slot is left, which is for small ones: waiting would keep it.
        """
        for number, photo in enumerate(photos):
            if number == LARGE_EVENT:
                with self._changed:
                    if sum(slot.is_large for slot in self._taken) == SLOTS - 1:
                        raise _busy("Large events have their places")
                    slot.is_large = True
            yield photo


def _busy(problem: str) -> CallError:
    return CallError(
        Code.RESOURCE_EXHAUSTED, f"{problem} right now; call again in a minute.", {"reason": "busy"}
    )
