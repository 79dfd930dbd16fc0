"""How much of one host an event may have in one process: so many POSTs at a time.

An event whose URLs all point at somebody else's host has each instance knock there no harder; its
other POSTs come later.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from functions.webhooks.sender.ports import HostLimitError

POSTS_AT_A_TIME: Final = 40
"""Of one event at one host: what a guest's first photo comes to at 20 URLs there."""


class HostLimits:
    """Gives turns; one instance serves all threads."""

    def __init__(self, at_a_time: int) -> None:
        """`at_a_time` is how many POSTs of one event may be under way to one host."""
        self._at_a_time = at_a_time
        self._under_way: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def under_way(self, event_id: str, host: str) -> Iterator[None]:
        """One POST of the event to `host`.

        Raises:
            HostLimitError: as many are under way already.
        """
        share = (event_id, host)
        with self._lock:
            if self._under_way[share] >= self._at_a_time:
                raise HostLimitError
            self._under_way[share] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[share] -= 1
                if not self._under_way[share]:
                    del self._under_way[share]
