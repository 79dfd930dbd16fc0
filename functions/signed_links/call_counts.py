"""Counts of calls in Firestore: `rateLimits/{key}` (spec 8)."""

from datetime import datetime

from functions.gcp.documents import Documents


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
        path = f"rateLimits/{key}"
        fields = {"expireAt": expire_at}
        return self._documents.increment(path, "count", fields, seconds=seconds)
