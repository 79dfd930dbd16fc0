"""Exact cost of webhooks in calls and documents. A change that costs more fails here.

Calls and documents are counted at the client, and are the same on every machine.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from bench.costs import COSTS
from emulator.mailbox import Mailbox
from emulator.receiver import always
from functions.firestore.client import documents
from functions.process import CLOCK, webhook_sender
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import REMOVED, endpoint_id
from functions.webhooks.worker import Worker
from tests.in_memory.adapters import service_on
from tests.in_memory.records import ended_delivery
from tests.suite.operations import Operations, counting_service, mailing_service
from tests.suite.process import local_parameters
from tests.suite.wall_client import Wall, receiving

ALL: Final = [event_type.value for event_type in EventType]
NO_GUESTS: Final = [item for item in ALL if item != "guest.joined"]
UPLOADS: Final = ["photo.uploaded"]
URL: Final = "https://example.com/hook"
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""A time at which a sweep finds only the due records of its test."""


def now() -> datetime:
    """Return the time of the clock."""
    return datetime.now(UTC)


def photo(status: str | None) -> Photo | None:
    """Return a photo of a guest with an address."""
    fields = {"status": status, "uploaderEmail": "ann@example.com"}
    return Photo.read("p1", fields, created=now(), updated=now()) if status else None


@pytest.mark.parametrize(
    ("what", "urls", "events", "before", "after"),
    [
        ("a photo, no URL", 0, ALL, None, "pending"),
        ("a photo, a URL for photo.uploaded only", 1, UPLOADS, None, "pending"),
        ("a photo, a URL for everything except guest.joined", 1, NO_GUESTS, None, "pending"),
        ("a photo, a URL for everything, a new guest", 1, ALL, None, "pending"),
        ("a photo, 20 URLs for everything, a new guest", 20, ALL, None, "pending"),
        ("an approval, one URL", 1, ALL, "pending", "approved"),
        ("an edit", 1, ALL, "approved", "approved"),
    ],
)
def test_the_cost_of_a_photo(
    wall: Wall,
    counted: Operations,
    what: str,
    urls: int,
    events: list[str],
    before: str | None,
    after: str,
) -> None:
    """One commit, and reads of the settings, and of count and first photo if a URL wants them."""
    wall.configure(*({"url": f"{URL}/{n}", "events": events} for n in range(urls)))
    service = counting_service(counted)
    service.fair_queue.delay_for(wall.id)  # a process reads the tenant of an event once
    counted.clear()
    service.publisher.photo_written(f"w-{wall.id}", wall.id, photo(before), photo(after))
    assert counted.cost() == COSTS[what]


def test_the_cost_of_a_new_event(wall: Wall, counted: Operations) -> None:
    """A new event gets a secret, and receivers get no message."""
    draft = WallEvent.read({"status": "draft"}, updated=now())
    counting_service(counted).publisher.event_written(f"w-{wall.id}", wall.id, None, draft)
    assert counted.cost() == COSTS["a new event"]


@pytest.fixture
def worker(counted: Operations, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """Return the use case of the workers."""
    for name, value in local_parameters().items():
        monkeypatch.setenv(name, value)
    sender = webhook_sender()
    service = counting_service(counted, sender=lambda: sender)
    # The attempts of a test follow each other at once; the retries of a delivery do not.
    yield replace(service.worker, settings_kept=timedelta(0))
    sender.adapter.watch.close()


@pytest.mark.parametrize("notify", [[], ["ann@example.com"]])
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("a delivery that succeeds", 200),
        ("a delivery that begins late and succeeds", 200),
        ("a delivery that fails four times", 500),
    ],
)
def test_the_cost_of_a_delivery(
    wall: Wall,
    worker: Worker,
    counted: Operations,
    what: str,
    status: int,
    notify: list[str],
) -> None:
    """One read, one write and one POST an attempt, in a worker that has delivered once.

    A retry and a late first attempt read the settings, and a first attempt on time does not.
    Once it has failed, the record of its endpoint is read and made.
    """
    with receiving({"/hook": always(status), "/warm": always()}) as receiver:
        for path in ("/warm", "/hook"):
            wall.configure({"url": receiver.url(path), "events": UPLOADS}, notify=notify)
            publisher = counting_service(counted).publisher
            publisher.photo_written(f"{path}-{wall.id}", wall.id, None, photo("pending"))
        warm, first = counted.tasks
        worker.attempt(AttemptRequest.read(warm.data))
        counted.clear()
        counted.tasks.append(first)
        made = 0
        while made < len(counted.tasks):
            data: Any = counted.tasks[made].data
            made += 1
            record = wall.event.collection("deliveries").document(data["deliveryId"])
            late = timedelta(seconds=6 if "late" in what else 0)
            record.update({"nextAttemptAt": now(), "createdAt": now() - late})
            worker.attempt(AttemptRequest.read(data))
        del counted.tasks[0]
        assert counted.cost(posts=len(receiver.to("/hook"))) == COSTS[what]


