"""What webhooks cost, as exact numbers: a change that costs more shows itself here.

Calls and documents are counted at the client; they are the same on every machine.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.cloud import firestore

from bench.costs import COSTS
from emulator.mailbox import Mailbox
from emulator.receiver import always
from functions.clock import Clock
from functions.documents.documents import Documents
from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.mail.sender import MailSender
from functions.mail.sendgrid import SendGridMailer
from functions.parallel import Threads
from functions.signed_links.limiter import Limiter
from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent
from functions.webhooks.attempts.prompt_receivers import PromptReceivers
from functions.webhooks.attempts.worker import Worker
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Attempt, Delivery, Outcome
from functions.webhooks.deliveries.next_round import NextRound
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.deliveries.tenants import Tenants
from functions.webhooks.endpoints.failures import Failures
from functions.webhooks.endpoints.store import EndpointStore
from functions.webhooks.endpoints.sweep import EndpointSweep
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import MILESTONES
from functions.webhooks.milestones import Milestones
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.notices.people import People
from functions.webhooks.publisher import Publisher
from functions.webhooks.sender import wiring
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import key
from functions.webhooks.signing.wiring import secrets_in
from functions.webhooks.store import WallStore
from tests.suite.operations import Operations, counting_documents
from tests.suite.process import local_parameters, silenced

ALL = [event_type.value for event_type in EventType]
NO_GUESTS = [item for item in ALL if item != "guest.joined"]


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
def counting(counted: Operations) -> Documents:
    """Documents whose calls are counted."""
    return counting_documents(counted)


@pytest.fixture
def publisher(counting: Documents, counted: Operations) -> Publisher:
    """The triggers' part, with a queue that only counts."""
    return _publisher(WallStore(counting), counting, counted)


def _publisher(wall: WallStore, records: Documents, queue: Operations) -> Publisher:
    return Publisher(
        wall=wall,
        settings=SettingsStore(records),
        deliveries=DeliveryStore(records),
        secrets=secrets_in(records),
        enqueue=queue.enqueue,
        pace=Pace(1_000, time.monotonic, str),
        in_parallel=Threads(20, "enqueue"),
        clock=CLOCK,
        milestones=Milestones(wall, time.monotonic),
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


def test_a_new_event(
    event: firestore.DocumentReference, publisher: Publisher, counted: Operations
) -> None:
    """A new event gets a secret; receivers hear nothing of it."""
    draft = WallEvent.read({"status": "draft"}, updated=now())
    publisher.event_written(f"w-{event.id}", event.id, None, draft)
    assert counted.cost() == COSTS["a new event"]
    made = event.collection("secrets").document("webhooks").get().get("secret")
    publisher.event_written(f"w-{event.id}", event.id, None, draft)
    assert event.collection("secrets").document("webhooks").get().get("secret") == made


def test_a_count_goes_no_further_than_it_is_looked_at(
    event: firestore.DocumentReference, counted: Operations
) -> None:
    """Each thousand counted costs a read, and nothing changes beyond the last milestone."""
    with silenced(event.id):
        for number in range(3):
            event.collection("photos").document(f"p{number}").set({"status": "pending"})
    wall = WallStore(documents())
    assert (wall.count_photos(event.id), wall.count_photos(event.id, at_most=2)) == (3, 2)
    full = Full(documents())
    publisher = _publisher(full, documents(), counted)
    event.collection("settings").document("webhooks").set({"urls": ["https://example.com/"]})
    for number in MILESTONES:
        event.collection("milestones").document(str(number)).set({"photoId": "another"})
    for number in range(3):
        publisher.photo_written(f"w{number}-{event.id}", event.id, None, photo("pending"))
    assert full.counted_at_most == [MILESTONES[-1]], "once, and not with every upload"


@dataclass(frozen=True)
class Full(WallStore):
    """An event that has all the photos there are milestones for."""

    counted_at_most: list[int | None] = field(default_factory=list)

    def count_photos(
        self, _: str, at_most: int | None = None, until: datetime | None = None
    ) -> int:
        """The last milestone."""
        assert until is None
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
    counting: Documents,
    counted: Operations,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Worker]:
    """The workers' part, warm: it has delivered once."""
    for name, value in local_parameters().items():
        monkeypatch.setenv(name, value)
    sender = wiring.sender()
    deliveries = DeliveryStore(counting)
    tenants = Tenants(counting, time.monotonic)
    yield Worker(
        deliveries=deliveries,
        secrets=secrets_in(counting),
        sender=sender,
        tenant_of=tenants.of,
        enqueue=counted.enqueue,
        slow_pace=Pace(1_000, time.monotonic, str),
        failures=Failures(EndpointStore(counting), tenants.of, CLOCK),
        clock=CLOCK,
        prompt_receivers=PromptReceivers(time.monotonic, tenants.of),
    )
    sender.close()


