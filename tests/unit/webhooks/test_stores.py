"""The documents of the webhooks' stores, and the versions that their writes require."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint, NoticeState
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 18, 30, 0, 123456, UTC)
EVENT: Final = "e1"


@pytest.fixture
def documents() -> InMemoryDocuments:
    """Return a database without documents."""
    return InMemoryDocuments(Firestore(lambda: NOW))


def test_a_sweep_does_not_overwrite_failures_recorded_by_workers(
    documents: InMemoryDocuments,
) -> None:
    """A sweep writes only the version that it has read. Workers change only their own fields."""
    store, later = EndpointStore(documents), NOW + timedelta(hours=1)
    record = FailingEndpoint(
        event_id=EVENT,
        id="a",
        tenant_id="t1",
        url="https://example.com/hook",
        since=NOW,
        failed_at=NOW,
        due_at=NOW,
    )
    store.note_failure(record)
    [read] = store.due(NOW)
    assert read == record

    store.note_failure(replace(record, since=later, failed_at=later, due_at=later))
    with pytest.raises(ChangedMeanwhileError):
        store.save(read)
    store.forget(read)
    store.note_notice(read, NoticeState.FAILING, NOW)
    [again] = store.of_event(EVENT)
    assert again == replace(record, reported=NoticeState.FAILING, reported_at=NOW, failed_at=later)
    store.forget(again)
    store.note_notice(again, NoticeState.FAILING, NOW)
    assert not store.of_event(EVENT)