@pytest.mark.parametrize("urls", [[], ["https://example.com/other"]])
def test_the_cost_of_a_delivery_to_a_removed_url(
    wall: Wall, worker: Worker, counted: Operations, urls: list[str]
) -> None:
    """Nothing is sent, and the earlier attempt stays in the record."""
    with receiving({"/hook": always(500)}) as receiver:
        wall.configure({"url": receiver.url("/hook"), "events": UPLOADS})
        counting_service(counted).publisher.photo_written(wall.id, wall.id, None, photo("pending"))
        data: Any = counted.tasks[0].data
        worker.attempt(AttemptRequest.read(data))
        wall.configure(*urls)
        record = wall.event.collection("deliveries").document(data["deliveryId"])
        record.update({"nextAttemptAt": now()})
        retry: Any = counted.tasks[1].data
        counted.clear()
        skipped = worker.attempt(AttemptRequest.read(retry))
        assert (
            counted.cost(posts=len(receiver.to("/hook")) - 1)
            == COSTS["a delivery whose URL was removed before a retry"]
        )
    assert skipped is not None
    stored = DeliveryStore(documents()).load(wall.id, skipped.id)
    assert stored == skipped
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIPPED, REMOVED)
    assert [attempt.status for attempt in skipped.log] == [500]


def _failed(event_id: str, at: datetime, count: int, *urls: str) -> None:
    """So many deliveries to each URL have failed, and the first failure is noted."""
    failures = service_on(
        documents(), clock=replace(CLOCK, now=lambda: at), sender=lambda: None
    ).worker.failures
    for url in urls:
        failed = [
            ended_delivery(
                f"failed-{number}-{endpoint_id(url)}",
                url,
                at + timedelta(milliseconds=number),
                event_id=event_id,
                created_at=at,
            )
            for number in range(count)
        ]
        DeliveryStore(documents()).create(event_id, failed)
        failures.note(failed[0])


def test_the_cost_of_a_notice(wall: Wall, counted: Operations) -> None:
    """Five failures in a row cause one email. The second task finds that it was sent."""
    wall.configure(URL, notify=["ann@example.com"])
    _failed(wall.id, now(), 5, URL)
    with Mailbox() as mailbox:
        here = mailing_service(counted, mailbox)
        here.notifier.notify(wall.id)
        assert counted.cost(mail_requests=len(mailbox.requests)) == COSTS["a notice"]
        here.notifier.notify(wall.id)
        assert len(mailbox.requests) == 1


@pytest.mark.parametrize(
    ("what", "urls", "failures", "further"),
    [
        ("a check of an endpoint that fails", 1, 3, {"notify": ["ann@example.com"]}),
        ("a sweep over 20 endpoints of an event", 20, 1, {"recover": [URL]}),
    ],
)
def test_the_cost_of_a_sweep(
    wall: Wall,
    counted: Operations,
    what: str,
    urls: int,
    failures: int,
    further: dict[str, Any],
) -> None:
    """The sweep reads failures without a notice, and failures whose receiver has not recovered."""
    at = [f"{URL}/{number}" for number in range(urls)]
    wall.configure(*at, **further)
    _failed(wall.id, LONG_AGO - timedelta(minutes=1), failures, *at)
    here = counting_service(counted, clock=replace(CLOCK, now=lambda: LONG_AGO))
    assert here.endpoint_sweep.sweep() == urls
    assert counted.cost() == COSTS[what]
