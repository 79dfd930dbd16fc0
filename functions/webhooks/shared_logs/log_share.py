"""A share lets the bearer of a link see the deliveries to one URL of an event (spec 4.11)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from functions.firestore.model import Version

LONGEST_DAYS: Final = 7
"""How long a share lasts at most, and by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogShare:
    """The record `events/{event_id}/shares/{id}`, and its version as it was read.

    The bearer of its link sees the deliveries of the `endpoint` that went to `url`, and with
    `can_resend` sends them again. `created_by` is a user id. The share ends at `expire_at`, or
    earlier at `revoked_at`.
    """

    id: str
    event_id: str
    url: str
    endpoint: str
    can_resend: bool
    created_by: str
    created_at: datetime
    expire_at: datetime
    revoked_at: datetime | None = None
    version: Version | None = field(default=None, compare=False, repr=False)

    def is_living(self, now: datetime) -> bool:
        """Whether its link still opens anything."""
        return self.revoked_at is None and now < self.expire_at
