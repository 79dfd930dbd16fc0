"""Accounts of the auth emulator: create them, sign them in, and call functions as them."""

import json
import os
import uuid
from dataclasses import dataclass
from typing import Any, Final

import requests

from emulator.firebase import read_addresses
from functions.ports import LOCATION

_API_KEY: Final = "local"  # the auth emulator accepts any key
# Sending a recap may take minutes.
_TIMEOUT_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Account:
    """A signed-in user, with an ID token of the auth emulator."""

    uid: str
    email: str
    id_token: str


def sign_in(
    role: str | None = None,
    tenant_id: str | None = None,
    *,
    email: str | None = None,
    password: str | None = None,
    verified: bool = True,
) -> Account:
    """Create a user with the claims `role` and `tenantId`, and sign in with a password.

    `verified` is the user's `emailVerified`.
    """
    address = email or f"{uuid.uuid4().hex}@example.com"
    password = password or uuid.uuid4().hex
    claims = {"role": role, "tenantId": tenant_id}
    user = _auth("accounts", {"email": address, "password": password}, admin=True)
    _auth(
        "accounts:update",
        {
            "localId": user["localId"],
            "emailVerified": verified,
            "customAttributes": json.dumps({k: v for k, v in claims.items() if v is not None}),
        },
        admin=True,
    )
    signed_in = _auth(
        "accounts:signInWithPassword",
        {"email": address, "password": password, "returnSecureToken": True},
    )
    return Account(uid=user["localId"], email=address, id_token=signed_in["idToken"])


def sign_in_anonymously() -> Account:
    """Sign in a guest anonymously."""
    user = _auth("accounts:signUp", {"returnSecureToken": True})
    return Account(uid=user["localId"], email="", id_token=user["idToken"])


def call(function: str, data: object, caller: Account) -> dict[str, Any]:
    """Call a function of the local service as `caller` and return its result or error."""
    address = read_addresses()["functions"]
    url = f"http://{address}/{os.environ['GCLOUD_PROJECT']}/{LOCATION}/{function}"
    response: dict[str, Any] = _post(url, {"data": data}, token=caller.id_token).json()
    return response


def _auth(method: str, body: dict[str, Any], *, admin: bool = False) -> dict[str, Any]:
    base = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}/identitytoolkit.googleapis.com/v1"
    path = f"projects/{os.environ['GCLOUD_PROJECT']}/{method}" if admin else method
    response = _post(f"{base}/{path}?key={_API_KEY}", body, token="owner" if admin else None)
    response.raise_for_status()
    result: dict[str, Any] = response.json()
    return result


def _post(url: str, body: dict[str, Any], *, token: str | None) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with requests.Session() as session:
        # Ignore proxies: this request stays on the machine.
        session.trust_env = False
        return session.post(url, json=body, headers=headers, timeout=_TIMEOUT_SECONDS)
