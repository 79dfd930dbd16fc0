"""`sendTestWebhook`: sample messages of every event type (spec 4.6 and 6.1)."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from functions.webhooks.events import EventType
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture

SPECIFICATION: Final = (Path(__file__).parents[3] / "docs/specification.md").read_text()


def documented_paths(event: EventType) -> set[str]:
    """Return the fields of `data` in the table of spec 6.1, such as `photo.id` for a nested one."""
    row = re.search(rf"^\| {re.escape(event)} \|[^|]*\| (.*) \|$", SPECIFICATION, re.MULTILINE)
    assert row is not None
    fields: set[str] = set()
    flat, _, nested = row[1].rpartition("`")
    if not flat:
        return set(nested.split(", "))
    *before, name = flat.split("`")
    fields = set(before[0].strip(", ").split(", ")) - {""}
    return fields | {f"{name}.{field}" for field in nested.removeprefix(": ").split(", ")}


def paths(data: dict[str, Any]) -> set[str]:
    """Return the fields of a payload in the same form."""
    return {
        path
        for name, value in data.items()
        for path in ([f"{name}.{item}" for item in value] if isinstance(value, dict) else [name])
    }


@pytest.mark.parametrize("event", EventType)
def test_a_test_has_the_headers_and_all_fields_of_its_type(event: EventType) -> None:
    """Spec 4.6: no field is null."""
    webhooks = WebhookFixture()
    delivery = webhooks.process().url_test.send_test(EVENT, URL, event)
    [(headers, posted)] = webhooks.posts
    body = json.loads(posted)

    assert paths(body["data"]) == documented_paths(event)
    assert None not in [*body["data"].values(), *body["data"].get("photo", {}).values()]
    assert (body["event"], body["eventId"], body["deliveryId"]) == (event, EVENT, delivery.id)
    assert headers["Wall-Event-Type"] == event
    assert (delivery.test, delivery.event_type, delivery.outcome) == (True, event, "success")


@pytest.mark.parametrize(
    ("status", "outcome", "queued"),
    [(204, "success", 0), (500, "retrying", 1), (None, "retrying", 1)],
)
def test_a_test_is_recorded_once_and_retried(status: int | None, outcome: str, queued: int) -> None:
    """Spec 4.6: the first attempt is immediate, and a failed one is retried.

    The answer to the commit of the record is lost, and the adapter repeats it (design 2).
    """
    webhooks = WebhookFixture()
    webhooks.answers = [status]
    webhooks.lose_answer("create deliveries")
    test = webhooks.process().url_test.send_test(EVENT, URL)

    assert (test.outcome, len(webhooks.queued), len(webhooks.posts)) == (outcome, queued, 1)
    assert webhooks.records == [test]


def test_only_attempts_of_a_test_have_the_header_wall_test() -> None:
    """Spec 6.2: this includes a resent test."""
    webhooks = WebhookFixture()
    test = webhooks.process().url_test.send_test(EVENT, URL)
    webhooks.process().actions.resend(EVENT, test.id)
    webhooks.attempt(webhooks.record(test), in_round=1)
    webhooks.attempt(webhooks.delivery())

    assert [headers.get("Wall-Test") for headers, _ in webhooks.posts] == ["true", "true", None]


def test_a_test_has_the_current_time_and_the_status_of_its_type() -> None:
    """Match a real message that was sent now (spec 4.6)."""
    webhooks = WebhookFixture()
    test = webhooks.process().url_test
    for event in EventType:
        test.send_test(EVENT, URL, event)
    bodies = [json.loads(body) for _, body in webhooks.posts]
    data = {body["event"]: body["data"] for body in bodies}
    times = {
        datetime.fromisoformat(value)
        for fields in data.values()
        for name, value in (fields | fields.get("photo", {})).items()
        if name.endswith("At")
    }

    assert times == {NOW}
    assert data["event.archived"]["photoCount"] == 0
    assert data["event.published"]["eventName"] == "Test Event"
    statuses = {
        "photo.uploaded": "pending",
        "photo.approved": "approved",
        "photo.rejected": "rejected",
    }
    assert {event: data[event]["photo"]["status"] for event in statuses} == statuses
