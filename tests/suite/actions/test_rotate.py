"""`rotateWebhookSecret`: a new secret at once (spec 2.1, 4.8); the unit tests have the rest."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
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
