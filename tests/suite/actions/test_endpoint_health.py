"""A URL that is given up, in Firestore; `unit/webhooks/test_endpoint_health.py` has the law."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Final

from google.cloud import firestore

from functions.gcp.documents import documents
from functions.webhooks.attempts.endpoint_health import EndpointHealth
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.notices.failure_marks import FailureMarks
from functions.webhooks.notices.store import NoticeStore
from functions.webhooks.recovery.outage_marks import OutageMarks
from functions.webhooks.recovery.store import StandingOrderStore
from functions.webhooks.settings.store import SettingsStore
from tests.suite.actions.conftest import Configure, Named, Record
from tests.suite.operations import Operations

URL: Final = "https://example.com/hook"


def test_many_processes_that_find_a_url_dead_disable_it_once(
    event: firestore.DocumentReference, configure: Configure, record: Record, named: Named
) -> None:
    """With the reason and the time, and that URL only.

    The settings are written now, so the clock that is handed in is five days ahead.
    """
    configure(URL, "https://example.com/other")
    first, last = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, 122))
    for number in range(99):
        record(URL, f"d{number}", endedAt=first)
    record(URL, "last", endedAt=last)

    def look(_: int) -> None:
        failed = DeliveryStore(documents()).load(event.id, named("last"))
        assert failed
        EndpointHealth(
            deliveries=DeliveryStore(documents()),
            settings=SettingsStore(documents()),
            marks=FailureMarks(
                notices=NoticeStore(documents()), enqueue=Operations().enqueue, now=lambda: last
            ),
            outages=OutageMarks(StandingOrderStore(documents()), lambda: last),
            now=lambda: last,
            monotonic=time.monotonic,
        ).delivery_failed(failed)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(look, range(8)))

    settings = event.collection("settings").document("webhooks").get()
    [entry] = settings.get("disabled").values()
    assert (entry["url"], entry["at"]) == (URL, last)
    assert "100 deliveries in a row" in entry["reason"]
