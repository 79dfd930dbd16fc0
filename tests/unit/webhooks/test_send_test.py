"""`sendTestWebhook`: a made-up message of every event type (spec 4.6 and 6.1)."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from functions.webhooks.events import EventType
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture

SPECIFICATION: Final = (Path(__file__).parents[3] / "docs/specification.md").read_text()


def promised(event: EventType) -> set[str]:
    """Fields of `data` as the table of spec 6.1 names them, `photo.id` for one of an object."""
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
    """The same of a payload."""
    return {
        path
        for name, value in data.items()
        for path in ([f"{name}.{item}" for item in value] if isinstance(value, dict) else [name])
    }


@pytest.mark.parametrize("event", EventType)
def test_every_type_is_sent_as_a_real_one_is(event: EventType) -> None:
    """The envelope, the headers and the fields of its type, none of them null."""
    webhooks = WebhookFixture()
    delivery = webhooks.process().url_test.send_test(EVENT, URL, event)
    [(headers, posted)] = webhooks.posts
    body = json.loads(posted)

    assert paths(body["data"]) == promised(event)
    assert None not in [*body["data"].values(), *body["data"].get("photo", {}).values()]
    assert (body["event"], body["eventId"], body["deliveryId"]) == (event, EVENT, delivery.id)
    assert headers["Wall-Event-Type"] == event
    assert (delivery.test, delivery.event_type, delivery.outcome) == (True, event, "success")


@pytest.mark.parametrize(
    ("status", "outcome", "queued"),
    [(204, "success", 0), (500, "retrying", 1), (None, "retrying", 1)],
)
def test_a_test_is_a_delivery_like_any_other(status: int | None, outcome: str, queued: int) -> None:
    """Spec 4.6: its first attempt is made at once, and a failed one is made again; recorded once.

    The answer to the commit of its record may be lost: the adapter has tried again (design 2).
    """
    webhooks = WebhookFixture()
    webhooks.answers = [status]
    webhooks.lose_answer("create deliveries")
    test = webhooks.process().url_test.send_test(EVENT, URL)

    assert (test.outcome, len(webhooks.queued), len(webhooks.posts)) == (outcome, queued, 1)
    assert webhooks.records == [test]


def test_every_attempt_of_a_test_says_so_and_no_other_does() -> None:
    """Spec 6.2: also when the test is sent again."""
    webhooks = WebhookFixture()
    test = webhooks.process().url_test.send_test(EVENT, URL)
    webhooks.process().actions.resend(EVENT, test.id)
    webhooks.attempt(webhooks.record(test), in_round=1)
    webhooks.attempt(webhooks.delivery())

    assert [headers.get("Wall-Test") for headers, _ in webhooks.posts] == ["true", "true", None]


def test_what_it_tells_of_has_just_happened() -> None:
    """Times are of now, and statuses those that the type is about."""
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
