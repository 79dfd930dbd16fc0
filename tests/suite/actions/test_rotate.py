"""`rotateWebhookSecret`: a new secret, at once or announced (spec 2.1 and 4.8)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud import firestore

from emulator.people import Person, sign_in
from emulator.receiver import always, signature_problem
from tests.suite.actions.conftest import TENANT, Configure
from tests.suite.call import call


def test_deliveries_are_signed_with_the_new_secret_or_for_a_minute_the_old_one(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
) -> None:
    """Never with a mixture; until when is in the answer, and neither secret is."""
    superadmin = sign_in("superadmin", TENANT)
    secret = event.collection("secrets").document("webhooks")
    secrets = []
    with receiving({"/hook": always()}) as receiver:
        url = receiver.url("/hook")
        configure(url)
        for _ in range(2):
            answer = call(
                "rotateWebhookSecret", {"eventId": event.id}, id_token=superadmin.id_token
            )
            assert answer.status == 200
            secrets.append(secret.get().get("secret"))
            assert secrets[-1] not in json.dumps(answer.body)
            test = {"eventId": event.id, "url": url}
            assert call("sendTestWebhook", test, id_token=admin.id_token).status == 200
        first, second = receiver.requests

    assert all(secret.startswith("whsec_") for secret in secrets)
    assert secrets[0] != secrets[1]
    assert first.verified
    signature, now = second.headers["Wall-Signature"], second.at.timestamp()
    verified = [not signature_problem(signature, second.body, secret, now) for secret in secrets]
    assert sum(verified) == 1
    assert answer.result["activeFrom"] == answer.result["rotatedAt"]
    until = datetime.fromisoformat(answer.result["oldSecretUsedUntil"])
    assert until - datetime.fromisoformat(answer.result["rotatedAt"]) == timedelta(minutes=1)
    assert answer.result["oldSecretUsedUntil"] in answer.result["message"]


def test_an_announced_secret_stands_beside_the_present_one(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
) -> None:
    """The present one signs; the answer says until when, and holds neither."""
    superadmin = sign_in("superadmin", TENANT)
    reference = event.collection("secrets").document("webhooks")
    with receiving({"/hook": always()}) as receiver:
        url = receiver.url("/hook")
        configure(url)
        asked = {"eventId": event.id, "activeInMinutes": 10_080}
        began = datetime.now(UTC)
        answers = [
            call("rotateWebhookSecret", asked, id_token=superadmin.id_token) for _ in range(2)
        ]
        stored = reference.get().to_dict() or {}
        test = {"eventId": event.id, "url": url}
        assert call("sendTestWebhook", test, id_token=admin.id_token).status == 200
        [request] = receiver.requests

    assert [answer.status for answer in answers] == [200, 200]
    result = answers[-1].result
    assert result["rotatedAt"] is None
    active_from = datetime.fromisoformat(result["activeFrom"])
    assert timedelta(0) <= active_from - began - timedelta(days=7) < timedelta(minutes=1)
    until = datetime.fromisoformat(result["oldSecretUsedUntil"])
    assert until - active_from == timedelta(minutes=1)
    assert result["activeFrom"] in result["message"]
    assert stored.keys() == {"secret", "next"}
    assert stored["next"].keys() == {"secret", "activeFrom"}
    assert abs(stored["next"]["activeFrom"] - active_from) < timedelta(milliseconds=1)
    assert "whsec_" not in json.dumps([answer.body for answer in answers])
    signature, now = request.headers["Wall-Signature"], request.at.timestamp()
    assert signature.count("v1=") == 1
    assert not signature_problem(signature, request.body, stored["secret"], now)
