"""An unreadable record, for example after a rollback, does not affect others (design 3)."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from functions.firestore.model import Put
from functions.parameters import Parameters
from functions.webhooks.deliveries.delivery import Delivery, EndedWithin
from functions.webhooks.endpoints import endpoint_store
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.webhook_settings import endpoint_id
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.unit.webhooks.webhook_fixture import ADMIN, EVENT, NOW, OTHER, URL, WebhookFixture


@pytest.fixture
def webhooks(webhooks: WebhookFixture) -> WebhookFixture:
    """Return an event with two URLs and automatic recovery."""
    webhooks.subscribe(URL, OTHER, recover=[URL, OTHER])
    return webhooks


def path_of(delivery: Delivery) -> str:
    """Return the path of the record."""
    return f"events/{EVENT}/deliveries/{delivery.id}"


def make_unreadable(webhooks: WebhookFixture, path: str, **fields: object) -> None:
    """Write fields that this release cannot read to the document at `path`."""
    webhooks.put(path, {**webhooks.fields(path), **fields})


def swept(webhooks: WebhookFixture, *deliveries: Delivery) -> None:
    """Assert that the sweep queues exactly these overdue deliveries."""
    webhooks.now += timedelta(minutes=3)
    assert webhooks.process().sweeper.sweep() == len(deliveries)
    assert {task.data["deliveryId"] for task in webhooks.queued} == {late.id for late in deliveries}


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "photo.printed"},
        {"outcome": "paused"},
        {"attempts": 4},
        {"attempts": "none"},
        {"log": [{"attempt": 1}]},
        {"body": None, "log": None},
    ],
)
def test_a_sweep_logs_an_unreadable_delivery_and_continues(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str], fields: dict[str, object]
) -> None:
    """Log its path as an error."""
    first, bad, last = (webhooks.delivery(cause=cause) for cause in ("a", "b", "c"))
    make_unreadable(webhooks, path_of(bad), **fields)
    swept(webhooks, first, last)

    [line] = [line for line in capfd.readouterr().out.splitlines() if "record.unreadable" in line]
    assert json.loads(line)["path"] == path_of(bad)
    assert json.loads(line)["severity"] == "ERROR"


def resent(webhooks: WebhookFixture) -> int:
    """Resend all pages of two deliveries, and return the number of deliveries."""
    webhooks.parameters = Parameters(deliveries_at_once=2)
    after, count = None, 0
    selected = EndedWithin(since=NOW - timedelta(hours=1))
    while True:
        done = webhooks.process().actions.resend_page(EVENT, selected, after=after)
        count, after = count + done.resent, done.next
        if after is None:
            return count


def recovered(webhooks: WebhookFixture) -> int:
    """Acknowledge at both URLs, run the sweep, and return the number of redeliveries."""
    for url in (URL, OTHER):
        webhooks.attempts(webhooks.delivery(url=url, cause="arrived"), 204)
    webhooks.process().endpoint_sweep.sweep()
    return sum(record.round for record in webhooks.records)


def listed(webhooks: WebhookFixture) -> int:
    """Return the number of deliveries that the bearer of a link sees."""
    _, share = webhooks.process().log_links.create(EVENT, ADMIN, URL, timedelta(days=1))
    return len(webhooks.process().shared_log.read_page(EVENT, share.id).deliveries)


@pytest.mark.parametrize(("do", "found"), [(resent, 4), (recovered, 4), (listed, 2)])
def test_lists_omit_an_unreadable_delivery(
    webhooks: WebhookFixture, do: Callable[[WebhookFixture], int], found: int
) -> None:
    """Find the two other deliveries of each URL."""
    failed = [
        webhooks.failed(webhooks.delivery(url=url, cause=cause))
        for cause in "abc"
        for url in (URL, OTHER)
    ]
    for delivery in failed[2:4]:
        make_unreadable(webhooks, path_of(delivery), event="photo.printed")

    assert do(webhooks) == found


def test_an_unreadable_endpoint_does_not_affect_the_others(webhooks: WebhookFixture) -> None:
    """The sweep continues, and so does a task that records a failure."""
    for url in (URL, OTHER):
        webhooks.failed(webhooks.delivery(url=url))
    make_unreadable(webhooks, f"events/{EVENT}/endpoints/{endpoint_id(URL)}", told="puzzled")
    webhooks.failed(webhooks.delivery(cause="another"))

    assert recovered(webhooks) == 1


def test_a_trigger_continues_after_an_unreadable_delivery(webhooks: WebhookFixture) -> None:
    """Record and queue the delivery to the other URL."""
    photo = webhooks.photo()
    webhooks.process().publisher.photo_written("w1", EVENT, None, photo)
    bad, good = webhooks.records
    make_unreadable(webhooks, path_of(bad), outcome="paused")
    webhooks.delete(path_of(good))
    queued = len(webhooks.queued)
    webhooks.process().publisher.photo_written("w1", EVENT, None, photo)

    assert webhooks.record(good).outcome == "pending"
    assert len(webhooks.queued) == queued, "its task has the same name"


@pytest.mark.parametrize("path", ["deliveries/{}", "orders/o1/deliveries/{}"])
def test_an_apps_own_deliveries_are_left_alone(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str], path: str
) -> None:
    """A sweep reads all collections of the name, in which an app may have the same field."""
    late = webhooks.delivery()
    fields = webhooks.fields(path_of(late))
    webhooks.put(path.format("d1"), fields)
    webhooks.put(path.format("d2"), {"nextAttemptAt": fields["nextAttemptAt"]})
    swept(webhooks, late)
    assert "record.unreadable" not in capfd.readouterr().out


@pytest.mark.parametrize("path", ["endpoints/{}", "nodes/n1/endpoints/{}"])
def test_an_apps_own_endpoints_are_left_alone(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """However many of them are due, the record of an endpoint is found."""
    monkeypatch.setattr(endpoint_store, "DUE_AT_MOST", 3)
    documents = InMemoryDocuments(Firestore(lambda: NOW))
    store = EndpointStore(documents)
    store.note_failure(
        FailingEndpoint(
            event_id=EVENT,
            id=endpoint_id(URL),
            tenant_id="t1",
            url=URL,
            since=NOW,
            failed_at=NOW,
            due_at=NOW,
        )
    )
    earlier = NOW - timedelta(days=1)
    documents.commit(*(Put(path.format(n), {"dueAt": earlier}) for n in range(9)))
    assert [record.url for record in store.due(NOW)] == [URL]
    assert "record.unreadable" not in capfd.readouterr().out
