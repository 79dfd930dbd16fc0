"""Which receivers have just been slow, as far as this instance knows.

A place at work is the scarce thing that all events share: a prompt receiver holds one for some
milliseconds, a silent one for five seconds. So the first attempts at a receiver that has been
silent or could not be reached `TWICE` in a row go to a queue of their own, and so does what an
event sends beyond its share of the instance, of which one receiver leaves some to the others. It
costs the ordinary delivery nothing: what is known is what this instance's own attempts have met.

Nobody is slow for longer than `REMEMBERED_SECONDS` without a further look.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from functions.recent import Recent

TWICE: Final = 2
REMEMBERED_SECONDS: Final = 60.0
EVENT_SHARE: Final = 40
"""Attempts of one event at work in an instance, which has 80 places."""

FEW: Final = 5
"""Who holds so many leaves the last `FOR_FEW` of the event's share to receivers that hold less.

One that answers after four seconds would fill it, and have the event's prompt ones wait with it.
"""

FOR_FEW: Final = 10

_REMEMBERED: Final = 10_000


class SlowReceivers:
    """Remembers how a URL answered last; one instance serves all threads of the process."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """`monotonic` gives seconds that only grow."""
        self._silences: Recent[tuple[str, str], int] = Recent(
            seconds=REMEMBERED_SECONDS, at_most=_REMEMBERED, monotonic=monotonic
        )
        self._of_event: Counter[str] = Counter()
        self._of_url: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def has_to_wait(self, event_id: str, url: str) -> bool:
        """Whether a first attempt belongs on the slow queue."""
        if (self._silences.get((event_id, url)) or 0) >= TWICE:
            return True
        with self._lock:
            left = EVENT_SHARE - self._of_event[event_id]
            return left <= (FOR_FEW if self._of_url[event_id, url] >= FEW else 0)

    @contextmanager
    def at_work(self, event_id: str, url: str) -> Iterator[None]:
        """Count an attempt of the event at that URL while it is being made."""
        with self._lock:
            self._of_event[event_id] += 1
            self._of_url[event_id, url] += 1
        try:
            yield
        finally:
            with self._lock:
                self._of_event[event_id] -= 1
                self._of_url[event_id, url] -= 1
                if not self._of_url[event_id, url]:
                    del self._of_url[event_id, url]
                if not self._of_event[event_id]:
                    del self._of_event[event_id]

    def met(self, event_id: str, url: str, *, answered: bool) -> None:
        """Take note of an attempt: whether there was an answer at all, whatever its status."""
        silences = self._silences.get((event_id, url)) or 0
        if answered and silences:
            self._silences.put((event_id, url), value=0)
        if not answered:
            self._silences.put((event_id, url), value=silences + 1)
