"""People of the wall: users of the auth emulator, with the claims that make them staff."""

import json
import os
import uuid
from dataclasses import dataclass
from typing import Any, Final

import requests

from emulator.firebase import read_addresses
from functions.ports import LOCATION

_API_KEY: Final = "local"  # the auth emulator takes any
# Seconds. A recap may take its time.
_TIMEOUT: Final = 120.0


@dataclass(frozen=True, slots=True)
class Account:
    """A signed-in user: uid, e-mail address and a real ID token of the auth emulator."""

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
    """Make a user with the claims `role` and `tenantId`, and sign it in with a password.

    `verified` is whether it has proved that the address is its own.
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
    """A guest's anonymous sign-in."""
    user = _auth("accounts:signUp", {"returnSecureToken": True})
    return Account(uid=user["localId"], email="", id_token=user["idToken"])


def call(function: str, data: object, caller: Account) -> dict[str, Any]:
    """Call a function of the local suite as `caller`; its answer, a result or an error."""
    address = read_addresses()["functions"]
    url = f"http://{address}/{os.environ['GCLOUD_PROJECT']}/{LOCATION}/{function}"
    answered: dict[str, Any] = _post(url, {"data": data}, token=caller.id_token).json()
    return answered


def _auth(method: str, body: dict[str, Any], *, admin: bool = False) -> dict[str, Any]:
    base = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}/identitytoolkit.googleapis.com/v1"
    path = f"projects/{os.environ['GCLOUD_PROJECT']}/{method}" if admin else method
    answer = _post(f"{base}/{path}?key={_API_KEY}", body, token="owner" if admin else None)
    answer.raise_for_status()
    answered: dict[str, Any] = answer.json()
    return answered


def _post(url: str, body: dict[str, Any], *, token: str | None) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with requests.Session() as session:
        # This request stays on the machine, also if a proxy is set.
        session.trust_env = False
        return session.post(url, json=body, headers=headers, timeout=_TIMEOUT)
