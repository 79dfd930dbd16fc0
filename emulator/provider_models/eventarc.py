"""Eventarc: retries after errors, and the size limit.

https://cloud.google.com/eventarc/docs/retry-events
"""

from typing import Final

EVENT_BYTES: Final = 512 * 1024
"""Maximum size of a write's message, which contains the document before and after the write.

A larger write calls no trigger.

https://cloud.google.com/functions/quotas
"""

MIN_BACKOFF: Final = 10.0
MAX_BACKOFF: Final = 600.0


def backoff(calls: int, shortest: float = MIN_BACKOFF) -> float:
    """Return the seconds between a call and the next one, after so many `calls`."""
    return min(shortest * 2.0 ** min(calls - 1, 10), MAX_BACKOFF)
