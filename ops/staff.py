"""Who may do what in which tenant: the claims `role` and `tenantId` of accounts in Firebase.

https://cloud.google.com/identity-platform/docs/reference/rest/v1/projects.accounts
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ops.cloud import Cloud, OpsError, Outside, RefusedError, say

ROLES: Final = ("admin", "moderator", "superadmin")
_DESCRIPTION: Final = """\
Lists who has a role, gives a role to the account of an address, or takes it away. `grant` makes the
account where there is none, and prints the link with which the person sets a password.
"""
_REFUSALS: Final = {
    "CONFIGURATION_NOT_FOUND": "Sign-in is off in {project}: run ops/setup {project} first.",
    "INVALID_EMAIL": "{email} is no address.",
    "CLAIMS_TOO_LARGE": "The app's own claims leave no room for a role: 1,000 characters in all.",
}


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line; list, grant or revoke; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/staff", description=_DESCRIPTION)
    parser.add_argument("project", help="the project's id")
    parser.add_argument("what", choices=["list", "grant", "revoke"])
    parser.add_argument("email", nargs="?", help="whose account; not for list")
    parser.add_argument("--role", choices=ROLES)
    parser.add_argument("--tenant", help="the tenantId of events; a superadmin may have none")
    given = parser.parse_args(arguments)
    if (given.email is None) != (given.what == "list"):
        parser.error("grant and revoke need an address, list takes none")
    if given.what == "grant" and not given.role:
        parser.error(f"grant needs --role {'|'.join(ROLES)}")
    if given.what == "grant" and given.role != "superadmin" and not given.tenant:
        parser.error(f"{given.role} needs --tenant")
    outside = outside or Outside()
    staff = Staff(Cloud(given.project, outside), outside)
    try:
        match given.what:
            case "list":
                staff.list(given.role, given.tenant)
            case "grant":
                staff.grant(given.email, given.role, given.tenant)
            case "revoke":
                staff.revoke(given.email, given.role, given.tenant)
    except RefusedError as error:
        plain = next((text for code, text in _REFUSALS.items() if code in error.text), str(error))
        told = plain.format(project=given.project, email=given.email)
        sys.stderr.write(f"{told}\n")
        return 1
    except OpsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


class Staff:
    """The accounts of one project."""

    def __init__(self, cloud: Cloud, outside: Outside) -> None:
        self._cloud = cloud
        self._outside = outside
        self._accounts = f"v1/projects/{cloud.project}/accounts"

    def list(self, role: str | None, tenant: str | None) -> None:
        """Print a line for each account that has a role: role, tenant, address."""
        lines = []
        for account in self._all():
            claims = _claims(account)
            if claims.get("role") not in ROLES:
                continue
            if role in (None, claims["role"]) and tenant in (None, claims.get("tenantId")):
                email = account.get("email") or account["localId"]
                off = "  (disabled)" if account.get("disabled") else ""
                lines.append(f"{claims['role']:10}  {claims.get('tenantId', '-')}  {email}{off}")
        for line in sorted(lines):
            say(line)
        if not lines:
            say("Nobody.")

    def grant(self, email: str, role: str, tenant: str | None) -> None:
        """Give the role, in the place of another one.

        Raises:
            RefusedError: Google refuses.
        """
        account = self._found(email)
        if account is None:
            account = self._call("", {"email": email})
            say(f"made an account for {email}")
        else:
            before = _claims(account)
            if before.get("role") in ROLES:
                say(f"{email} was {_words(before)}")
        of_app = {key: value for key, value in _claims(account).items() if key not in _OURS}
        claims = {**of_app, "role": role} | ({"tenantId": tenant} if tenant else {})
        self._update(account, claims)
        say(f"{email} is {_words(claims)}, from the next sign-in on, or within an hour")
        if not account.get("providerUserInfo"):  # no way to sign in yet
            request = {"requestType": "PASSWORD_RESET", "email": email, "returnOobLink": True}
            link = self._call(":sendOobCode", request)["oobLink"]
            say(f"with this link, once, {email} sets a password:\n{link}")

    def revoke(self, email: str, role: str | None, tenant: str | None) -> None:
        """Take the role away and end the sessions.

        Raises:
            OpsError: there is no such account, or it has no such role.
        """
        account = self._found(email)
        if account is None:
            raise OpsError(f"{email} has no account in {self._cloud.project}.")
        claims = _claims(account)
        if claims.get("role") not in ROLES:
            raise OpsError(f"{email} has no role.")
        is_meant = role in (None, claims["role"]) and tenant in (None, claims.get("tenantId"))
        if not is_meant:
            raise OpsError(f"{email} is {_words(claims)}: nothing is taken away.")
        of_app = {key: value for key, value in claims.items() if key not in _OURS}
        self._update(account, of_app, validSince=str(int(self._outside.now().timestamp())))
        say(f"{email} is no longer {_words(claims)}; open windows end within an hour")

    def _all(self) -> Iterator[Mapping[str, Any]]:
        token = ""
        while True:
            path = f"{self._accounts}:batchGet?maxResults=1000&nextPageToken={token}"
            page = self._cloud.call("GET", "identitytoolkit", path)
            yield from page.get("users", [])
            token = page.get("nextPageToken", "")
            if not page.get("users") or not token:
                return

    def _found(self, email: str) -> dict[str, Any] | None:
        users: list[dict[str, Any]] = self._call(":lookup", {"email": [email]}).get("users", [])
        return users[0] if users else None

    def _update(self, account: Mapping[str, Any], claims: Mapping[str, Any], **more: str) -> None:
        attributes = json.dumps(claims, separators=(",", ":"))
        change = {"localId": account["localId"], "customAttributes": attributes, **more}
        self._call(":update", change)

    def _call(self, method: str, body: Mapping[str, Any]) -> dict[str, Any]:
        path = f"{self._accounts}{method}"
        answer: dict[str, Any] = self._cloud.call("POST", "identitytoolkit", path, body)
        return answer


_OURS: Final = ("role", "tenantId")


def _claims(account: Mapping[str, Any]) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(account.get("customAttributes") or "{}")
    return claims


def _words(claims: Mapping[str, Any]) -> str:
    tenant = claims.get("tenantId")
    return f"{claims['role']} of {tenant}" if tenant else str(claims["role"])
