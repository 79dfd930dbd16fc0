"""What webhooks cost, as exact numbers: a change that costs more shows itself here.

Calls and documents are counted at the client; they are the same on every machine.
"""

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from google.cloud import firestore

from emulator.receiver import always
from functions.gcp.documents import Documents, documents
from functions.side_by_side import Threads
from functions.wall.photo import Photo
from functions.webhooks import wiring
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.endpoint_health import EndpointHealth
from functions.webhooks.failure_marks import FailureMarks
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import MILESTONES
from functions.webhooks.publisher import Publisher
from functions.webhooks.store.delivery_store import DeliveryStore
from functions.webhooks.store.notice_store import NoticeStore
from functions.webhooks.store.secret_store import SecretStore
from functions.webhooks.store.settings_store import SettingsStore
from functions.webhooks.store.wall_store import WallStore
from functions.webhooks.worker import Worker
from tests.suite.costs import COSTS
from tests.suite.operations import Operations, counting_client, counting_documents
from tests.suite.process import background_triggers_off, local_parameters

ALL = [one.value for one in EventType]
NO_GUESTS = [one for one in ALL if one != "guest.joined"]


def now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


def photo(status: str) -> Photo:
    """A photo of a guest with an address."""
    fields = {"status": status, "uploaderEmail": "ann@example.com"}
    return Photo.read("p1", fields, created=now(), updated=now())


@pytest.fixture
def counted() -> Operations:
    """The counts of this test."""
    return Operations()


@pytest.fixture
def client(db: firestore.Client, counted: Operations) -> firestore.Client:
    """A client whose calls are counted."""
    return counting_client(db.project, os.environ["FIRESTORE_EMULATOR_HOST"], counted)


@pytest.fixture
def counting(db: firestore.Client, counted: Operations) -> Documents:
    """Documents whose calls are counted."""
    return counting_documents(db.project, os.environ["FIRESTORE_EMULATOR_HOST"], counted)


@pytest.fixture
def publisher(counting: Documents, counted: Operations) -> Publisher:
    """The triggers' part, with a queue that only counts."""
    return _publisher(WallStore(counting), DeliveryStore(counting), counted)


def _publisher(wall: WallStore, deliveries: DeliveryStore, queue: Operations) -> Publisher:
    return Publisher(
        wall=wall,
        deliveries=deliveries,
        queue=queue,
        side_by_side=Threads(20, "enqueue"),
        now=now,
        monotonic=time.monotonic,
    )


@pytest.mark.parametrize(
    ("what", "urls", "events"),
    [
        ("a photo, no URL", 0, ALL),
        ("a photo, a URL for photo.uploaded alone", 1, ["photo.uploaded"]),
        ("a photo, a URL for all but guest.joined", 1, NO_GUESTS),
        ("a photo, a URL for everything, a new guest", 1, ALL),
        ("a photo, 20 URLs for everything, a new guest", 20, ALL),
    ],
)
def test_an_upload(
    event: firestore.DocumentReference,
    publisher: Publisher,
    counted: Operations,
    what: str,
    urls: int,
    events: list[str],
) -> None:
    """Settings, count and first photo where somebody asks for them, and one commit."""
    entries = [{"url": f"https://example.com/{n}", "events": events} for n in range(urls)]
    event.collection("settings").document("webhooks").set({"urls": entries})
    publisher.photo_written(f"w-{event.id}", event.id, None, photo("pending"))
    assert counted.cost() == COSTS[what]


def test_a_count_goes_no_further_than_it_is_looked_at(
    event: firestore.DocumentReference, counted: Operations
) -> None:
    """Each thousand counted costs a read, and nothing changes beyond the last milestone."""
    with background_triggers_off():
        for number in range(3):
            event.collection("photos").document(f"p{number}").set({"status": "pending"})
    wall = WallStore(documents())
    assert (wall.count_photos(event.id), wall.count_photos(event.id, at_most=2)) == (3, 2)
    full = Full(documents())
    publisher = _publisher(full, DeliveryStore(documents()), counted)
    event.collection("settings").document("webhooks").set({"urls": ["https://example.com/"]})
    for number in MILESTONES:
        event.collection("milestones").document(str(number)).set({"photoId": "another"})
    for number in range(3):
        publisher.photo_written(f"w{number}-{event.id}", event.id, None, photo("pending"))
    assert full.counted_at_most == [MILESTONES[-1]], "once, and not with every upload"


