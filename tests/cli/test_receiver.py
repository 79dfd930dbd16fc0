"""The local receiver records the result of the verification of spec 5."""

import time
from typing import Final

import requests

from emulator import certificates
from emulator.receiver import Receiver, always
from functions.webhooks.signing import SIGNATURE_HEADER, sign

SECRET: Final = "whsec_made-up"
LIMIT_SECONDS: Final = 60.0


def test_a_wrong_signature_is_recorded_with_its_reason() -> None:
    """Answer as scripted anyway: the service is under test, not the receiver."""
    certificates.ensure()
    secrets = {"event-1": SECRET}
    with Receiver(
        certificates.SERVER, scripts={"/ok": always()}, secret_of=secrets.get
    ) as receiver:
        for event, body in (("event-1", b"[]"), ("event-1", b"{}"), ("event-2", b"[]")):
            headers = {
                SIGNATURE_HEADER: sign(SECRET, b"[]", at=int(time.time())),
                "Wall-Event-Id": event,
                "Wall-Event-Type": "photo.uploaded",
                "Wall-Delivery-Id": "d-1",
            }
            answer = requests.post(
                receiver.url("/ok"),
                body,
                headers=headers,
                verify=str(certificates.CA),
                timeout=LIMIT_SECONDS,
            )
            assert answer.status_code == 200
        problems = [request.problem for request in receiver.requests]
    assert problems == ["", "v1 does not match", "the event has no secret"]
