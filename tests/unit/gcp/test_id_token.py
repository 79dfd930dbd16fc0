"""The verification of ID tokens that are signed like Google's."""

from datetime import UTC, datetime, timedelta
from typing import Final

import firebase_admin
import flask
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from firebase_admin import credentials
from google.auth.credentials import AnonymousCredentials

from functions.call.caller import STAFF
from functions.gcp.callables import staff_callable

PROJECT: Final = "demo-wall"
KEY: Final = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class _NoCredential(credentials.Base):  # type: ignore[misc]
    """No credential, as verifying a token needs only public keys."""

    def get_credential(self) -> AnonymousCredentials:
        return AnonymousCredentials()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(("seconds", "status"), [(-5, 200), (5, 200), (30, 401)])
def test_an_id_token_may_be_ten_seconds_ahead(
    monkeypatch: pytest.MonkeyPatch, seconds: int, status: int
) -> None:
    """Google's clock may be ahead of the instance's when a token is new."""
    pem = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    monkeypatch.setattr("google.oauth2.id_token._fetch_certs", lambda *_: {"k1": pem.decode()})
    monkeypatch.delenv("FIREBASE_AUTH_EMULATOR_HOST", raising=False)
    project = firebase_admin.initialize_app(_NoCredential(), {"projectId": PROJECT}, "tests")
    monkeypatch.setattr("functions.gcp.callables._app", lambda: project)
    given = datetime.now(UTC) + timedelta(seconds=seconds)
    claims = {
        "iss": f"https://securetoken.google.com/{PROJECT}",
        "aud": PROJECT,
        "sub": "u1",
        "role": "admin",
        "iat": given,
        "exp": given + timedelta(hours=1),
    }
    signed = jwt.encode(claims, KEY, algorithm="RS256", headers={"kid": "k1"})
    deployed = staff_callable(STAFF, region="us-central1")(lambda _: 1)
    app = flask.Flask("worker")
    app.add_url_rule("/", view_func=lambda: deployed(flask.request), methods=["POST"])
    headers = {"Authorization": f"Bearer {signed}"}
    answer = app.test_client().post("/", json={"data": {}}, headers=headers)
    firebase_admin.delete_app(project)
    assert answer.status_code == status
