"""Tokens of Google: App Check's where `ENFORCE_APP_CHECK` is on, and the caller's ID token."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import firebase_admin
import flask
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from firebase_admin import app_check, credentials
from flask.testing import FlaskClient
from google.auth.credentials import AnonymousCredentials
from jwt.algorithms import RSAAlgorithm

from emulator.server import HOST, answering
from functions.call.caller import STAFF
from functions.gcp.callables import anonymous_callable, staff_callable

PROJECT: Final = "demo-wall"
KEY: Final = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY: Final = rsa.generate_private_key(public_exponent=65537, key_size=2048)
APP: Final = "1:1234567890:web:abcdef"


class _NoCredential(credentials.Base):  # type: ignore[misc]
    """Checking a token takes public keys alone."""

    def get_credential(self) -> AnonymousCredentials:
        return AnonymousCredentials()  # type: ignore[no-untyped-call]


STAFF_ONLY: Final = partial(staff_callable, STAFF)


@pytest.fixture(scope="module")
def published() -> Iterator[str]:
    """Where App Check publishes its keys: the public half of `KEY`."""
    key = json.loads(RSAAlgorithm.to_jwk(KEY.public_key())) | {"kid": "k1", "use": "sig"}
    keys = json.dumps({"keys": [key | {"alg": "RS256"}]}).encode()
    with answering(lambda _: (200, {}, keys)) as server:
        yield f"http://{HOST}:{server.port}/"


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch, published: str) -> Iterator[None]:
    """The project with Google's keys on this machine, and App Check switched on."""
    monkeypatch.setattr(app_check._AppCheckService, "_JWKS_URL", published)  # noqa: SLF001
    monkeypatch.setenv("ENFORCE_APP_CHECK", "true")
    app = firebase_admin.initialize_app(_NoCredential(), {"projectId": PROJECT}, "tests")
    monkeypatch.setattr("functions.gcp.callables._app", lambda: app)
    yield
    firebase_admin.delete_app(app)


def token(key: rsa.RSAPrivateKey = KEY, kid: str = "k1", **claims: Any) -> str:
    """An App Check token of this project, made now, unless `claims` say otherwise."""
    now = datetime.now(UTC)
    whole = {
        "iss": "https://firebaseappcheck.googleapis.com/1234567890",
        "aud": ["projects/1234567890", f"projects/{PROJECT}"],
        "sub": APP,
        "iat": now,
        "exp": now + timedelta(hours=1),
    } | claims
    return jwt.encode(whole, key, algorithm="RS256", headers={"kid": kid})


def serve(protocol: Any) -> FlaskClient:
    """A callable that answers 1."""
    deployed = protocol(region="us-central1")(lambda _: 1)
    app = flask.Flask("worker")
    app.add_url_rule("/", view_func=lambda: deployed(flask.request), methods=["POST"])
    return app.test_client()


def call(protocol: Any, given: str | None) -> tuple[int, str]:
    """Call with an App Check token and no ID token; the status and its message."""
    headers = {"X-Firebase-AppCheck": given} if given is not None else {}
    answer = serve(protocol).post("/", json={"data": {}}, headers=headers)
    body = answer.get_json()
    return answer.status_code, body["error"]["message"] if "error" in body else ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (token(), "Sign in"),
        (None, "X-Firebase-AppCheck"),
        ("", "App Check"),
        ("no token", "App Check"),
        ("a.b.c", "App Check"),
        (token(OTHER_KEY), "App Check"),
        (token(kid="another"), "App Check"),
        (token(aud=["projects/another"]), "App Check"),
        (token(aud=f"projects/{PROJECT}"), "App Check"),
        (token(iss="https://securetoken.google.com/demo-wall"), "App Check"),
        (token(exp=datetime.now(UTC) - timedelta(minutes=1)), "App Check"),
        (jwt.encode({"sub": APP}, "k" * 32, headers={"kid": "k1"}), "App Check"),
    ],
)
def test_only_a_token_of_an_app_of_this_project_is_taken(given: str | None, told: str) -> None:
    """With a valid App Check token the call lacks an ID token; else the message says what to do."""
    status, message = call(STAFF_ONLY, given)
    assert (status, told in message) == (401, True)


def test_keys_that_cannot_be_fetched_are_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call is `internal` while the keys cannot be fetched."""
    nowhere = "http://127.0.0.1:9/"
    monkeypatch.setattr(app_check._AppCheckService, "_JWKS_URL", nowhere)  # noqa: SLF001
    assert call(STAFF_ONLY, token())[0] == 500


def test_a_link_in_a_mail_works_in_any_browser() -> None:
    """Anonymous calls have their proof in the link."""
    assert call(anonymous_callable, None) == (200, "")


def test_it_is_off_unless_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that send no token go on working until the operator decides."""
    monkeypatch.delenv("ENFORCE_APP_CHECK")
    assert "Sign in" in call(STAFF_ONLY, None)[1]


@pytest.mark.parametrize(("seconds", "status"), [(-5, 200), (5, 200), (30, 401)])
def test_an_id_token_of_a_clock_that_is_ahead(
    monkeypatch: pytest.MonkeyPatch, seconds: int, status: int
) -> None:
    """Google's clock may be ten seconds ahead of the instance's: the token was just given."""
    pem = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    monkeypatch.setattr("google.oauth2.id_token._fetch_certs", lambda *_: {"k1": pem.decode()})
    monkeypatch.delenv("FIREBASE_AUTH_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("ENFORCE_APP_CHECK", "false")
    given = datetime.now(UTC) + timedelta(seconds=seconds)
    issuer = f"https://securetoken.google.com/{PROJECT}"
    signed = token(iss=issuer, aud=PROJECT, sub="u1", iat=given, role="admin")
    headers = {"Authorization": f"Bearer {signed}"}
    answer = serve(STAFF_ONLY).post("/", json={"data": {}}, headers=headers)
    assert answer.status_code == status
