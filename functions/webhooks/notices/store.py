"""The watched URLs of an event in Firestore: `events/{eventId}/notices/webhooks` (design 4)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from functions.documents.document import Version
from functions.documents.documents import Documents
from functions.documents.query import NAME, Query
from functions.documents.write import Create, Update
from functions.webhooks.notices.ports import StoredWatch
from functions.webhooks.notices.watch import Standing, Watch, WatchedUrl
from functions.webhooks.settings import webhook_settings


class NoticeStore:
    """See `ports.Notices`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def load(self, event_id: str) -> StoredWatch | None:
        """See `ports.Notices`."""
        found = self._documents.get(_path(event_id))
        return StoredWatch(_watch(found.fields), found.version) if found else None

    def create(self, event_id: str, watch: Watch) -> None:
        """See `ports.Notices`."""
        self._documents.commit(Create(_path(event_id), _document(watch)))

    def save(self, event_id: str, watch: Watch, version: Version) -> None:
        """See `ports.Notices`."""
        self._documents.commit(Update(_path(event_id), _document(watch), version=version))

    def due(self, before: datetime, limit: int) -> Sequence[str]:
        """See `ports.Notices`."""
        due = Query(
            collection="notices",
            group=True,
            where=[("lookAt", "<", before)],
            order=["lookAt"],
            select=[NAME],
            limit=limit,
        )
        return [found.path.split("/")[-3] for found in self._documents.find(due)]


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
