"""`resendWebhook`: a delivery again, or everything that failed since a time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from emulator.people import Person
from emulator.receiver import always, fails
from functions.webhooks.deliveries.delivery import EndedWithin
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.settings.webhook_settings import key
from tests.suite.actions.conftest import Configure, Named, Record
from tests.suite.call import Answer, call
from tests.suite.operations import Operations, counting_documents
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


def test_everything_that_failed_since_a_time(
    configure: Configure,
    record: Record,
    named: Named,
    receiving: Callable[..., Any],
    deliveries: Deliveries,
    resend: Resend,
) -> None:
    """Failed, or skipped while the URL was disabled; not what came before, succeeded or tested."""
    with receiving({"/hook": always()}) as receiver:
        url = receiver.url("/hook")
        configure(url, "http://example.com/plain")
        outage = datetime.now(UTC) - timedelta(hours=3)
        record(url, "earlier", endedAt=outage - timedelta(seconds=1))
        record(url, "at-once", endedAt=outage)
        record(url, "later")
        record(url, "skipped", outcome="skipped", reason="the URL is disabled", attempts=0, log=[])
        record(url, "success", outcome="success")
        record(url, "tested", test=True)
        record("http://example.com/plain", "unusable", outcome="skipped")
        record("https://example.com/removed", "removed")
        answer = resend(since=outage.isoformat())
        deliveries.wait_for(
            lambda all_: (
                sum(entry.get("round") == 1 and entry["attempts"] == 1 for entry in all_) == 3
            ),
            timeout=60,
        )
        arrived = {request.delivery_id for request in receiver.requests}

    assert answer.result == {"resent": 3, "leftAlone": 3, "more": False, "next": None}
    assert arrived == {named(name) for name in ("at-once", "later", "skipped")}


def test_a_count_reads_no_delivery(event_id: str, configure: Configure, record: Record) -> None:
    """One aggregation, billed as one read for a thousand of them."""
    configure("https://example.com/hook")
    for number in range(3):
        record("https://example.com/hook", f"d{number}")
    counted = Operations()
    store = DeliveryStore(counting_documents(counted))
    now = datetime.now(UTC)
    wanted = EndedWithin(
        since=now - timedelta(days=1), until=now, endpoints=(key("https://example.com/hook"),)
    )

    assert store.count_ended(event_id, wanted) == 3
    assert dict(counted.calls) == {"RunAggregationQuery": 1}
    assert (counted.reads, counted.writes) == (1, 0)
