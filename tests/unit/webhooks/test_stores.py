"""The documents of the webhooks' stores, and the versions that their writes require."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.deliveries.delivery import Attempt, Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint, NoticeState
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.records import new_delivery

NOW: Final = datetime(2026, 5, 1, 18, 30, 0, 123456, UTC)
EVENT: Final = "e1"


@pytest.fixture
def documents() -> InMemoryDocuments:
    """Return a database without documents."""
    return InMemoryDocuments(Firestore(lambda: NOW))


@pytest.fixture
def deliveries(documents: InMemoryDocuments) -> DeliveryStore:
    """Return the store of deliveries."""
    return DeliveryStore(documents)


def attempted(made: Delivery, status: int | None, answer: str | None = None) -> Delivery:
    """Return the delivery after its next attempt."""
    attempt = Attempt(
        number=made.due_attempt,
        at=NOW,
        status=status,
        milliseconds=12,
        error=None if status else "no answer",
        round=made.round,
        answer=answer,
    )
    return made.with_attempt(attempt)


def recorded(store: DeliveryStore, made: Delivery) -> Delivery:
    """Return the recorded delivery."""
    found = store.load(EVENT, made.id)
    assert found is not None
    return found


def test_a_created_delivery_is_read_with_all_its_fields(deliveries: DeliveryStore) -> None:
    """Design 4: create deliveries of every kind."""
    made = [
        new_delivery("1"),
        new_delivery("2", url=""),
        new_delivery("3", disabled="no answer"),
        new_delivery("4", test=True),
        attempted(attempted(new_delivery("5"), None), 204),
        attempted(new_delivery("6"), 404, answer="no such route"),
    ]
    deliveries.create(EVENT, made)
    by_id = {found.id: found for found in made}

    assert deliveries.find(EVENT, [*by_id, "another"]) == by_id
    assert deliveries.load(EVENT, "another") is None


def test_a_save_changes_only_the_progress(deliveries: DeliveryStore) -> None:
    """Design 2: the body never changes. A redelivery also changes URL and endpoint."""
    deliveries.create(EVENT, [new_delivery(test=True)])
    begun = replace(recorded(deliveries, new_delivery()), begun=1, slow=True)
    deliveries.save(begun)
    assert recorded(deliveries, begun) == begun
    done = attempted(recorded(deliveries, begun), None)
    deliveries.save(replace(done, url="another", body="another"))
    assert recorded(deliveries, done) == done
    ended = replace(recorded(deliveries, done), outcome=Outcome.FAILED, next_attempt_at=None)
    again = ended.redelivered(NOW, url="https://example.com/right", endpoint="a")
    deliveries.restart(replace(again, body="another"))
    assert recorded(deliveries, again) == again
    retried = attempted(recorded(deliveries, again), 500)
    deliveries.save(retried)
    assert [attempt.round for attempt in recorded(deliveries, again).log] == [0, 1]


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
