"""The local receiver does what spec 5 asks of a receiver, and what tests ask of it."""

import hashlib
import hmac
import http.client
import ssl
from collections.abc import Callable, Iterator

import pytest

from emulator import certificates
from emulator.receiver import (
    Receiver,
    always,
    fails,
    signature_problem,
    slow,
)

SECRET = "whsec_made-up"
NOW = 1_700_000_000
BODY = b'{"event":"photo.uploaded"}'
# Seconds.
LIMIT = 10.0


def sign(timestamp: str, body: bytes = BODY, secret: str = SECRET) -> str:
    """Return a right `v1`, computed as spec 5 words it."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that knows one event's secret, at a fixed time."""
    certificates.ensure()
    scripts = {"/ok": always(), "/flaky": fails(2), "/dead": always(500), "/slow": slow(LIMIT)}
    with Receiver(
        certificates.SERVER,
        scripts=scripts,
        secret_of={"event-1": SECRET}.get,
        clock=lambda: NOW,
    ) as receiver:
        yield receiver


@pytest.fixture
def post(receiver: Receiver) -> Iterator[Callable[..., int]]:
    """A client with one connection that is kept alive."""
    context = ssl.create_default_context(cafile=certificates.CA)
    client = http.client.HTTPSConnection("localhost", receiver.port, context=context)

    def send(path: str, delivery: str = "d-1", event: str = "event-1", body: bytes = BODY) -> int:
        headers = {
            "Wall-Signature": f"t={NOW},v1={sign(str(NOW))}",
            "Wall-Event-Id": event,
            "Wall-Event-Type": "photo.uploaded",
            "Wall-Delivery-Id": delivery,
        }
        client.request("POST", path, body, headers)
        answer = client.getresponse()
        answer.read()
        return answer.status

    yield send
    client.close()


@pytest.mark.parametrize("distance", [-300, 0, 300])
def test_a_right_signature_up_to_300_seconds_away_is_accepted(distance: int) -> None:
    """Step 2 rejects times more than 300 seconds away, in either direction."""
    header = f"t={NOW},v1={sign(str(NOW))}"

    assert signature_problem(header, BODY, SECRET, NOW + distance) == ""


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (None, "t or v1 is missing"),
        ("", "t or v1 is missing"),
        (f"t={NOW}", "t or v1 is missing"),
        (f"v1={sign(str(NOW))}", "t or v1 is missing"),
        (f"t=soon,v1={sign('soon')}", "t is not a number of seconds"),
        (f"t={NOW - 301},v1={sign(str(NOW - 301))}", "t is more than 300 seconds away"),
        (f"t={NOW + 301},v1={sign(str(NOW + 301))}", "t is more than 300 seconds away"),
        (f"t={NOW},v1={sign(str(NOW), b'other')}", "v1 does not match"),
        (f"t={NOW},v1={sign(str(NOW), secret='other')}", "v1 does not match"),
        (f"t={NOW},v1={sign(str(NOW)).upper()}", "v1 does not match"),
        (f"t={NOW},v1=ü", "v1 does not match"),
    ],
)
def test_anything_else_is_rejected(header: str | None, problem: str) -> None:
    """Each step of the check of spec 5 has a reason of its own for refusing."""
    assert signature_problem(header, BODY, SECRET, NOW) == problem


def test_a_wrong_signature_is_recorded_with_its_reason(
    receiver: Receiver, post: Callable[..., int]
) -> None:
    """It is answered as scripted all the same: the service is under test, not the receiver."""
    post("/ok", body=b"{}")
    post("/ok", event="event-2")

    problems = [request.problem for request in receiver.requests]
    assert problems == ["v1 does not match", "the event has no secret"]