@pytest.mark.parametrize(
    ("what", "status", "notify"),
    [
        ("a delivery that succeeds", 200, []),
        ("a delivery that succeeds", 200, ["ann@example.com"]),
        ("a delivery that fails four times", 500, []),
        ("a delivery that fails four times", 500, ["ann@example.com"]),
    ],
)
def test_a_delivery(
    event: firestore.DocumentReference,
    publisher: Publisher,
    worker: Worker,
    counted: Operations,
    receiving: Callable[..., Any],
    what: str,
    status: int,
    notify: list[str],
) -> None:
    """One read, one write and one POST an attempt; connection, secret and tenant are kept.

    Once it has failed, the record of its endpoint is read and made.
    """
    with receiving({"/hook": always(status), "/warm": always()}) as receiver:
        settings = event.collection("settings").document("webhooks")
        for path in ("/warm", "/hook"):
            urls = [{"url": receiver.url(path), "events": ["photo.uploaded"]}]
            settings.set({"urls": urls, "notify": notify})
            publisher.photo_written(f"{path}-{event.id}", event.id, None, photo("pending"))
        warm, first = counted.tasks
        worker.attempt(AttemptRequest.read(warm.data))
        counted.clear()
        counted.tasks.append(first)
        made = 0
        while made < len(counted.tasks):
            task = counted.tasks[made]
            made += 1
            _make_due(event, task.data)
            worker.attempt(AttemptRequest.read(task.data))
        del counted.tasks[0]
        assert counted.cost(posts=len(receiver.to("/hook"))) == COSTS[what]


def _make_due(event: firestore.DocumentReference, data: Any) -> None:
    event.collection("deliveries").document(data["deliveryId"]).update({"nextAttemptAt": now()})


def test_a_notice(
    event: firestore.DocumentReference,
    counting: Documents,
    counted: Operations,
) -> None:
    """A look of the sweep at five failures in a row, and the one mail for them."""
    url = "https://example.com/hook"
    event.set({"tenantId": "t1", "name": "Garden party"})
    settings = event.collection("settings").document("webhooks")
    settings.set({"urls": [url], "notify": ["ann@example.com"]})
    ended = now()
    failed = [_failed(event.id, url, n, ended) for n in range(5)]
    DeliveryStore(documents()).create(event.id, failed)
    alone = _clock_at(datetime(2001, 1, 1, tzinfo=UTC))  # nobody else's is due then
    Failures(EndpointStore(documents()), str, alone).note(failed[0])
    mailbox = Mailbox()
    limiter = Limiter(counting, now=now)
    name = uuid.uuid4().hex  # of a day that has counted nothing yet

    def counts(of: str, at_most: int) -> bool:
        limiter.pass_or_raise("notices", f"{name} {of}", "k", at_most)
        return True

    notifier = Notifier(
        endpoints=EndpointStore(counting),
        settings=SettingsStore(counting),
        deliveries=DeliveryStore(counting),
        wall=WallStore(counting),
        people=People(counting, counts, CLOCK),
        mailer=lambda: SendGridMailer("SG.key", mailbox.url, now),
        sender=lambda: MailSender(address="wall@example.com"),
        base_url="https://wall.example.com",
        clock=CLOCK,
    )
    with mailbox:
        notifier.notify(event.id)
        assert counted.cost(mail_requests=len(mailbox.requests)) == COSTS["a notice"]
        notifier.notify(event.id)
        assert len(mailbox.requests) == 1


def _swept_at(counting: Documents, counted: Operations) -> EndpointSweep:
    """A sweep to which nothing is due but what a test has made so."""
    deliveries = DeliveryStore(counting)
    return EndpointSweep(
        endpoints=EndpointStore(counting),
        settings=SettingsStore(counting),
        deliveries=deliveries,
        next_round=NextRound(deliveries, counted.enqueue, Pace(80, time.monotonic, str), CLOCK),
        enqueue=counted.enqueue,
        in_parallel=lambda work, items: [work(item) for item in items],
        clock=_clock_at(datetime(2000, 1, 1, tzinfo=UTC)),
    )


def test_a_look_of_the_sweep(
    event: firestore.DocumentReference, counting: Documents, counted: Operations
) -> None:
    """Three failures in a row, of which nobody is told yet."""
    url = "https://example.com/hook"
    event.set({"tenantId": "t1", "name": "Garden party"})
    settings = event.collection("settings").document("webhooks")
    settings.set({"urls": [url], "notify": ["ann@example.com"]})
    ended = datetime(1999, 12, 31, 23, 59, tzinfo=UTC)
    failed = [_failed(event.id, url, n, ended) for n in range(3)]
    DeliveryStore(documents()).create(event.id, failed)
    Failures(EndpointStore(documents()), str, _clock_at(ended)).note(failed[0])
    assert _swept_at(counting, counted).sweep() == 1
    assert counted.cost() == COSTS["a look of the sweep at an endpoint that fails"]


def _clock_at(moment: datetime) -> Clock:
    return replace(CLOCK, now=lambda: moment)


def _failed(event_id: str, url: str, number: int, at: datetime) -> Delivery:
    return Delivery(
        id=f"failed-{number}-{event_id}",
        event_id=event_id,
        event_type=EventType.PHOTO_UPLOADED,
        url=url,
        endpoint=key(url),
        body="{}",
        created_at=at,
        outcome=Outcome.FAILED,
        attempts=4,
        ended_at=at + timedelta(milliseconds=number),
        log=(Attempt(number=4, at=at, status=500, milliseconds=7),),
    )
