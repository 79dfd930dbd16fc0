"""`ops/staff` against Firebase Authentication itself: the roles of docs/data-model.md."""

import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

import pytest
from firebase_admin import App, auth, delete_app, initialize_app
from google.cloud import firestore

from ops import staff
from tests.suite.call import fetch
from tests.suite.operator_scripts import outside

Run = Callable[..., tuple[int, str, str]]
PASSWORD: Final = "correct horse battery"
TOOLKIT: Final = "identitytoolkit.googleapis.com/v1/accounts"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `ops/staff`, and return its status, output and errors."""
    address = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}/{{host}}"
    # A second later: a session of the same second as the revocation counts as a new one.
    later = outside(address, now=lambda: datetime.now(UTC) + timedelta(seconds=1))

    def run(*arguments: str) -> tuple[int, str, str]:
        status = staff.main([os.environ["GCLOUD_PROJECT"], *arguments], later)
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def app() -> Iterator[App]:
    """Initialize the Admin SDK as an app's backend does."""
    found = initialize_app(options={"projectId": os.environ["GCLOUD_PROJECT"]}, name="staff")
    yield found
    delete_app(found)


@pytest.fixture
def email() -> str:
    """Return an address that only this test uses."""
    return f"mo-{uuid.uuid4().hex[:8]}@example.com"


