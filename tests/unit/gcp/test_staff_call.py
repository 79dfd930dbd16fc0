"""Design 3.3: the order of the checks of a staff call, and the limit on a person's calls."""

import itertools
import json
from datetime import UTC, datetime
from typing import Any, Final

import flask
import pytest

import main
from functions.call.caller import Role
from functions.firestore.model import Query
from functions.gcp import callables
from functions.parameters import Parameters
from tests.in_memory.adapters import service_on
from tests.in_memory.documents import InMemoryDocuments as Counts
from tests.unit.contract.calls import CALLS

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
AT_MOST: Final = 6
"""Calls of a person in an hour. The default is 60."""

BY_STAFF: Final = [name for name, each in CALLS.items() if each.roles]
BY_ANYBODY: Final = [name for name, each in CALLS.items() if not each.roles]
NAMED: Final = [name for name, each in CALLS.items() if each.misspelled]
"""Callables that reject an unknown argument and name it."""


def counted(documents: Counts) -> list[int]:
    """Return the shared counts."""
    found = documents.find(Query(collection="rateLimits"))
    return [count.fields["count"] for count in found]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """Return the documents with the counts. There are no events."""
    counts = Counts()
    service = service_on(counts, parameters=Parameters(staff_calls_an_hour=AT_MOST))
    monkeypatch.setattr(main, "service", lambda: service)
    return counts


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch, counts: Counts) -> dict[str, Any]:
    """Return the claims of the ID token. A test may change them."""
    del counts
    given = {"uid": "u1", "role": "superadmin", "tenantId": "acme"}
    monkeypatch.setattr(callables, "_app", lambda: None)
    monkeypatch.setattr("firebase_admin.auth.verify_id_token", lambda *_, **__: dict(given))
    return given


def call(name: str, data: object) -> dict[str, Any]:
    """Call as the person in the fixture `claims`, and return the error."""
    return posted(name, json.dumps({"data": data}).encode(), Authorization="Bearer t")


def posted(name: str, body: bytes, **headers: str) -> dict[str, Any]:
    """Send a request to the callable `name`, and return the error."""
    app = flask.Flask("worker")
    given = {"Content-Type": "application/json"} | headers
    with app.test_request_context(method="POST", data=body, headers=given):
        answer: flask.Response = getattr(main, name)(flask.request)
    error: dict[str, Any] = answer.get_json()["error"]
    return error


@pytest.mark.parametrize("name", BY_ANYBODY)
def test_half_a_body_is_an_invalid_argument(name: str) -> None:
    """Design 3.6: without this rule the SDK answers `internal`."""
    assert posted(name, b"{")["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", BY_STAFF)
def test_a_caller_without_a_token_is_refused_before_the_body_is_read(name: str) -> None:
    """Spec 5: calls with a link need no ID token."""
    for body in (b"{", b'{"data": {}}'):
        assert posted(name, body)["status"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("name", NAMED)
def test_an_unknown_argument_is_refused_by_its_name(
    name: str, claims: dict[str, Any], counts: Counts
) -> None:
    """Design 3.4: suggest the most similar argument. Read and count nothing."""
    del claims
    valid = CALLS[name].valid
    for (misspelled, meant), given in itertools.product(
        CALLS[name].misspelled.items(), (None, "x", {"y": 1})
    ):
        error = call(name, valid | {misspelled: given})
        assert error == {
            "status": "INVALID_ARGUMENT",
            "message": f'Unknown argument "{misspelled}". Did you mean {meant}?',
        }
    error = call(name, valid | {"x" * 1000: 1})
    known = "token, " if "token" in valid else "eventId, tenantId"
    assert error["message"].startswith(f'Unknown argument "{"x" * 64}". Allowed arguments: {known}')
    assert not counted(counts)


@pytest.mark.parametrize("name", BY_STAFF)
def test_calls_are_checked_in_order(name: str, claims: dict[str, Any], counts: Counts) -> None:
    """Design 3.3: the order is ID token, role, arguments, count, event."""
    valid, unknown = CALLS[name].valid, {"unknown": 1}
    claims["role"] = "guest"
    assert call(name, unknown)["status"] == "PERMISSION_DENIED"
    claims["role"] = "superadmin"
    assert call(name, valid | unknown)["status"] == "INVALID_ARGUMENT"
    assert not counted(counts)
    times = 10 if name == "resendWebhook" else 1
    for _ in range(times * AT_MOST):
        assert call(name, valid)["status"] == "NOT_FOUND"
    assert call(name, valid | unknown)["status"] == "INVALID_ARGUMENT"
    assert call(name, valid) == {
        "status": "RESOURCE_EXHAUSTED",
        "message": (
            f"You have reached the hourly limit of {times * AT_MOST} calls of {name}."
            " Try again at 19:00 UTC."
        ),
        "details": {"reason": "calls", "possibleFrom": "2026-05-01T19:00:00.000Z"},
    }


def test_calls_are_limited_by_person_and_function(claims: dict[str, Any]) -> None:
    """Spec 8: they are not limited by tenant."""
    claims["role"] = "moderator"
    statuses = [call("previewEventRecap", {"eventId": "e"})["status"] for _ in range(AT_MOST + 1)]
    assert statuses == ["NOT_FOUND"] * AT_MOST + ["RESOURCE_EXHAUSTED"]
    assert call("sendEventRecap", {"eventId": "e"})["status"] == "NOT_FOUND"
    claims["uid"] = "u2"
    assert call("previewEventRecap", {"eventId": "e"})["status"] == "NOT_FOUND"


@pytest.mark.parametrize("role", [None, "guest", *Role])
@pytest.mark.parametrize("name", BY_STAFF)
def test_each_call_is_for_its_roles(
    name: str, role: str | None, claims: dict[str, Any], counts: Counts
) -> None:
    """See spec 5. Arguments of a caller with another role are not read (design 3.3)."""
    claims["role"] = role
    allowed = role in CALLS[name].roles
    status = call(name, CALLS[name].valid if allowed else None)["status"]
    assert status == ("NOT_FOUND" if allowed else "PERMISSION_DENIED")
    assert bool(counted(counts)) == allowed
