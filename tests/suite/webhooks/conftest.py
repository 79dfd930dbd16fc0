"""Receivers, and the records of the deliveries to them."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from google.cloud import firestore

from emulator import certificates
from emulator.receiver import Receiver, Request


@pytest.fixture
def secret_of(db: firestore.Client) -> Callable[[str], str | None]:
    """How a receiver learns an event's secret: a superadmin has told it."""
    return looked_up(db)


def looked_up(db: firestore.Client) -> Callable[[str], str | None]:
    """Look an event's secret up, as an administrator."""

    def look_up(event_id: str) -> str | None:
        found = db.document(f"events/{event_id}/secrets/webhooks").get()
        return found.get("secret") if found.exists else None

    return look_up


@pytest.fixture
def receiving(
    secret_of: Callable[[str], str | None],
) -> Callable[..., Any]:
    """Start receivers with scripts by path, each a context manager."""

    @contextmanager
    def start(
        scripts: Mapping[str, Any], on_request: Callable[[Request], None] | None = None
    ) -> Iterator[Receiver]:
        certificates.ensure()
        with Receiver(
            certificates.SERVER, scripts=scripts, secret_of=secret_of, on_request=on_request
        ) as receiver:
            yield receiver

    return start


class Deliveries:
    """The records under an event, as they change."""

    def __init__(self, event: firestore.DocumentReference) -> None:
        self._changed = threading.Condition()
        self._records: dict[str, dict[str, Any]] = {}
        self._watch = event.collection("deliveries").on_snapshot(self._on_snapshot)

    def close(self) -> None:
        """Stop watching."""
        self._watch.unsubscribe()

    def wait_for(
        self, predicate: Callable[[list[dict[str, Any]]], bool], timeout: float
    ) -> list[dict[str, Any]]:
        """Wait until the records satisfy `predicate`; they, with their `id`.

        Raises:
            TimeoutError: they do not after `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(self._all()), timeout):
                raise TimeoutError(f"after {timeout} s: {self._all()}")
            return self._all()

    def ended(self, count: int, timeout: float = 60) -> list[dict[str, Any]]:
        """Wait until `count` deliveries have ended; all records."""
        final = ("success", "failed", "skipped")
        return self.wait_for(
            lambda all_: sum(entry["outcome"] in final for entry in all_) >= count, timeout
        )

    def _all(self) -> list[dict[str, Any]]:
        return list(self._records.values())

    def _on_snapshot(self, snapshots: Any, *_: Any) -> None:
        with self._changed:
            self._records = {
                snapshot.id: snapshot.to_dict() | {"id": snapshot.id} for snapshot in snapshots
            }
            self._changed.notify_all()


@pytest.fixture
def deliveries(event: firestore.DocumentReference) -> Iterator[Deliveries]:
    """The deliveries of this test's event."""
    watched = Deliveries(event)
    yield watched
    watched.close()
