"""Receivers, and the records of the deliveries to them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from google.cloud import firestore

from emulator import certificates
from emulator.receiver import Receiver, Request
from emulator.watching import wait_for


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


@dataclass(frozen=True, slots=True)
class Deliveries:
    """The records under an event."""

    event: firestore.DocumentReference

    def wait_for(
        self, predicate: Callable[[list[dict[str, Any]]], bool], timeout: float
    ) -> list[dict[str, Any]]:
        """Wait until the records satisfy `predicate`; they, with their `id`.

        It fails if they do not after `timeout` seconds.
        """
        found = wait_for(self.event.collection("deliveries"), predicate, timeout)
        assert predicate(found), f"after {timeout} s: {found}"
        return found

    def ended(self, count: int, timeout: float = 60) -> list[dict[str, Any]]:
        """Wait until `count` deliveries have ended; all records."""
        final = ("success", "failed", "skipped")
        return self.wait_for(
            lambda all_: sum(entry["outcome"] in final for entry in all_) >= count, timeout
        )


@pytest.fixture
def deliveries(event: firestore.DocumentReference) -> Deliveries:
    """The deliveries of this test's event."""
    return Deliveries(event)
