"""Counts of calls in Firestore: `rateLimits/{key}` (spec 8)."""

from datetime import datetime
from typing import Final

from functions.gcp.documents import Documents

COUNT_SECONDS: Final = 3.0
"""How long counting may take: long enough for the first connection of a cold, busy process."""


class CallCountStore:
    """See `limiter.CallCounts`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def add(self, key: str, expire_at: datetime) -> int:
        """Count one more call under `key`; how many there are with it. One round trip.

        Firestore deletes the record some time after `expire_at`.

        Raises:
            Exception: it could not be counted, or not in time; it is not tried again, as nobody
                knows whether the call was counted.
        """
        path = f"rateLimits/{key}"
        fields = {"expireAt": expire_at}
        return self._documents.increment(path, "count", fields, seconds=COUNT_SECONDS)
