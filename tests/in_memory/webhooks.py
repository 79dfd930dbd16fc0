"""Notices and standing orders in memory, with the contracts of the real adapters."""

from collections.abc import Sequence
from datetime import datetime

from functions.documents.document import Version
from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.webhooks.notices.ports import StoredWatch
from functions.webhooks.notices.watch import Watch
from functions.webhooks.recovery.ports import StoredOrder
from functions.webhooks.recovery.standing_order import StandingOrder
from functions.webhooks.settings.webhook_settings import key
from tests.in_memory.database import (
    AlreadyExistsError,
    ChangedError,
    Create,
    Database,
    Update,
)
from tests.in_memory.through import Through, at_once


class InMemoryNotices:
    """See `ports.Notices`; documents are the watches themselves."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, event_id: str) -> StoredWatch | None:
        """See `ports.Notices`."""
        found = self._through("notices.load", lambda: self._database.get(_notices(event_id)))
        return StoredWatch(found.value, found.version) if found else None

    def create(self, event_id: str, watch: Watch) -> None:
        """See `ports.Notices`."""

        def commit() -> None:
            self._database.commit(Create(_notices(event_id), watch))

        try:
            self._through("notices.create", commit)
        except AlreadyExistsError as exists:
            raise AlreadyRecordedError from exists

    def save(self, event_id: str, watch: Watch, version: Version) -> None:
        """See `ports.Notices`."""

        def commit() -> None:
            self._database.commit(Update(_notices(event_id), lambda _: watch, version))

        try:
            self._through("notices.save", commit)
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed

    def due(self, before: datetime, limit: int) -> Sequence[str]:
        """See `ports.Notices`."""

        def due() -> Sequence[str]:
            found = [
                (one.value.look_at, path.split("/")[1])
                for path, one in self._database.group("notices")
                if one.value.look_at and one.value.look_at < before
            ]
            return [event_id for _, event_id in sorted(found)][:limit]

        return self._through("notices.due", due)


class InMemoryOrders:
    """See `recovery.ports.StandingOrders`; documents are the orders themselves."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, event_id: str, url: str) -> StoredOrder | None:
        """See `StandingOrders`."""
        path = _order_path(event_id, url)
        found = self._through("orders.load", lambda: self._database.get(path))
        return StoredOrder(found.value, found.version) if found else None

    def create(self, order: StandingOrder) -> None:
        """See `StandingOrders`."""
        write = Create(_order_path(order.event_id, order.url), order)
        try:
            self._through("orders.create", lambda: self._database.commit(write))
        except AlreadyExistsError as exists:
            raise AlreadyRecordedError from exists

    def save(self, order: StandingOrder, version: Version) -> None:
        """See `StandingOrders`."""
        write = Update(_order_path(order.event_id, order.url), lambda _: order, version)
        try:
            self._through("orders.save", lambda: self._database.commit(write))
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed

    def waiting(self, before: datetime, limit: int) -> Sequence[StoredOrder]:
        """See `StandingOrders`."""

        def waiting() -> Sequence[StoredOrder]:
            found = [
                (stored.value.look_at, path, stored)
                for path, stored in self._database.group("recoveries")
                if stored.value.look_at and stored.value.look_at <= before
            ]
            in_order = sorted(found, key=lambda entry: entry[:2])[:limit]
            return [StoredOrder(stored.value, stored.version) for _, _, stored in in_order]

        return self._through("orders.waiting", waiting)


def _notices(event_id: str) -> str:
    return f"events/{event_id}/notices/webhooks"


def _order_path(event_id: str, url: str) -> str:
    return f"events/{event_id}/recoveries/{key(url)}"
