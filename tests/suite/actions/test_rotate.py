"""`rotateWebhookSecret`: a new secret at once (SPEC 2.1)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud import firestore

from emulator.receiver import always
from tests.suite.actions.conftest import TENANT, Configure
from tests.suite.call import call
from tests.suite.people import Person, sign_in


def test_the_next_deliveries_are_signed_with_the_new_secret(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
) -> None:
    """And until when the old one may be used is in the answer; neither secret is."""
    superadmin = sign_in("superadmin", TENANT)
    secret = event.collection("secrets").document("webhooks")
    with receiving({"/hook": always()}) as receiver:
        url = receiver.url("/hook")
        configure(url)
        sent = []
        for _ in range(2):
            answer = call(
                "rotateWebhookSecret", {"eventId": event.id}, id_token=superadmin.id_token
            )
            assert answer.status == 200
            sent.append(secret.get().get("secret"))
            assert sent[-1] not in json.dumps(answer.body)
            test = {"eventId": event.id, "url": url}
            assert call("sendTestWebhook", test, id_token=admin.id_token).status == 200
        first, second = receiver.requests

    assert sent[0] != sent[1]
    assert all(one.startswith("whsec_") for one in sent)
    # The receiver looks the secret up for each request.
    assert first.verified
    assert second.verified
    until = datetime.fromisoformat(answer.result["oldSecretUsedUntil"])
    assert until - datetime.fromisoformat(answer.result["rotatedAt"]) == timedelta(minutes=1)
    assert until > datetime.now(UTC)
    assert answer.result["oldSecretUsedUntil"] in answer.result["message"]


def test_an_admin_does_not_rotate(event: firestore.DocumentReference, admin: Person) -> None:
    """SPEC 2.1: the secret is the superadmins' business."""
    answer = call("rotateWebhookSecret", {"eventId": event.id}, id_token=admin.id_token)

    assert (answer.status, answer.error[0]) == (403, "PERMISSION_DENIED")
    assert "superadmin" in answer.error[1]
