"""Standing orders in Firestore: `events/{eventId}/recoveries/{key of the URL}` (design 4)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from functions.documents.document import Version
from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.documents.write import Create, Update
from functions.webhooks.recovery.ports import StoredOrder
from functions.webhooks.recovery.standing_order import StandingOrder
from functions.webhooks.settings.webhook_settings import key


class StandingOrderStore:
    """See `ports.StandingOrders`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def load(self, event_id: str, url: str) -> StoredOrder | None:
        """See `StandingOrders`."""
        found = self._documents.get(_path(event_id, url))
        return StoredOrder(_order(event_id, found.fields), found.version) if found else None

    def create(self, order: StandingOrder) -> None:
        """See `StandingOrders`."""
        self._documents.commit(Create(_path(order.event_id, order.url), _document(order)))

    def save(self, order: StandingOrder, version: Version) -> None:
        """See `StandingOrders`."""
        path = _path(order.event_id, order.url)
        self._documents.commit(Update(path, _document(order), version=version))

    def waiting(self, before: datetime, limit: int) -> Sequence[StoredOrder]:
        """See `StandingOrders`."""
        waiting = Query(
            collection="recoveries",
            group=True,
            where=[("lookAt", "<=", before)],
            order=["lookAt"],
            limit=limit,
        )
        return [
            StoredOrder(_order(found.path.split("/")[-3], found.fields), found.version)
            for found in self._documents.find(waiting)
        ]


def _path(event_id: str, url: str) -> str:
    return f"events/{event_id}/recoveries/{key(url)}"


def _document(order: StandingOrder) -> dict[str, Any]:
    return {
        "url": order.url,
        "since": order.since,
        "lookAt": order.look_at,
        "ranAt": order.ran_at,
        "resent": order.resent,
    }


def _order(event_id: str, fields: Mapping[str, Any]) -> StandingOrder:
    return StandingOrder(
        event_id=event_id,
        url=fields["url"],
        since=fields["since"],
        look_at=fields["lookAt"],
        ran_at=fields["ranAt"],
        resent=fields["resent"],
    )
