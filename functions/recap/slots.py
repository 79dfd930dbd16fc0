"""Slots limit the recaps and previews that one instance runs at a time (spec 8).

A call holds a slot while it runs. Cloud Run admits more calls than there are slots, because it also
counts calls whose body is still arriving. With a plain `BoundedSemaphore` one tenant could hold
every slot for minutes.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from functions.call.errors import CallError, Code

SLOTS: Final = 5
SLOTS_PER_TENANT: Final = 2


@dataclass(slots=True, eq=False)
class Slots:
    """The slots of a process. Shared by all threads.

    Attributes:
        wait_seconds: How long a call waits for a free slot.
    """

    wait_seconds: float = 20.0
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _held: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def slot(self, tenant_id: str, *, waits: bool = True) -> Iterator[None]:
        """Hold a slot for a call of the tenant.

        Args:
            tenant_id: The tenant.
            waits: Whether the call waits for a free slot.

        Raises:
            CallError: `resource-exhausted` if no slot is free in time.
        """

        def is_free() -> bool:
            return self._held[tenant_id] < SLOTS_PER_TENANT and self._held.total() < SLOTS

        with self._changed:
            if not self._changed.wait_for(is_free, self.wait_seconds if waits else 0):
                is_own_limit = self._held[tenant_id] >= SLOTS_PER_TENANT
                problem = (
                    f"{SLOTS_PER_TENANT} other calls for your events are running"
                    if is_own_limit
                    else "Too many calls are running"
                )
                raise CallError(
                    Code.RESOURCE_EXHAUSTED,
                    f"{problem}. Try again in a minute.",
                    {"reason": "busy"},
                )
            self._held[tenant_id] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held -= Counter([tenant_id])
                self._changed.notify_all()
