"""Callables of staff: a role, and so many calls of a tenant in an hour."""

from datetime import UTC, datetime
from typing import Any

import flask
import pytest
from firebase_functions import https_fn
from firebase_functions.https_fn import CallableRequest

from functions import parameters
from functions.gcp import callables
from functions.signed_in import signed_in
from functions.signed_links import wiring
from functions.signed_links.limiter import Limiter

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
AT_MOST = 60
"""What `.env` has."""


class Counts:
    """The shared counts, in memory."""

    def __init__(self) -> None:
        self._calls: dict[str, int] = {}

    def add(self, key: str, expire_at: datetime, seconds: float) -> int:
        """Count one more."""
        del expire_at, seconds
        self._calls[key] = self._calls.get(key, 0) + 1
        return self._calls[key]


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the ID token says; a test may change it."""
    given = {"uid": "u1", "role": "moderator", "tenantId": "acme"}
    limiter = Limiter(Counts(), now=lambda: NOW)
    monkeypatch.setattr(wiring, "limiter", lambda: limiter)
    monkeypatch.setattr(callables, "_app", lambda: None)
    monkeypatch.setattr("firebase_admin.auth.verify_id_token", lambda *_, **__: dict(given))
    monkeypatch.setenv(parameters.STAFF_CALLS_AN_HOUR.name, str(AT_MOST))
    return given


def call(served: Any) -> tuple[int, str]:
    """Status and message of a call."""
    headers = {"Authorization": "Bearer t", "Content-Type": "application/json"}
    app = flask.Flask("worker")
    with app.test_request_context(method="POST", data=b'{"data": 1}', headers=headers):
        answer = served(flask.request)
    return answer.status_code, answer.get_json().get("error", {}).get("message", "")


def declared(name: str, **options: int) -> Any:
    """A callable of staff."""

    def handler(_: CallableRequest[Any]) -> int:
        return 1

    handler.__name__ = name
    return signed_in(**options)(https_fn.on_call()(handler))


def test_a_tenant_has_so_many_calls_of_a_function_in_an_hour(claims: dict[str, Any]) -> None:
    """All of its staff together; other functions and tenants are not touched."""
    preview = declared("preview")
    assert [call(preview)[0] for _ in range(AT_MOST)] == [200] * AT_MOST
    claims["uid"] = "u2"
    status, message = call(preview)
    assert status == 429
    assert message == (
        "Your tenant has made its 60 calls of preview this hour; call again from 19:00 UTC on."
    )
    assert call(declared("send"))[0] == 200
    claims["tenantId"] = "other"
    assert call(preview)[0] == 200


def test_a_function_may_have_more(claims: dict[str, Any]) -> None:
    """Pages of one piece of work; a superadmin without a tenant counts alone."""
    claims["role"] = "superadmin"
    del claims["tenantId"]
    resend = declared("resend", times=2)
    statuses = [call(resend)[0] for _ in range(2 * AT_MOST + 1)]
    assert statuses == [200] * 2 * AT_MOST + [429]
    claims["uid"] = "u2"
    assert call(resend)[0] == 200


def test_somebody_without_a_role_is_refused_before_the_body(claims: dict[str, Any]) -> None:
    """Spec 5; nothing is counted."""
    del claims["role"]
    assert call(declared("preview"))[0] == 403
