"""Shares in Firestore: `events/{eventId}/shares/{shareId}` (design 4)."""

from contextlib import suppress
from datetime import datetime

from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.documents.refusals import AlreadyRecordedError
from functions.documents.write import Create, Update
from functions.webhooks.shared_logs.log_share import LogShare
from functions.webhooks.shared_logs.ports import StoredLogShare


class LogShareStore:
    """See `ports.LogShares`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def create(self, share: LogShare) -> None:
        """See `ports.LogShares`."""
        fields = {
            "url": share.url,
            "canResend": share.can_resend,
            "createdBy": share.created_by,
            "createdAt": share.created_at,
            "expireAt": share.expire_at,
        }
        with suppress(AlreadyRecordedError):  # by this call, whose answer was lost
            self._documents.commit(Create(_path(share.event_id, share.id), fields))

    def load(self, event_id: str, share_id: str) -> StoredLogShare | None:
        """See `ports.LogShares`."""
        paths = [f"events/{event_id}", _path(event_id, share_id)]
        event, found = self._documents.get_all(paths)
        if event is None or found is None:
            return None
        fields = found.fields
        share = LogShare(
            id=share_id,
            event_id=event_id,
            url=fields["url"],
            can_resend=fields["canResend"],
            created_by=fields["createdBy"],
            created_at=fields["createdAt"],
            expire_at=fields["expireAt"],
            revoked_at=fields.get("revokedAt"),
        )
        return StoredLogShare(share, found.version)

    def revoke(self, found: StoredLogShare, at: datetime) -> None:
        """See `ports.LogShares`; the record no longer counts as living, and may be deleted."""
        path = _path(found.share.event_id, found.share.id)
        ended = {"revokedAt": at, "expireAt": at}
        self._documents.commit(Update(path, ended, version=found.version))

    def count_living(self, event_id: str, now: datetime, at_most: int) -> int:
        """See `ports.LogShares`; the price of one read."""
        living = Query(
            collection=f"events/{event_id}/shares",
            where=[("expireAt", ">", now)],
            order=["expireAt"],
            limit=at_most,
        )
        return self._documents.count(living)


def _path(event_id: str, share_id: str) -> str:
    return f"events/{event_id}/shares/{share_id}"
