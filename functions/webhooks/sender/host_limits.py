"""How many POSTs at a time one process makes to a machine; other POSTs come later.

A tenant may have many events, spellings of a host and names below a wildcard, all of which lead to
somebody else's machine.
"""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

OF_AN_EVENT: Final = 40
"""To one host: what a guest's first photo comes to at 20 URLs there."""

OF_A_TENANT: Final = 80
"""To one address: two such events at once."""


class HostLimitError(Exception):
    """The event or its tenant has as many POSTs under way there as it may; nothing was sent."""


class HostLimits:
    """Gives turns; one instance serves all threads."""

    def __init__(self, at_a_time: int) -> None:
        """`at_a_time` is how many POSTs may be under way under one key."""
        self._at_a_time = at_a_time
        self._under_way: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def under_way(self, *keys: Hashable) -> Iterator[None]:
        """One POST that counts under each of the different `keys`.

        Raises:
            HostLimitError: as many are under way already, under one of them.
        """
        with self._lock:
            if any(self._under_way[key] >= self._at_a_time for key in keys):
                raise HostLimitError
            self._under_way.update(keys)
        try:
            yield
        finally:
            with self._lock:
                for key in keys:
                    self._under_way[key] -= 1
                    if not self._under_way[key]:
                        del self._under_way[key]
