"""Eventarc: a trigger that answers an error gets the event again, later and later.

https://cloud.google.com/eventarc/docs/retry-events
"""

from typing import Final

EVENT_BYTES: Final = 512 * 1024
"""Most bytes of an event, with the document before and after the write; a larger one is dropped.

https://cloud.google.com/functions/quotas
"""

MIN_BACKOFF: Final = 10.0
MAX_BACKOFF: Final = 600.0


def backoff(calls: int, shortest: float = MIN_BACKOFF) -> float:
    """Seconds between a call and the next one, after so many `calls`."""
    return min(shortest * 2.0 ** min(calls - 1, 10), MAX_BACKOFF)
