"""Shares in Firestore: `events/{eventId}/shares/{shareId}` (design 4)."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from functions.firestore.model import AlreadyRecordedError, Create, Documents, Update, Version

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


@dataclass(frozen=True, slots=True)
class LogShareStore:
    """Shares, each of which lets the bearer of a link see the deliveries to a URL.

    Every method is one call.
    """

    documents: Documents

    def create(self, share: LogShare) -> None:
        """Record `share`, whose id no other share has; a recorded share is a success."""
        fields = {
            "url": share.url,
            "endpoint": share.endpoint,
            "canResend": share.can_resend,
            "createdBy": share.created_by,
            "createdAt": share.created_at,
            "expireAt": share.expire_at,
        }
        with suppress(AlreadyRecordedError):  # by this call, whose answer was lost
            self.documents.commit(Create(_path(share.event_id, share.id), fields))

    def load(self, event_id: str, share_id: str) -> LogShare | None:
        """The share as it is now, or None; None also where the event is gone."""
        paths = [f"events/{event_id}", _path(event_id, share_id)]
        event, found = self.documents.get_all(paths)
        if event is None or found is None:
            return None
        fields = found.fields
        return LogShare(
            id=share_id,
            event_id=event_id,
            url=fields["url"],
            endpoint=fields["endpoint"],
            can_resend=fields["canResend"],
            created_by=fields["createdBy"],
            created_at=fields["createdAt"],
            expire_at=fields["expireAt"],
            revoked_at=fields.get("revokedAt"),
            version=found.version,
        )

    def revoke(self, share: LogShare, at: datetime) -> None:
        """End the share `at` that moment: the record may be deleted from then on.

        Raises:
            ChangedMeanwhileError: the record is not in the share's version any more.
        """
        ended = {"revokedAt": at, "expireAt": at}
        self.documents.commit(Update(_path(share.event_id, share.id), ended, version=share.version))


def _path(event_id: str, share_id: str) -> str:
    return f"events/{event_id}/shares/{share_id}"
