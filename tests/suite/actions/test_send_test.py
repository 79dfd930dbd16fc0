"""`sendTestWebhook`: a made-up message, delivered like a real one (spec 4.6 and 6)."""

from collections.abc import Callable
from typing import Any

from google.cloud import firestore

from emulator.people import Person
from emulator.receiver import always
from tests.suite.actions.conftest import Configure
from tests.suite.call import call
from tests.suite.webhooks.conftest import Deliveries


def test_a_test_posts_a_signed_sample_and_answers_how_it_went(
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
