"""The watched URLs of an event in Firestore: `events/{eventId}/notices/webhooks` (design 4)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Create, Documents, Update
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.gcp.firestore import client as shared_client
from functions.records import AlreadyRecordedError, ChangedMeanwhileError, Version
from functions.webhooks.notices.ports import StoredWatch
from functions.webhooks.notices.watch import Standing, Watch, WatchedUrl
from functions.webhooks.settings import webhook_settings


class NoticeStore:
    """See `ports.Notices`."""

    def __init__(
        self, documents: Documents, client: Callable[[], firestore.Client] = shared_client
    ) -> None:
        """`client` gives the library's, for the query of the sweep."""
        self._documents = documents
        self._client = client

    def load(self, event_id: str) -> StoredWatch | None:
        """See `ports.Notices`."""
        found = self._documents.get(_path(event_id))
        return StoredWatch(_watch(found.fields), found.version) if found else None

    def create(self, event_id: str, watch: Watch) -> None:
        """See `ports.Notices`."""
        try:
            self._documents.create([Create(_path(event_id), _document(watch))])
        except exceptions.AlreadyExists as exists:
            raise AlreadyRecordedError from exists

    def save(self, event_id: str, watch: Watch, version: Version) -> None:
        """See `ports.Notices`."""
        try:
            RETRY(self._documents.update)(Update(_path(event_id), _document(watch), version))
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise ChangedMeanwhileError from changed

    def due(self, before: datetime, limit: int) -> Sequence[str]:
        """See `ports.Notices`."""
        query = (
            self._client()
            .collection_group("notices")
            .where(filter=FieldFilter("lookAt", "<", before))
            .order_by("lookAt")
            .select([])
            .limit(limit)
        )
        found = query.get(retry=RETRY, timeout=CALL_SECONDS)
        return [snapshot.reference.parent.parent.id for snapshot in found]


def _path(event_id: str) -> str:
    return f"events/{event_id}/notices/webhooks"


def _document(watch: Watch) -> dict[str, Any]:
    return {
        "urls": {
            webhook_settings.key(watched.url): {
                "url": watched.url,
                "markedAt": watched.marked_at,
                "told": watched.told,
                "toldAt": watched.told_at,
                "since": watched.since,
            }
            for watched in watch.urls
        },
        "lookAt": watch.look_at,
        "sentAt": watch.sent_at,
        "sending": watch.sending,
        "tries": watch.tries,
    }


def _watch(fields: Mapping[str, Any]) -> Watch:
    return Watch(
        urls=tuple(
            WatchedUrl(
                url=entry["url"],
                marked_at=entry["markedAt"],
                told=entry["told"] and Standing(entry["told"]),
                told_at=entry["toldAt"],
                since=entry["since"],
            )
            for _, entry in sorted(fields["urls"].items())
        ),
        look_at=fields["lookAt"],
        sent_at=fields["sentAt"],
        sending=fields["sending"],
        tries=fields["tries"],
    )
