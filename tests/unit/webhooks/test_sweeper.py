"""The sweeper queues overdue deliveries again (design 2)."""

import inspect
import threading
from datetime import timedelta
from typing import Any

import pytest

import main
from functions.parameters import Parameters
from tests.in_memory.adapters import service_on
from tests.unit.webhooks.webhook_fixture import FAILURES, NOW, WebhookFixture


@pytest.mark.parametrize(("late", "swept"), [(0, 0), (120, 0), (120.001, 1), (86400, 1)])
def test_a_delivery_is_overdue_after_two_minutes(
    webhooks: WebhookFixture, late: float, swept: int
) -> None:
    """The task may still wait in a busy queue."""
    delivery = webhooks.delivery()
    webhooks.now += timedelta(seconds=late)
    assert webhooks.process().sweeper.sweep() == swept
    assert [task.data["deliveryId"] for task in webhooks.queued] == [delivery.id] * swept


def test_a_swept_delivery_gets_its_due_attempt(webhooks: WebhookFixture) -> None:
    """The task has the attempt's number and queue, and a name of this sweep."""
    delivery = webhooks.attempts(webhooks.delivery(), 500, 500)
    webhooks.now += timedelta(hours=1)
    webhooks.process().sweeper.sweep()
    task = webhooks.queued[-1]
    assert task.queue == "retryWebhookAfter5s"
    assert task.name.startswith(f"{delivery.id}-3-sweep")
    assert task.data["attempt"] == 3
    webhooks.attempt(delivery, 3)
    assert webhooks.record(delivery).outcome == "success"


def test_a_record_without_an_endpoint_is_swept(webhooks: WebhookFixture) -> None:
    """Records from before endpoints had IDs use the key of the URL."""
    delivery = webhooks.delivery()
    path = f"events/{delivery.event_id}/deliveries/{delivery.id}"
    fields = dict(webhooks.fields(path))
    webhooks.delete(path)
    webhooks.put(path, {name: value for name, value in fields.items() if name != "endpoint"})
    webhooks.now += timedelta(hours=1)
    assert webhooks.process().sweeper.sweep() == 1
    assert webhooks.record(delivery).endpoint == delivery.endpoint


def test_an_overdue_delivery_gets_tasks_when_its_lateness_has_doubled_and_every_hour(
    webhooks: WebhookFixture,
) -> None:
    """Its task may wait in a busy queue, and a queue deletes a failing task after an hour."""
    webhooks.delivery()
    tasks = {}
    for minutes in range(5, 245, 5):
        webhooks.now = NOW + timedelta(minutes=minutes)
        for _ in range(2):
            assert webhooks.process().sweeper.sweep() == 1
        tasks[minutes] = len(webhooks.queued)
    queued_at = [minutes for minutes in tasks if tasks[minutes] > tasks.get(minutes - 5, 0)]
    assert queued_at == [5, 10, 20, 35, 60, 120, 180, 240]
    assert len({task.name for task in webhooks.queued}) == 8


@pytest.mark.parametrize("answers", [[200], [500, 200], FAILURES])
def test_an_ended_delivery_is_not_swept(webhooks: WebhookFixture, answers: list[Any]) -> None:
    """Include skipped deliveries."""
    webhooks.attempts(webhooks.delivery(), *answers)
    webhooks.delivery(cause="another", disabled="why")
    webhooks.now += timedelta(days=1)
    queued = len(webhooks.queued)
    assert webhooks.process().sweeper.sweep() == 0
    assert len(webhooks.queued) == queued


def test_every_page_is_swept(webhooks: WebhookFixture) -> None:
    """Queue more deliveries than a page has."""
    made = [webhooks.delivery(cause=str(number)) for number in range(250)]
    webhooks.now += timedelta(minutes=3)
    webhooks.parameters = Parameters(deliveries_at_once=40)
    assert webhooks.process().sweeper.sweep() == 250
    assert {task.data["deliveryId"] for task in webhooks.queued} == {
        delivery.id for delivery in made
    }


def test_the_three_sweeps_run_concurrently(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are for overdue deliveries, failing endpoints and deleted events."""
    under_way = threading.Barrier(3)
    for sweep in (
        "handlers.webhook_triggers.sweep_deliveries",
        "handlers.webhook_triggers.sweep_endpoints",
        "handlers.wall_triggers.sweep",
    ):
        monkeypatch.setattr(f"functions.{sweep}", lambda _: under_way.wait(60))
    monkeypatch.setattr(main, "service", service_on)
    inspect.unwrap(main.sweepDeliveries)(None)
    assert not under_way.broken
