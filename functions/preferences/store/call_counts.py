"""Counts of calls in Firestore: `rateLimits/{key}` (spec 8)."""

from datetime import datetime
from typing import Final

from google.cloud import firestore

COUNT_SECONDS: Final = 3.0
"""How long counting may take: long enough for the first connection of a cold, busy process."""


class CallCountStore:
    """See `limiter.CallCounts`."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def add(self, key: str, expire_at: datetime) -> int:
        """Count one more call under `key`; how many there are with it. One round trip.

        Firestore deletes the record some time after `expire_at`.

        Raises:
            Exception: it could not be counted, or not in time; it is not tried again, as nobody
                knows whether the call was counted.
        """
        batch = self._client.batch()
        batch.set(
            self._client.collection("rateLimits").document(key),
            {"count": firestore.Increment(1), "expireAt": expire_at},
            merge=True,
        )
        written = batch.commit(retry=None, timeout=COUNT_SECONDS)
        return int(written[0].transform_results[0].integer_value)
