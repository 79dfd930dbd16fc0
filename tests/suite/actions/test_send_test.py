"""`sendTestWebhook`: a made-up message, delivered like a real one (spec 4.6 and 6)."""

from collections.abc import Callable
from typing import Any

from google.cloud import firestore

from emulator.people import Person
from emulator.receiver import always, fails
from functions.webhooks.settings.webhook_settings import key
from tests.suite.actions.conftest import Configure
from tests.suite.call import call
from tests.suite.webhooks.conftest import Deliveries


def test_a_test_is_a_delivery_like_any_other(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
    deliveries: Deliveries,
) -> None:
    """Spec 6: a signed `photo.uploaded`; how the first attempt went is in the answer."""
    with receiving({"/hook": always(204)}) as receiver:
        url = receiver.url("/hook")
        configure({"url": url, "events": ["guest.joined"]})
        answer = call("sendTestWebhook", {"eventId": event.id, "url": url}, id_token=admin.id_token)
        [record] = deliveries.ended(1)
        [request] = receiver.requests

    assert answer.status == 200
    assert answer.result["ms"] >= 0
    assert answer.result == {
        "deliveryId": request.delivery_id,
        "outcome": "success",
        "status": 204,
        "ms": answer.result["ms"],
        "error": None,
        "nextAttemptAt": None,
    }
    assert request.verified
    assert (request.event_type, request.event_id) == ("photo.uploaded", event.id)
    body = request.json()
    assert body["data"]["photo"].keys() == {
        "id",
        "status",
        "url",
        "uploaderName",
        "uploaderEmail",
        "createdAt",
    }
    assert record["test"] is True
    assert (record["outcome"], record["attempts"]) == ("success", 1)


def test_any_type_can_be_tried(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
) -> None:
    """Spec 4.6: `event` names it; one that is none is refused before anything is sent."""
    with receiving({"/hook": always()}) as receiver:
        url = receiver.url("/hook")
        configure(url)
        asked = {"eventId": event.id, "url": url, "event": "milestone.reached"}
        answer = call("sendTestWebhook", asked, id_token=admin.id_token)
        refused = call("sendTestWebhook", asked | {"event": "photo"}, id_token=admin.id_token)
        [request] = receiver.requests

    assert answer.result["outcome"] == "success"
    assert request.verified
    assert (request.event_type, request.json()["event"]) == ("milestone.reached",) * 2
    assert request.json()["data"].keys() == {"milestone", "reachedAt", "latestPhoto"}
    assert (refused.status, refused.error[0]) == (400, "INVALID_ARGUMENT")
    assert "milestone.reached" in refused.error[1]


def test_a_test_that_fails_is_tried_again(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
    deliveries: Deliveries,
) -> None:
    """Spec 3.4: the first attempt in the answer, the others from the queues."""
    with receiving({"/hook": fails(2)}) as receiver:
        url = receiver.url("/hook")
        configure(url)
        answer = call("sendTestWebhook", {"eventId": event.id, "url": url}, id_token=admin.id_token)
        [record] = deliveries.ended(1)

    assert (answer.result["outcome"], answer.result["status"]) == ("retrying", 500)
    assert answer.result["nextAttemptAt"].endswith("Z")
    assert (record["outcome"], record["attempts"]) == ("success", 3)


def test_a_disabled_url_is_tested_all_the_same(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
) -> None:
    """To see whether it can be enabled again."""
    with receiving({"/hook": always()}) as receiver:
        url = receiver.url("/hook")
        configure(url, disabled={key(url): {"url": url, "reason": "nobody answers"}})
        answer = call("sendTestWebhook", {"eventId": event.id, "url": url}, id_token=admin.id_token)

    assert (answer.result["outcome"], answer.result["status"]) == ("success", 200)
