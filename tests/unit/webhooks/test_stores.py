"""What the stores of the webhooks write, and in which version."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from functions.firestore.model import AlreadyRecordedError, ChangedMeanwhileError, Delete
from functions.webhooks.deliveries.delivery import Attempt, Cursor, Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore
from functions.webhooks.failing_endpoints.failing_endpoint import FailingEndpoint, Standing
from functions.webhooks.message import EventType, Milestone
from functions.webhooks.wall_store import WallStore
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 18, 30, 0, 123456, UTC)
EVENT: Final = "e1"
REACHED: Final = Milestone(number=100, photo_id="p1", reached_at=NOW)


@pytest.fixture
def documents() -> InMemoryDocuments:
    """Nothing is there."""
    return InMemoryDocuments(Firestore(lambda: NOW))


@pytest.fixture
def deliveries(documents: InMemoryDocuments) -> DeliveryStore:
    """The records of deliveries."""
    return DeliveryStore(documents)


def delivery(cause: str = "w1", url: str = "https://example.com/hook", **fields: Any) -> Delivery:
    """A new delivery."""
    return Delivery.create(
        cause=cause,
        event_id=EVENT,
        event_type=EventType.PHOTO_UPLOADED,
        url=url,
        data={"text": "ü"},
        now=NOW,
        **fields,
    )


def attempted(made: Delivery, status: int | None, answer: str | None = None) -> Delivery:
    """The delivery after its next attempt."""
    attempt = Attempt(
        number=made.due_attempt,
        at=NOW,
        status=status,
        milliseconds=12,
        error=None if status else "no answer",
        round=made.round,
        answer=answer,
    )
    return made.after(attempt)


def recorded(store: DeliveryStore, made: Delivery) -> Delivery:
    """The delivery as it is recorded."""
    found = store.load(EVENT, made.id)
    assert found is not None
    return found


def test_what_is_created_is_found_as_it_was(deliveries: DeliveryStore) -> None:
    """Every field, of each sort of delivery."""
    made = [
        delivery("1"),
        delivery("2", url=""),
        delivery("3", disabled="nobody answers"),
        delivery("4", test=True),
        attempted(attempted(delivery("5"), None), 204),
        attempted(delivery("6"), 404, answer="no such route"),
    ]
    deliveries.create(EVENT, made)
    by_id = {found.id: found for found in made}

    assert deliveries.find(EVENT, [*by_id, "another"]) == by_id
    assert deliveries.load(EVENT, "another") is None


def test_a_commit_creates_all_or_none(
    deliveries: DeliveryStore, documents: InMemoryDocuments
) -> None:
    """A recorded delivery or milestone keeps all others out (design 2)."""
    there, fresh = delivery("there"), delivery("fresh")
    deliveries.create(EVENT, [there], [replace(REACHED, number=500)])
    for others, number in (([fresh, there], 100), ([fresh], 500)):
        with pytest.raises(AlreadyRecordedError):
            deliveries.create(EVENT, others, [replace(REACHED, number=number)])

    assert deliveries.load(EVENT, fresh.id) is None
    assert WallStore(documents).milestones(EVENT, [100, 500]) == {500: "p1"}


def test_a_save_changes_the_progress_and_nothing_else(deliveries: DeliveryStore) -> None:
    """What the delivery says stays as it was."""
    deliveries.create(EVENT, [delivery(test=True)])
    begun = replace(recorded(deliveries, delivery()), begun=1, slow=True)
    deliveries.save(begun)
    assert recorded(deliveries, begun) == begun
    done = attempted(recorded(deliveries, begun), None)
    deliveries.save(replace(done, url="another", body="another"))
    assert recorded(deliveries, done) == done


def test_a_restart_takes_the_reason_away(deliveries: DeliveryStore) -> None:
    """The next round has the present URL and endpoint."""
    deliveries.create(EVENT, [delivery(disabled="nobody answers")])
    again = recorded(deliveries, delivery()).redelivered(
        NOW + timedelta(hours=1), url="https://example.com/right", endpoint="a"
    )
    deliveries.restart(again)

    assert recorded(deliveries, again) == again
    assert again.reason is None


@pytest.mark.parametrize("write", [DeliveryStore.save, DeliveryStore.restart])
@pytest.mark.parametrize("meanwhile", ["saved", "restarted", "deleted"])
def test_a_delivery_is_written_in_the_version_that_was_read(
    deliveries: DeliveryStore,
    documents: InMemoryDocuments,
    write: Callable[[DeliveryStore, Delivery], None],
    meanwhile: str,
) -> None:
    """A later write is not overwritten; Firestore's TTL policy may have deleted the record."""
    deliveries.create(EVENT, [attempted(delivery(), 204)])
    read = recorded(deliveries, delivery())
    match meanwhile:
        case "saved":
            deliveries.save(replace(read, begun=1))
        case "restarted":
            deliveries.restart(read.redelivered(NOW))
        case _:
            documents.commit(Delete(f"events/{EVENT}/deliveries/{read.id}"))
    before = deliveries.load(EVENT, read.id)
    with pytest.raises(ChangedMeanwhileError):
        write(deliveries, read.redelivered(NOW))

    assert deliveries.load(EVENT, read.id) == before


def test_deliveries_that_ended_at_the_same_moment_are_turned_by_their_ids(
    deliveries: DeliveryStore,
) -> None:
    """Oldest end first; both limits are part of the period."""
    ends = {"d0": 1, "d1": 0, "d2": 1, "d3": 1, "d4": 2, "early": -0.001, "late": 2.001}
    failed = replace(delivery(), outcome=Outcome.FAILED, next_attempt_at=None)
    deliveries.create(
        EVENT,
        [
            replace(failed, id=name, ended_at=NOW + timedelta(seconds=end))
            for name, end in ends.items()
        ],
    )
    wanted = EndedWithin(since=NOW, until=NOW + timedelta(seconds=2))
    found: list[Delivery] = []
    while True:
        last = Cursor(found[-1].ended_at or NOW, found[-1].id) if found else None
        page = deliveries.ended(EVENT, wanted, last, 2)
        found += page
        if len(page) < 2:
            break

    assert [delivery.id for delivery in found] == ["d1", "d0", "d2", "d3", "d4"]
    assert deliveries.count_ended(EVENT, wanted) == 5


def test_what_workers_note_of_an_endpoint_stays_beside_a_sweep(
    documents: InMemoryDocuments,
) -> None:
    """A sweep saves and forgets what it has read; notes change their own fields alone."""
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
    assert not store.note_failure(EVENT, "a", NOW)
    store.create(record)
    with pytest.raises(AlreadyRecordedError):
        store.create(record)
    [read] = store.due(NOW)
    assert read == record

    assert store.note_failure(EVENT, "a", later)
    for write in (store.save, store.forget):
        with pytest.raises(ChangedMeanwhileError):
            write(read)
    store.note_notice(read.notified(Standing.FAILING, NOW))
    [again] = store.of_event(EVENT)
    assert again == replace(record, reported=Standing.FAILING, reported_at=NOW, failed_at=later)
    store.forget(again)
    for write in (store.save, store.note_notice):
        with pytest.raises(ChangedMeanwhileError):
            write(again)
