"""Design 3.3: the checks of a call by staff, in their order, and the limit on a person's calls."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import flask
import pytest

import main
from functions.access import ADMINS, Role
from functions.adapters import Parameters
from functions.firestore.model import Query
from functions.gcp import callables
from tests.in_memory.adapters import service_on
from tests.in_memory.documents import InMemoryDocuments as Counts
from tests.unit.test_protocol import CALLABLES

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
AT_MOST: Final = 60
"""The value in `.env`."""

CALLS: Final[Mapping[str, tuple[dict[str, Any], str, str]]] = {
    # callable: valid arguments, a misspelt one, the one that was meant
    "sendEventRecap": ({"eventId": "e"}, "mesage", "message"),
    "previewEventRecap": ({"eventId": "e"}, "send_to_me", "sendToMe"),
    "sendTestWebhook": ({"eventId": "e", "url": "https://a.example"}, "events", "event"),
    "resendWebhook": ({"eventId": "e", "deliveryId": "d"}, "dryrun", "dryRun"),
    "rotateWebhookSecret": ({"eventId": "e"}, "event_id", "eventId"),
    "shareWebhookLog": ({"eventId": "e", "url": "https://a.example"}, "can_resend", "canResend"),
    "revokeWebhookLog": ({"eventId": "e", "shareId": "s"}, "tenant", "tenantId"),
    "getWebhookLog": ({"token": "t"}, "outcomes", "outcome"),
    "resendSharedWebhook": ({"token": "t"}, "deliveryID", "deliveryId"),
    "updateEmailPreferences": ({"token": "t"}, "preference", "preferences"),
}


def counted(documents: Counts) -> list[int]:
    """The shared counts."""
    found = documents.find(Query(collection="rateLimits"))
    return [count.fields["count"] for count in found]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """The counts; the use cases behind them find no event."""
    counts = Counts()
    service = service_on(counts, parameters=Parameters(staff_calls_an_hour=AT_MOST))
    monkeypatch.setattr(main, "service", lambda: service)
    return counts


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch, counts: Counts) -> dict[str, Any]:
    """The claims of the ID token; a test may change them."""
    del counts
    given = {"uid": "u1", "role": "superadmin", "tenantId": "acme"}
    monkeypatch.setattr(callables, "_app", lambda: None)
    monkeypatch.setattr("firebase_admin.auth.verify_id_token", lambda *_, **__: dict(given))
    return given


def call(name: str, data: object) -> dict[str, Any]:
    """The error of a call by the person whom the fixture `claims` describes."""
    app = flask.Flask("worker")
    headers = {"Authorization": "Bearer t"}
    with app.test_request_context(method="POST", json={"data": data}, headers=headers):
        answer: flask.Response = getattr(main, name)(flask.request)
    error: dict[str, Any] = answer.get_json()["error"]
    return error


STAFF: Final = [name for name, (valid, *_) in CALLS.items() if "eventId" in valid]


def test_the_table_has_every_callable() -> None:
    """`getEmailPreferences` alone takes any argument: spec 7.2 names all its refusals."""
    assert CALLS.keys() | {"getEmailPreferences"} == set(CALLABLES)


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_argument_is_refused_by_its_name(
    name: str, claims: dict[str, Any], counts: Counts
) -> None:
    """Design 3.4: `invalid-argument` names the nearest known one; nothing is read or counted."""
    del claims
    valid, misspelt, meant = CALLS[name]
    for given in (None, "x", {"y": 1}):
        error = call(name, valid | {misspelt: given})
        assert error == {
            "status": "INVALID_ARGUMENT",
            "message": f"Unknown argument {misspelt}: write {meant}.",
        }
    error = call(name, valid | {"x" * 1000: 1})
    known = "token, " if "token" in valid else "eventId, tenantId"
    assert error["message"].startswith(f"Unknown argument {'x' * 64}: this call knows {known}")
    assert not counted(counts)


def test_an_unknown_flag_is_refused_by_its_name(claims: dict[str, Any], counts: Counts) -> None:
    """Design 3.4: the same holds inside an object."""
    del claims
    data = {"token": "t", "preferences": {"recap": False, "Marketing": False}}
    assert call("updateEmailPreferences", data) == {
        "status": "INVALID_ARGUMENT",
        "message": "Unknown argument Marketing in preferences: write marketing.",
    }
    assert not counted(counts)


@pytest.mark.parametrize("name", STAFF)
def test_calls_are_checked_in_order(name: str, claims: dict[str, Any], counts: Counts) -> None:
    """Design 3.3: ID token, role, arguments, count, event; each check hides the later ones."""
    valid, misspelt, _ = CALLS[name]
    claims["role"] = "guest"
    assert call(name, {misspelt: 1})["status"] == "PERMISSION_DENIED"
    claims["role"] = "superadmin"
    assert call(name, valid | {misspelt: 1})["status"] == "INVALID_ARGUMENT"
    assert not counted(counts)
    times = 10 if name == "resendWebhook" else 1
    for _ in range(times * AT_MOST):
        assert call(name, valid)["status"] == "NOT_FOUND"
    assert call(name, valid | {misspelt: 1})["status"] == "INVALID_ARGUMENT"
    assert call(name, valid) == {
        "status": "RESOURCE_EXHAUSTED",
        "message": (
            f"You have made your {times * AT_MOST} calls of {name} this hour;"
            " call again from 19:00 UTC on."
        ),
        "details": {"reason": "calls", "possibleFrom": "2026-05-01T19:00:00.000Z"},
    }


def test_a_person_uses_up_nobody_elses_calls(claims: dict[str, Any]) -> None:
    """Spec 8: calls are counted by person and function, not by tenant."""
    claims["role"] = "moderator"
    statuses = [call("previewEventRecap", {"eventId": "e"})["status"] for _ in range(AT_MOST + 1)]
    assert statuses == ["NOT_FOUND"] * AT_MOST + ["RESOURCE_EXHAUSTED"]
    assert call("sendEventRecap", {"eventId": "e"})["status"] == "NOT_FOUND"
    claims["uid"] = "u2"
    assert call("previewEventRecap", {"eventId": "e"})["status"] == "NOT_FOUND"


ROLES: Final = {
    "sendEventRecap": frozenset(Role),
    "previewEventRecap": frozenset(Role),
    "rotateWebhookSecret": frozenset({Role.SUPERADMIN}),
}
"""The roles that a call of staff is for (spec 4 and 5); every other call is for `ADMINS`."""


@pytest.mark.parametrize("role", [None, "guest", *Role])
@pytest.mark.parametrize("name", STAFF)
def test_each_call_is_for_its_roles(
    name: str, role: str | None, claims: dict[str, Any], counts: Counts
) -> None:
    """Spec 5; the arguments of a caller with another role are not read (design 3.3)."""
    claims["role"] = role
    allowed = role in ROLES.get(name, ADMINS)
    status = call(name, CALLS[name][0] if allowed else None)["status"]
    assert status == ("NOT_FOUND" if allowed else "PERMISSION_DENIED")
    assert bool(counted(counts)) == allowed
