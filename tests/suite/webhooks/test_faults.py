"""Design 2: every step may be repeated and may crash without a lost or additional attempt.

The functions run in separate processes that are really killed and cut off. The test takes the part
of Eventarc and Cloud Tasks. `tests/simulation` and `tests/unit/webhooks` have every step and fault.
This module has a crash, an outage and a crowd.
"""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.cloud_tasks import CloudTasks, QueuedTask
from emulator.cloud.secret_manager import SecretManager
from emulator.firebase import PROJECT
from emulator.receiver import Request, always
from tests.suite.process import FirestoreWrite, FunctionProcess, silenced
from tests.suite.tcp_proxy import TcpProxy
from tests.suite.wall_client import Wall, receiving
from tools import local_secrets

NOW: Final = datetime.now(UTC)
PHOTO: Final = {
    "status": "pending",
    "url": "https://example.com/p1.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "createdAt": NOW,
}


@pytest.fixture(scope="module")
def queued() -> list[QueuedTask]:
    """Return the tasks of a test, which dispatches them at any time and any number of times."""
    return []


@pytest.fixture(scope="module")
def google(queued: list[QueuedTask]) -> Iterator[ApiServer]:
    """Start Google's APIs for all tests with the keys of the suite. Queued tasks stay queued."""
    keys = SecretManager(PROJECT, local_secrets.read())
    with ApiServer(CloudTasks(PROJECT, None, queued.append), keys) as server:
        yield server


@pytest.fixture(scope="module")
def running() -> Iterator[dict[object, FunctionProcess]]:
    """Return the processes of all tests, by function and environment."""
    processes: dict[object, FunctionProcess] = {}
    yield processes
    for process in processes.values():
        process.kill()


@pytest.fixture
def start(
    google: ApiServer, queued: list[QueuedTask], running: dict[object, FunctionProcess]
) -> Callable[..., FunctionProcess]:
    """Start functions whose tasks are `queued`. A process serves until a test kills it."""
    queued.clear()
    environment_of_all = {ADDRESS_VARIABLE: google.address}

    def one(function: str = "deliverWebhook", **environment: Any) -> FunctionProcess:
        key = (function, *environment.items())
        if key not in running or not running[key].is_running:
            options: dict[str, Any] = environment_of_all | environment
            running[key] = FunctionProcess(
                function, is_trigger=function.startswith("on"), **options
            )
        return running[key]

    return one


@pytest.fixture
def uploaded(
    db: firestore.Client, event: firestore.DocumentReference
) -> Callable[[str], FirestoreWrite]:
    """Return the CloudEvent of an upload to an event with one URL. No photo is written."""

    def write(url: str) -> FirestoreWrite:
        settings = event.collection("settings").document("webhooks")
        settings.set({"urls": [{"url": url, "events": ["photo.uploaded"]}]})
        path = f"events/{event.id}/photos/p1"
        return FirestoreWrite(db, path, event_id=f"write-{event.id}", after=PHOTO)

    return write


@pytest.fixture
def records(event: firestore.DocumentReference) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that reads the event's deliveries."""
    return lambda: [
        delivery.to_dict() | {"id": delivery.id}
        for delivery in event.collection("deliveries").stream()
    ]


@pytest.fixture
def owed(
    start: Callable[..., FunctionProcess],
    uploaded: Callable[[str], FirestoreWrite],
    queued: list[QueuedTask],
) -> Callable[[str], dict[str, Any]]:
    """Record and enqueue a delivery to a URL, and return the data of its first task."""

    def publish(url: str) -> dict[str, Any]:
        assert start("onPhotoWritten").send_write(uploaded(url)) == 200
        [task] = queued
        data: dict[str, Any] = json.loads(task.body)["data"]
        return data

    return publish


Records = Callable[[], list[dict[str, Any]]]
Start = Callable[..., FunctionProcess]
Owed = Callable[[str], dict[str, Any]]
Uploaded = Callable[[str], FirestoreWrite]


def test_a_crash_between_post_and_record(start: Start, owed: Owed, records: Records) -> None:
    """The result of the POST is unknown, so the same attempt is repeated with the same ID."""
    worker = start()

    def kill_once(request: Request) -> None:
        if request.attempt == 1:
            worker.kill()

    with receiving({"/hook": always()}, on_request=kill_once) as receiver:
        task = owed(receiver.url("/hook"))
        assert worker.dispatch(task) is None
        assert records()[0]["attempts"] == 0
        assert start().dispatch(task) == 200
        first, second = receiver.requests
    [record] = records()
    assert (record["outcome"], record["attempts"], len(record["log"])) == ("success", 1, 1)
    assert first.delivery_id == second.delivery_id == record["id"]
    assert first.body == second.body


def test_a_short_outage_of_firestore(start: Start, owed: Owed, records: Records) -> None:
    """The outcome is recorded when Firestore is back, and the body is not sent twice."""
    with TcpProxy(os.environ["FIRESTORE_EMULATOR_HOST"]) as proxy:
        worker = start(FIRESTORE_EMULATOR_HOST=proxy.address)
        with receiving({"/hook": always()}, on_request=lambda _: proxy.cut()) as receiver:
            task = owed(receiver.url("/hook"))
            with ThreadPoolExecutor(1) as threads:
                answer = threads.submit(worker.dispatch, task)
                proxy.wait_for_refused(2, timeout=60)
                assert records()[0]["attempts"] == 0
                proxy.restore()
                assert answer.result() == 200
            assert len(receiver.requests) == 1
    [record] = records()
    assert (record["outcome"], record["attempts"]) == ("success", 1)


@pytest.fixture
def hundred(db: firestore.Client, wall: Wall) -> list[FirestoreWrite]:
    """Write a hundred photos to the event and return their CloudEvents."""
    paths = [f"events/{wall.id}/photos/p{n}" for n in range(100)]
    with silenced(wall.id):
        batch = db.batch()
        for path in paths:
            batch.set(db.document(path), PHOTO)
        batch.commit()
    return [FirestoreWrite(db, path, event_id=f"write-{path}", after=PHOTO) for path in paths]


def milestones_of(records: Records) -> list[tuple[str, int]]:
    """URL and number of every recorded `milestone.reached`."""
    return sorted(
        (record["url"], json.loads(record["body"])["data"]["milestone"])
        for record in records()
        if record["event"] == "milestone.reached"
    )


def test_a_hundred_concurrent_uploads(
    event: firestore.DocumentReference,
    start: Start,
    queued: list[QueuedTask],
    records: Records,
    hundred: list[FirestoreWrite],
) -> None:
    """Spec 6.1: every trigger sees a hundred photos, and the milestone fires once at each URL."""
    urls = ["https://localhost/a", "https://localhost/b"]
    event.collection("settings").document("webhooks").set({"urls": urls})
    trigger = start("onPhotoWritten", THREADS="80")
    with ThreadPoolExecutor(80) as threads:
        assert {200} == set(threads.map(trigger.send_write, hundred)), "".join(trigger.output)
    assert [(url, 100) for url in urls] == milestones_of(records)
    uploads = [record for record in records() if record["event"] == "photo.uploaded"]
    assert len(uploads) == 200, "a lost race for the milestone lost an upload"
    assert {task.name.rpartition("-")[0] for task in queued} == {
        record["id"] for record in records()
    }
    recorded = event.collection("milestones").document("100").get()
    assert recorded.get("photoId").startswith("p")
    assert recorded.get("reachedAt")