class Full(WallStore):
    """An event that has all the photos there are milestones for."""

    def __init__(self, of: Documents) -> None:
        super().__init__(of)
        self.counted_at_most: list[int | None] = []

    def count_photos(self, event_id: str, at_most: int | None = None) -> int:  # noqa: ARG002
        """The last milestone."""
        self.counted_at_most.append(at_most)
        return MILESTONES[-1]


def test_an_approval(
    event: firestore.DocumentReference, publisher: Publisher, counted: Operations
) -> None:
    """Settings, and one commit."""
    event.collection("settings").document("webhooks").set({"urls": ["https://example.com/"]})
    publisher.photo_written(f"w-{event.id}", event.id, photo("pending"), photo("approved"))
    assert counted.cost() == COSTS["an approval, one URL"]


def test_an_edit(
    event: firestore.DocumentReference, publisher: Publisher, counted: Operations
) -> None:
    """A write that means nothing costs nothing."""
    event.collection("settings").document("webhooks").set({"urls": ["https://example.com/"]})
    publisher.photo_written(f"w-{event.id}", event.id, photo("approved"), photo("approved"))
    assert counted.cost() == COSTS["an edit"]


@pytest.fixture
def worker(
    client: firestore.Client,
    counting: Documents,
    counted: Operations,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Worker]:
    """The workers' part, warm: it has delivered once."""
    for name, value in local_parameters().items():
        monkeypatch.setenv(name, value)
    sender = wiring.sender()
    deliveries = DeliveryStore(counting, lambda: client)
    endpoint_health = EndpointHealth(
        deliveries=deliveries,
        settings=SettingsStore(lambda: client),
        marks=FailureMarks(notices=NoticeStore(counting), queue=counted, now=now),
        now=now,
        monotonic=time.monotonic,
    )
    yield Worker(
        deliveries=deliveries,
        secrets=SecretStore(counting, now=now, monotonic=time.monotonic),
        sender=sender,
        queue=counted,
        endpoint_health=endpoint_health,
        now=now,
        monotonic=time.monotonic,
        sleep=time.sleep,
    )
    sender.close()


@pytest.mark.parametrize(
    ("what", "status"),
    [("a delivery that succeeds", 200), ("a delivery that fails four times", 500)],
)
def test_a_delivery(
    event: firestore.DocumentReference,
    publisher: Publisher,
    worker: Worker,
    counted: Operations,
    receiving: Callable[..., Any],
    what: str,
    status: int,
) -> None:
    """One read, one write and one POST an attempt, on a connection and a secret that are kept.

    One more read once it has failed: whether its URL is to be given up.
    """
    with receiving({"/hook": always(status), "/warm": always()}) as receiver:
        settings = event.collection("settings").document("webhooks")
        for path in ("/warm", "/hook"):
            settings.set({"urls": [{"url": receiver.url(path), "events": ["photo.uploaded"]}]})
            publisher.photo_written(f"{path}-{event.id}", event.id, None, photo("pending"))
        warm, first = counted.tasks
        worker.attempt(AttemptRequest.read(warm.data))
        counted.clear()
        counted.tasks.append(first)
        made = 0
        while made < len(counted.tasks):
            task = counted.tasks[made]
            _make_due(event, task.data)
            worker.attempt(AttemptRequest.read(task.data))
            made += 1
        del counted.tasks[0]
        assert counted.cost(posts=len(receiver.to("/hook"))) == COSTS[what]


def _make_due(event: firestore.DocumentReference, data: Any) -> None:
    event.collection("deliveries").document(data["deliveryId"]).update({"nextAttemptAt": now()})
