"""`resendWebhook`: a delivery again, or everything that failed since a time."""

from collections.abc import Callable
from typing import Any

import pytest

from emulator.people import Person
from emulator.receiver import fails
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE
from tests.suite.actions.conftest import Configure, Named, Record
from tests.suite.call import Answer, call
from tests.suite.webhooks.conftest import Deliveries

Resend = Callable[..., Answer]


@pytest.fixture
def resend(event_id: str, admin: Person) -> Resend:
    """Call `resendWebhook` as an admin."""
    return lambda **data: call(
        "resendWebhook", {"eventId": event_id, **data}, id_token=admin.id_token
    )


def test_a_failed_delivery_begins_a_fresh_round(
    configure: Configure,
    record: Record,
    named: Named,
    receiving: Callable[..., Any],
    deliveries: Deliveries,
    resend: Resend,
) -> None:
    """The same id and body; both rounds are recorded, and it is kept as long as a new one."""
    with receiving({"/hook": fails(1)}) as receiver:
        url = receiver.url("/hook")
        configure(url)
        before = record(url).get().to_dict() or {}
        assert resend(deliveryId=named("d1")).result == {
            "resent": 1,
            "leftAlone": 0,
            "more": False,
            "next": None,
        }
        [after] = deliveries.wait_for(
            lambda all_: (
                bool(all_) and all_[0]["outcome"] == "success" and all_[0].get("round") == 1
            ),
            timeout=120,
        )
        requests = receiver.requests

    assert [request.body for request in requests] == [before["body"].encode()] * 2
    assert {request.delivery_id for request in requests} == {named("d1")}
    assert all(request.verified for request in requests)
    assert (after["attempts"], after["body"]) == (2, before["body"])
    assert [(attempt.get("round", 0), attempt["attempt"]) for attempt in after["log"]] == [
        *((0, step.attempt) for step in RETRY_SCHEDULE),
        *((1, number) for number in range(1, 3)),
    ]
    assert after["endedAt"] > before["endedAt"]
    assert after["expireAt"] > before["expireAt"]
