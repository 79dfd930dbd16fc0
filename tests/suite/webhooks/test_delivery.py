"""Spec 2.5, 3, 4.3, 6 and 8: from a write by a client to a signed POST, in the whole suite."""

import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
import standardwebhooks
import stripe
from google.cloud import firestore

from emulator.receiver import Receiver, always, fails, slow
from tests.suite.wall_client import Wall, receiving

LATE: Final = 60.0  # seconds by which an attempt may come late on a busy machine

UPLOAD: Final = {
    "status": "pending",
    "url": "https://example.com/p1.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "uploaderUid": "u1",
}


def upload(wall: Wall, *urls: str) -> None:
    """Upload a photo as a guest, to an event with these webhook URLs."""
    wall.settings.set({"urls": [{"url": url, "events": ["photo.uploaded"]} for url in urls]})
    photo = wall.event.collection("photos").document("p1")
    photo.set(UPLOAD | {"createdAt": firestore.SERVER_TIMESTAMP})


def test_an_upload_arrives_as_a_signed_post(wall: Wall) -> None:
    """Spec 4.3, 5 and 6.2: body, headers and both signatures, checked by third-party libraries."""
    with receiving({"/hook": always()}) as receiver:
        upload(wall, receiver.url("/hook"))
        [record] = wall.ended(1)
        [request] = receiver.requests
    body = request.json()
    assert request.method == "POST"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["User-Agent"] == "Wall-Webhooks/1.0"
    assert list(body) == ["event", "eventId", "deliveryId", "timestamp", "data"]
    assert body["event"] == request.headers["Wall-Event-Type"] == "photo.uploaded"
    assert body["eventId"] == request.headers["Wall-Event-Id"] == wall.id
    assert body["deliveryId"] == request.headers["Wall-Delivery-Id"] == record["id"]
    created_at = body["data"]["photo"].pop("createdAt")
    assert {**UPLOAD, "id": "p1"}.items() >= body["data"]["photo"].items()
    assert abs(datetime.now(UTC) - datetime.fromisoformat(created_at)) < timedelta(minutes=1)
    assert request.verified

    secret = wall.event.collection("secrets").document("webhooks").get().get("secret")
    assert secret.startswith("whsec_")
    # Stripe's scheme is the same, and its library knows nothing of ours.
    stripe.WebhookSignature.verify_header(
        request.body.decode(), request.headers["Wall-Signature"], secret, 300
    )
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header(
            request.body.decode() + " ", request.headers["Wall-Signature"], secret, 300
        )

    standardwebhooks.Webhook(secret).verify(request.body, dict(request.headers))

    assert (record["outcome"], record["attempts"], record["nextAttemptAt"]) == ("success", 1, None)
    assert record["body"].encode() == request.body
    assert record["expireAt"] > record["createdAt"]
    assert record["writtenAt"] == wall.event.collection("photos").document("p1").get().update_time
    [attempt] = record["log"]
    assert attempt.keys() == {"attempt", "at", "status", "ms", "error"}
    assert (attempt["attempt"], attempt["status"], attempt["error"]) == (1, 200, None)


@dataclass(frozen=True, slots=True)
class Begun:
    """Deliveries that take a minute, begun before most other tests."""

    paths: Collection[str]
    receiver: Receiver
    wall: Wall


@pytest.fixture(scope="session", autouse=True)
def begun(db: firestore.Client) -> Iterator[Begun]:
    """Upload a photo to an event whose receivers cause retries."""
    scripts = {"/flaky": fails(2), "/dead": always(500), "/moved": always(308), "/slow": slow(20)}
    wall = Wall(db, db.collection("events").document(f"event-{uuid.uuid4().hex[:12]}"))
    with receiving(scripts) as receiver:
        upload(wall, *map(receiver.url, scripts))
        yield Begun(scripts, receiver, wall)


@pytest.mark.last
def test_the_retry_schedule(begun: Begun) -> None:
    """Spec 3.4 and 8: attempts after 0, 1, 5 and 30 s, not earlier, with one ID and body."""
    ended = begun.wall.ended(len(begun.paths), 300)
    records = {delivery["url"].rpartition("/")[2]: delivery for delivery in ended}
    requests = {path: begun.receiver.to(path) for path in begun.paths}

    assert {
        name: (record["outcome"], record["attempts"], [entry["status"] for entry in record["log"]])
        for name, record in records.items()
    } == {
        "flaky": ("success", 3, [500, 500, 200]),
        "dead": ("failed", 4, [500] * 4),
        "moved": ("failed", 4, [308] * 4),
        "slow": ("failed", 4, [None] * 4),
    }
    for path, seen in requests.items():
        record = records[path[1:]]
        assert len(seen) == record["attempts"], "no attempt beyond the recorded attempts"
        assert {request.delivery_id for request in seen} == {record["id"]}
        assert {request.body for request in seen} == {record["body"].encode()}
        assert all(request.verified for request in seen)
        signed_at = [request.headers["Wall-Signature"].partition(",")[0] for request in seen]
        assert len(set(signed_at)) == len(seen), "each attempt is signed afresh"
        log = record["log"]
        for earlier, entry, later, delay in zip(seen, log, seen[1:], (1, 5, 30), strict=False):
            # From the attempt's end: a timed-out receiver holds it up for the rest of the five
            # seconds after the handshake.
            held = entry["at"] + timedelta(milliseconds=entry["ms"]) - earlier.at
            waited = later.monotonic - earlier.monotonic - held.total_seconds()
            assert delay <= waited <= delay + LATE, (path, delay, waited)
    assert {entry["error"] for entry in records["slow"]["log"]} == {"no answer within 5 s"}
