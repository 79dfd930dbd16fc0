"""Standing orders in Firestore: `events/{eventId}/recoveries/{key of the URL}` (design 4)."""

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
from functions.webhooks.recovery.ports import StoredOrder
from functions.webhooks.recovery.standing_order import StandingOrder
from functions.webhooks.settings.webhook_settings import key


class StandingOrderStore:
    """See `ports.StandingOrders`."""

    def __init__(
        self, documents: Documents, client: Callable[[], firestore.Client] = shared_client
    ) -> None:
        """`client` gives the library's, for the query of the sweep."""
        self._documents = documents
        self._client = client

    def load(self, event_id: str, url: str) -> StoredOrder | None:
        """See `StandingOrders`."""
        found = self._documents.get(_path(event_id, url))
        return StoredOrder(_order(event_id, found.fields), found.version) if found else None

    def create(self, order: StandingOrder) -> None:
        """See `StandingOrders`."""
        try:
            self._documents.create([Create(_path(order.event_id, order.url), _document(order))])
        except exceptions.AlreadyExists as exists:
            raise AlreadyRecordedError from exists

    def save(self, order: StandingOrder, version: Version) -> None:
        """See `StandingOrders`."""
        update = Update(_path(order.event_id, order.url), _document(order), version)
        try:
            RETRY(self._documents.update)(update)
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise ChangedMeanwhileError from changed

    def waiting(self, before: datetime, limit: int) -> Sequence[StoredOrder]:
        """See `StandingOrders`."""
        query = (
            self._client()
            .collection_group("recoveries")
            .where(filter=FieldFilter("lookAt", "<=", before))
            .order_by("lookAt")
            .limit(limit)
        )
        return [
            StoredOrder(
                _order(found.reference.parent.parent.id, found.to_dict() or {}),
                found.update_time,  # a protobuf Timestamp, where a query spans collections
            )
            for found in query.get(retry=RETRY, timeout=CALL_SECONDS)
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