def auth_request(method: str, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Call Firebase Authentication like a client, and return status and response."""
    address = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}/{method}?key=any"
    content = {"Content-Type": "application/json"}
    status, text, _ = fetch(address, json.dumps(body).encode(), content)
    return status, json.loads(text)


def code_of(said: str) -> str:
    """Return the code of the link in the last line."""
    return said.strip().splitlines()[-1].partition("oobCode=")[2].partition("&")[0]


def test_a_moderator_is_added_signs_in_and_is_removed(run: Run, email: str, app: App) -> None:
    """The link sets a password, the token has the claims, and a revoked session ends."""
    tenant = f"t-{uuid.uuid4().hex[:8]}"
    status, said, errors = run("grant", email, "--role", "moderator", "--tenant", tenant)
    assert status == 0, errors
    reset = {"oobCode": code_of(said), "newPassword": PASSWORD}
    assert auth_request(f"{TOOLKIT}:resetPassword", reset)[0] == 200
    sign_in = {"email": email, "password": PASSWORD, "returnSecureToken": True}
    session = auth_request(f"{TOOLKIT}:signInWithPassword", sign_in)[1]
    token = auth.verify_id_token(session["idToken"], app)
    assert (token["role"], token["tenantId"]) == ("moderator", tenant)
    assert run("list", "--tenant", tenant) == (0, f"moderator   {tenant}  {email}\n", "")

    assert run("revoke", email, "--role", "admin")[0] == 1, "no admin"
    assert run("revoke", email)[0] == 0
    assert run("list", "--tenant", tenant) == (0, "No accounts have a role.\n", "")
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(session["idToken"], app, check_revoked=True)


def test_a_new_role_keeps_the_claims_of_an_app(run: Run, email: str, app: App) -> None:
    """An account has one role. A person with a verified address gets no link."""
    account = auth.create_user(email=email, email_verified=True, password=PASSWORD, app=app)
    auth.set_custom_user_claims(account.uid, {"plan": "pro"}, app)
    said = run("grant", email, "--role", "admin", "--tenant", "a")[1]
    assert "http" not in said
    said = run("grant", email, "--role", "superadmin")[1]
    assert f"{email} was admin of a\n" in said
    assert auth.get_user(account.uid, app).custom_claims == {"plan": "pro", "role": "superadmin"}
    run("revoke", email)
    assert auth.get_user(account.uid, app).custom_claims == {"plan": "pro"}


def test_an_account_created_by_a_stranger_is_secured(run: Run, email: str, app: App) -> None:
    """Sign-up is open: password, other providers and sessions of an unverified account end."""
    form = {"email": email, "password": PASSWORD, "returnSecureToken": True}
    stranger = auth_request(f"{TOOLKIT}:signUp", form)[1]
    linked = json.dumps({"sub": uuid.uuid4().hex, "email": email, "email_verified": False})
    body = {
        "idToken": stranger["idToken"],
        "postBody": f"providerId=facebook.com&id_token={quote(linked)}",
        "requestUri": "http://localhost",
        "returnSecureToken": True,
    }
    assert auth_request(f"{TOOLKIT}:signInWithIdp", body)[0] == 200
    account = auth.get_user(stranger["localId"], app)
    ways_in = {way.provider_id for way in account.provider_data}
    assert (ways_in, account.email_verified) == ({"password", "facebook.com"}, False)

    said = run("grant", email, "--role", "admin", "--tenant", "a")[1]

    assert "never verified. Ended all sessions, and sign-in by" in said
    assert auth_request(f"{TOOLKIT}:signInWithPassword", form)[0] == 400
    account = auth.get_user(account.uid, app)
    assert [way.provider_id for way in account.provider_data] == ["password"]
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(stranger["idToken"], app, check_revoked=True)
    reset = {"oobCode": code_of(said), "newPassword": "the person's own"}
    assert auth_request(f"{TOOLKIT}:resetPassword", reset)[0] == 200
    assert (
        auth_request(f"{TOOLKIT}:signInWithPassword", form | {"password": "the person's own"})[0]
        == 200
    )
    assert "http" not in run("grant", email, "--role", "admin", "--tenant", "b")[1], (
        "is verified now"
    )


def test_access_of_removed_staff_is_reported_and_revoked(
    run: Run, email: str, app: App, db: firestore.Client
) -> None:
    """`--links` ends the person's links and emails. URLs and secrets are only reported."""
    tenant, event = f"t-{uuid.uuid4().hex[:8]}", f"e-{uuid.uuid4().hex[:8]}"
    run("grant", email, "--role", "admin", "--tenant", tenant)
    uid = auth.get_user_by_email(email, app).uid
    wall = db.document(f"events/{event}")
    wall.set({"tenantId": tenant})
    later = datetime.now(UTC) + timedelta(days=1)
    shares = {"own": {"createdBy": uid}, "another's": {"createdBy": "x"}}
    shares["over"] = {"createdBy": uid, "revokedAt": later}
    for name, fields in shares.items():
        wall.collection("shares").document(name).set({"expireAt": later, **fields})
    settings = wall.collection("settings").document("webhooks")
    settings.set({"notify": [email.upper(), "other@example.com"], "urls": ["https://a.example"]})
    told = (
        f"a link to a delivery log, events/{event}/shares/own\n",
        f"emails about failing webhooks of events/{event}\n",
    )

    said = run("revoke", email)[1]
    urls = f"left: webhook URLs of events/{event}, added by any admin: 1\n"
    assert all(f"left: {text}" in said for text in told)
    assert (urls in said, said.count("shares/"), "pass --links" in said) == (True, 1, True)
    assert run("revoke", email)[0] == 1

    said = run("revoke", email, "--tenant", tenant, "--links")[1]
    assert all(f"ended: {text}" in said for text in told)
    assert settings.get().get("notify") == ["other@example.com"]
    ended = wall.collection("shares").document("own").get().to_dict() or {}
    assert ended["revokedAt"] == ended["expireAt"] < later
    assert wall.collection("shares").document("another's").get().get("expireAt") == later
    assert "ended" not in run("revoke", email, "--tenant", tenant, "--links")[1]

    run("grant", email, "--role", "superadmin")
    wall.collection("secrets").document("webhooks").set({"secret": "whsec_x"})
    assert (
        f"left: the webhook secret of events/{event}, until it is rotated"
        in run("revoke", email)[1]
    )
    db.recursive_delete(wall)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["revoke", "nobody@example.com"], "nobody@example.com has no account"),
        (["grant", "no address", "--role", "superadmin"], "Malformed email address"),
    ],
)
def test_an_impossible_change_is_reported(run: Run, arguments: list[str], told: str) -> None:
    """A command that cannot be carried out says why in a sentence, with status 1."""
    status, said, errors = run(*arguments)
    assert (status, said, told in errors) == (1, "", True), errors
