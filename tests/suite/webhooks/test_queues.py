"""Design 2: a big tenant has several queues, and an event no more than its share of them."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.receiver import always
from functions.webhooks.deliveries.first_queues import BUSY, ORDINARY
from tests.suite.process import FunctionProcess, Written
from tests.suite.tasks import Tasks

URLS: Final = 20


@pytest.fixture
def tasks() -> Iterator[Tasks]:
    """Cloud Tasks, dispatched by the test."""
    with Tasks() as queue:
        yield queue


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TENANT_QUEUES": "2"}, set(ORDINARY[:2])),
        ({"TENANT_QUEUES": "1", "EVENT_DELIVERIES_A_SECOND": "1"}, {BUSY}),
    ],
    ids=["two queues", "beyond the share"],
)
def test_an_upload_is_delivered_by_whichever_queue_has_it(
    db: firestore.Client,
    event: firestore.DocumentReference,
    tasks: Tasks,
    receiving: Callable[..., Any],
    environment: dict[str, str],
    expected: set[str],
) -> None:
    """Every URL gets it once, and a trigger that runs again makes no second attempt."""
    event.set({"tenantId": f"tenant-{event.id}", "name": "Party", "status": "draft"})
    paths = [f"/{number}" for number in range(URLS)]
    options: dict[str, Any] = {
        **tasks.environment,
        "DELIVERY_QUEUES": "2",
        **environment,
    }
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving(dict.fromkeys(paths, always())))
        settings = event.collection("settings").document("webhooks")
        settings.set(
            {"urls": [{"url": receiver.url(one), "events": ["photo.uploaded"]} for one in paths]}
        )
        trigger = stack.enter_context(FunctionProcess("onPhotoWritten", event=True, **options))
        assert [trigger.written(_upload(db, event)) for _ in range(2)] == [200, 200]
        used = Counter(one.queue for one in tasks.queued)
        assert used.keys() >= expected
        assert used.keys() <= {*ORDINARY[:2], BUSY}
        for queue in used:
            worker = stack.enter_context(FunctionProcess(queue, **options))
            for one in tasks.queued:
                if one.queue == queue:
                    assert worker.dispatch(one.data) == 200
        assert Counter(one.path for one in receiver.requests) == Counter(paths)


def _upload(db: firestore.Client, event: firestore.DocumentReference) -> Written:
    photo = {"status": "pending", "uploaderName": "Ann", "createdAt": datetime.now(UTC)}
    path = f"events/{event.id}/photos/p1"
    return Written(db, path, event_id=f"write-{event.id}", after=photo)
