"""The records of shares, as use cases read and write them.

Every method is one round trip. Each docstring holds for every adapter, the tests' too.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from functions.documents.document import Version
from functions.webhooks.shared_logs.log_share import LogShare


@dataclass(frozen=True, slots=True)
class StoredLogShare:
    """A share as it was read, with the version that a write must still find."""

    share: LogShare
    version: Version


class LogShares(Protocol):
    """The records of shares: each lets the bearer of a link see the deliveries to a URL."""

    def create(self, share: LogShare) -> None:
        """Record `share`, whose id no other share has; a share on record already is a success."""

    def load(self, event_id: str, share_id: str) -> StoredLogShare | None:
        """The share as it is now, or None; None also where the event is gone."""

    def revoke(self, found: StoredLogShare, at: datetime) -> None:
        """End the share `at` that moment.

        Raises:
            ChangedMeanwhileError: the record is not as it was found.
        """

    def count_living(self, event_id: str, now: datetime, at_most: int) -> int:
        """How many shares of the event have not ended; counts to `at_most`."""
