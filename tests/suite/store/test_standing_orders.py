"""Standing orders on the real records and the ones in memory, and a sweep of them (spec 6.5)."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from google.cloud import firestore

from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.gcp.documents import documents
from functions.side_by_side import Threads
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.next_round import NextRound
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.recovery.outage_marks import OutageMarks
from functions.webhooks.recovery.ports import StandingOrders
from functions.webhooks.recovery.recoverer import Recoverer
from functions.webhooks.recovery.standing_order import StandingOrder
from functions.webhooks.recovery.store import StandingOrderStore
from functions.webhooks.settings.store import SettingsStore
from tests.in_memory.database import Database
from tests.in_memory.webhooks import InMemoryOrders
from tests.suite.operations import Operations

LONG_AGO: Final = datetime(2001, 1, 1, tzinfo=UTC)
"""Before everything else in this project."""
URL: Final = "https://example.com/hook"


@dataclass(frozen=True, slots=True)
class Ground:
    """An event and the adapter."""

    event_id: str
    orders: StandingOrders


@pytest.fixture(params=["in memory", "in Firestore"])
def ground(request: pytest.FixtureRequest, event_id: str) -> Ground:
    """Each of them."""
    if request.param == "in memory":
        return Ground(event_id, InMemoryOrders(Database(lambda: LONG_AGO)))
    return Ground(event_id, StandingOrderStore(documents()))


def test_an_order_is_found_as_it_was_and_saved_as_it_was_read(ground: Ground) -> None:
    """Of two writers the second one reads again."""
    orders, event_id = ground.orders, ground.event_id
    assert orders.load(event_id, URL) is None
    first = StandingOrder(event_id=event_id, url=URL, since=LONG_AGO, look_at=LONG_AGO)
    orders.create(first)
    with pytest.raises(AlreadyRecordedError):
        orders.create(replace(first, resent=1))
    found = orders.load(event_id, URL)
    assert found
    assert found.order == first
    ran = first.ran(3, LONG_AGO).due(None)
    orders.save(ran, found.version)
    with pytest.raises(ChangedMeanwhileError):
        orders.save(first, found.version)
    again = orders.load(event_id, URL)
    assert again
    assert again.order == ran


def test_orders_are_due_in_the_order_of_their_looks(ground: Ground) -> None:
    """An order at rest is never due."""
    for minutes, url in ((2, "b"), (1, "a"), (3, "c")):
        order = StandingOrder(event_id=ground.event_id, url=url, since=LONG_AGO)
        ground.orders.create(order.due(LONG_AGO + timedelta(minutes=minutes)))
    ground.orders.create(StandingOrder(event_id=ground.event_id, url="d", since=LONG_AGO))
    until = LONG_AGO + timedelta(minutes=2)
    found = [stored.order.url for stored in ground.orders.waiting(until, 10)]
    assert found == ["a", "b"]
    [first] = ground.orders.waiting(until, 1)
    ground.orders.save(first.order.due(None), first.version)
    [second] = ground.orders.waiting(until, 10)
    ground.orders.save(second.order.due(None), second.version)


def test_a_sweep_sends_again_what_the_receiver_missed(event: firestore.DocumentReference) -> None:
    """On Firestore: the failures before the acknowledgement, each once, with a task."""
    event.collection("settings").document("webhooks").set({"urls": [{"url": URL, "recover": True}]})
    now = datetime.now(UTC)
    queued = Operations()
    real = documents()
    deliveries = DeliveryStore(real)
    settings = SettingsStore(real)
    orders = StandingOrderStore(real)

    def ended(outcome: Outcome, seconds: float) -> Delivery:
        at = now + timedelta(seconds=seconds)
        return Delivery(
            id=f"{outcome}-{seconds:.0f}",
            event_id=event.id,
            event_type=EventType.PHOTO_UPLOADED,
            url=URL,
            body="{}",
            created_at=at,
            outcome=outcome,
            attempts=4,
            ended_at=at,
        )

    missed = [ended(Outcome.FAILED, seconds) for seconds in (10, 20)]
    deliveries.create(event.id, [*missed, ended(Outcome.SUCCESS, 30)])

    def clock() -> datetime:
        return now + timedelta(minutes=1)

    OutageMarks(orders, clock).mark(event.id, URL, settings.load(event.id).written_at)
    recoverer = Recoverer(
        orders=orders,
        settings=settings,
        deliveries=deliveries,
        next_round=NextRound(deliveries, queued.enqueue, Pace(80, lambda: 0.0, str), clock),
        side_by_side=Threads(2, "recovery"),
        now=clock,
    )
    assert recoverer.sweep() == 2
    assert recoverer.sweep() == 0
    stored = [deliveries.load(event.id, delivery.id) for delivery in missed]
    assert [
        (stored_delivery.outcome, stored_delivery.round)
        for stored_delivery in stored
        if stored_delivery
    ] == [(Outcome.PENDING, 1)] * 2
    assert queued.cost().tasks == 2
    found = orders.load(event.id, URL)
    assert found
    assert (found.order.resent, found.order.ran_at) == (2, clock())
    orders.save(found.order.due(None), found.version)
