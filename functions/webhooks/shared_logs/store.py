"""Shares in Firestore: `events/{eventId}/shares/{shareId}` (design 4)."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Create, Documents, Update
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.gcp.firestore import client as shared_client
from functions.records import ChangedMeanwhileError
from functions.webhooks.shared_logs.log_share import LogShare
from functions.webhooks.shared_logs.ports import StoredLogShare


class LogShareStore:
    """See `ports.LogShares`."""

    def __init__(
        self, documents: Documents, client: Callable[[], firestore.Client] = shared_client
    ) -> None:
        """`client` gives the library's, for the query."""
        self._documents = documents
        self._client = client

    def create(self, share: LogShare) -> None:
        """See `ports.LogShares`."""
        fields = {
            "url": share.url,
            "canResend": share.can_resend,
            "createdBy": share.created_by,
            "createdAt": share.created_at,
            "expireAt": share.expire_at,
        }
        with suppress(exceptions.AlreadyExists):  # by this call, whose answer was lost
            self._documents.create([Create(_path(share.event_id, share.id), fields)])

    def load(self, event_id: str, share_id: str) -> StoredLogShare | None:
        """See `ports.LogShares`; a share older than the event belonged to a deleted event."""
        paths = [self._documents.names.event_path(event_id), _path(event_id, share_id)]
        event, found = self._documents.get_all(paths)
        if event is None or found is None or found.created < event.created:
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
        write = Update(path, {"revokedAt": at, "expireAt": at}, found.version)
        try:
            RETRY(self._documents.update)(write)
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise ChangedMeanwhileError from changed

    def count_living(self, event_id: str, now: datetime, at_most: int) -> int:
        """See `ports.LogShares`; the price of one read."""
        query: Any = (
            self._client()
            .collection("events", event_id, "shares")
            .where(filter=FieldFilter("expireAt", ">", now))
            .limit(at_most)
        )
        return int(query.count().get(retry=RETRY, timeout=CALL_SECONDS)[0][0].value)


def _path(event_id: str, share_id: str) -> str:
    return f"events/{event_id}/shares/{share_id}"
