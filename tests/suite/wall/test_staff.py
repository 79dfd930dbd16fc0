"""`ops/staff` against Firebase Authentication itself: the roles of docs/data-model.md."""

import json
import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from firebase_admin import App, auth, delete_app, initialize_app

from ops import staff
from tests.suite.operators import outside

Run = Callable[..., tuple[int, str, str]]
PASSWORD: Final = "correct horse battery"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `ops/staff`; its status, output and errors."""
    address = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}/{{host}}"
    # A second later: a session of the same second as the revocation counts as a new one.
    later = outside(address, now=lambda: datetime.now(UTC) + timedelta(seconds=1))

    def run(*arguments: str) -> tuple[int, str, str]:
        status = staff.main([os.environ["GCLOUD_PROJECT"], *arguments], later)
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def app() -> Iterator[App]:
    """The Admin SDK, which a backend of an app uses."""
    found = initialize_app(options={"projectId": os.environ["GCLOUD_PROJECT"]}, name="staff")
    yield found
    delete_app(found)


@pytest.fixture
def email() -> str:
    """An address of this test alone."""
    return f"mo-{uuid.uuid4().hex[:8]}@example.com"


def asked(method: str, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """What a client of Firebase Authentication gets: status and answer."""
    host = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}"
    request = urllib.request.Request(  # noqa: S310 - the emulator
        f"{host}/{method}?key=any",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_moderator_is_made_signs_in_and_is_let_go(run: Run, email: str, app: App) -> None:
    """The link sets a password; the token has the claims; a revoked session ends."""
    tenant = f"t-{uuid.uuid4().hex[:8]}"
    status, said, errors = run("grant", email, "--role", "moderator", "--tenant", tenant)
    assert status == 0, errors
    code = said.strip().splitlines()[-1].partition("oobCode=")[2].partition("&")[0]
    toolkit = "identitytoolkit.googleapis.com/v1/accounts"
    reset = {"oobCode": code, "newPassword": PASSWORD}
    assert asked(f"{toolkit}:resetPassword", reset)[0] == 200
    sign_in = {"email": email, "password": PASSWORD, "returnSecureToken": True}
    session = asked(f"{toolkit}:signInWithPassword", sign_in)[1]
    token = auth.verify_id_token(session["idToken"], app)
    assert (token["role"], token["tenantId"]) == ("moderator", tenant)
    assert run("list", "--tenant", tenant) == (0, f"moderator   {tenant}  {email}\n", "")

    assert run("revoke", email, "--role", "admin")[0] == 1, "no admin"
    assert run("revoke", email)[0] == 0
    assert run("list", "--tenant", tenant) == (0, "Nobody.\n", "")
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(session["idToken"], app, check_revoked=True)


def test_claims_of_an_app_stay_and_a_role_is_replaced(run: Run, email: str, app: App) -> None:
    """An account has one role; who can sign in gets no link."""
    account = auth.create_user(email=email, password=PASSWORD, app=app)
    auth.set_custom_user_claims(account.uid, {"plan": "pro"}, app)
    said = run("grant", email, "--role", "admin", "--tenant", "a")[1]
    assert "http" not in said
    said = run("grant", email, "--role", "superadmin")[1]
    assert f"{email} was admin of a\n" in said
    assert auth.get_user(account.uid, app).custom_claims == {"plan": "pro", "role": "superadmin"}
    run("revoke", email)
    assert auth.get_user(account.uid, app).custom_claims == {"plan": "pro"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["revoke", "nobody@example.com"], "nobody@example.com has no account"),
        (["grant", "no address", "--role", "superadmin"], "no address is no address."),
    ],
)
def test_what_cannot_be_done_is_told(run: Run, arguments: list[str], told: str) -> None:
    """A command that cannot be carried out says why in a sentence, with status 1."""
    status, said, errors = run(*arguments)
    assert (status, said, told in errors) == (1, "", True), errors
