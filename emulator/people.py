"""People of the wall: users of the auth emulator, with the claims that make them staff."""

import json
import os
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any, Final

_API_KEY: Final = "local"  # the auth emulator takes any


@dataclass(frozen=True, slots=True)
class Person:
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
) -> Person:
    """Make a user with the claims `role` and `tenantId`, and sign it in with a password.

    `verified` is whether it has proved that the address is its own.
    """
    address = email or f"{uuid.uuid4().hex}@example.com"
    password = password or uuid.uuid4().hex
    claims = {"role": role, "tenantId": tenant_id}
    user = _call("accounts", {"email": address, "password": password}, admin=True)
    _call(
        "accounts:update",
        {
            "localId": user["localId"],
            "emailVerified": verified,
            "customAttributes": json.dumps({k: v for k, v in claims.items() if v is not None}),
        },
        admin=True,
    )
    signed_in = _call(
        "accounts:signInWithPassword",
        {"email": address, "password": password, "returnSecureToken": True},
    )
    return Person(uid=user["localId"], email=address, id_token=signed_in["idToken"])


def sign_in_anonymously() -> Person:
    """A guest's anonymous sign-in."""
    user = _call("accounts:signUp", {"returnSecureToken": True})
    return Person(uid=user["localId"], email="", id_token=user["idToken"])


def call(function: str, data: object, caller: Person) -> dict[str, Any]:
    """Call a function of the local suite as `caller`; its answer, a result or an error."""
    base = f"http://127.0.0.1:5001/{os.environ['GCLOUD_PROJECT']}/us-central1"
    request = urllib.request.Request(  # noqa: S310 - the emulator's own address
        f"{base}/{function}",
        json.dumps({"data": data}).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {caller.id_token}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - likewise
            answered: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            answered = json.load(refused)
    return answered


def _call(method: str, body: dict[str, Any], *, admin: bool = False) -> dict[str, Any]:
    base = f"http://{os.environ['FIREBASE_AUTH_EMULATOR_HOST']}/identitytoolkit.googleapis.com/v1"
    path = f"projects/{os.environ['GCLOUD_PROJECT']}/{method}" if admin else method
    request = urllib.request.Request(  # noqa: S310 - the emulator's own address
        f"{base}/{path}?key={_API_KEY}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"} | ({"Authorization": "Bearer owner"} if admin else {}),
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - likewise
        answered: dict[str, Any] = json.load(answer)
        return answered
