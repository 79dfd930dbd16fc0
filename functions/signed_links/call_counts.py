"""Counts of calls in Firestore: `rateLimits/{key}` (spec 8)."""

from datetime import datetime

from functions.documents.documents import Documents
from functions.documents.write import Merge


class CallCountStore:
    """See `limiter.CallCounts`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def add(self, key: str, expire_at: datetime, seconds: float) -> int:
        """Count a call under `key` within `seconds`; returns the new count. One round trip.

        Firestore deletes the record some time after `expire_at`.

        Raises:
            Exception: the call was not counted in time. There is no retry, because the call may
                have been counted all the same.
        """
        count = Merge(f"rateLimits/{key}", {"expireAt": expire_at}, add={"count": 1})
        [written] = self._documents.commit(count, seconds=seconds)
        return written.sums[0]
