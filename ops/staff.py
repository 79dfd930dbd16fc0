"""Lists, grants and revokes staff roles: the claims `role` and `tenantId` of accounts."""

import argparse
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from firebase_admin import App, auth

from functions.email_address import identity
from functions.firestore.model import Documents, Query, Update, as_time
from functions.ports import wire_time
from ops import firebase
from ops.cloud import Cloud, OpsError, Outside, parser_of, run, say

ROLES: Final = ("admin", "moderator", "superadmin")
_OURS: Final = ("role", "tenantId")
_DESCRIPTION: Final = """\
Lists, grants or revokes roles of accounts. `grant` creates a missing account and prints the link to
set its password. If the address was never verified, `grant` first resets the password and removes
all sessions and other sign-in methods. `revoke` lists the access that the person still has.
"""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/staff and return its exit status."""
    parser = parser_of("ops/staff", _DESCRIPTION)
    parser.add_argument("what", choices=["list", "grant", "revoke"])
    parser.add_argument("email", nargs="?", help="address of the account, except for list")
    parser.add_argument("--role", choices=ROLES)
    parser.add_argument("--tenant", help="tenantId of events (optional for a superadmin)")
    parser.add_argument(
        "--links",
        action="store_true",
        help="revoke: also end the person's links to delivery logs and emails to their address",
    )
    options = parser.parse_args(arguments)
    if (options.email is None) != (options.what == "list"):
        parser.error("grant and revoke require an address, list does not accept one")
    if options.what == "grant" and not options.role:
        parser.error(f"grant requires --role {'|'.join(ROLES)}")
    if options.what == "grant" and options.role != "superadmin" and not options.tenant:
        parser.error(f"{options.role} requires --tenant")
    return run(_act, options, outside)


def _act(options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    try:
        with firebase.app(cloud) as app:
            staff = Staff(app, outside)
            match options.what:
                case "list":
                    staff.list(options.role, options.tenant)
                case "grant":
                    staff.grant(options.email, options.role, options.tenant)
                case "revoke":
                    uid, claims = staff.revoke(
                        options.email, options.role, options.tenant, again=options.links
                    )
                    left = LeftBehind(outside.documents(cloud), outside)
                    left.report(uid, options.email, claims, end=options.links)
    except auth.ConfigurationNotFoundError as error:
        raise OpsError(f"Sign-in is off. Run ops/setup {options.project} first.") from error
    except ValueError as error:  # invalid address
        raise OpsError(str(error)) from error


class Staff:
    """The accounts of one project."""

    def __init__(self, app: App, outside: Outside) -> None:
        self._app = app
        self._outside = outside

    def list(self, role: str | None, tenant: str | None) -> None:
        """Print a line for each account that has a role: role, tenant, address."""
        lines = []
        for account in auth.list_users(app=self._app).iterate_all():
            claims = account.custom_claims or {}
            if claims.get("role") not in ROLES:
                continue
            if role in (None, claims["role"]) and tenant in (None, claims.get("tenantId")):
                email = account.email or account.uid
                off = "  (disabled)" if account.disabled else ""
                lines.append(f"{claims['role']:10}  {claims.get('tenantId', '-')}  {email}{off}")
        for line in sorted(lines) or ["No accounts have a role."]:
            say(line)

    def grant(self, email: str, role: str, tenant: str | None) -> None:
        """Grant the role and replace any other one.

        Sign-up is open, so an unverified account may belong to a stranger. Reset its password.
        """
        account = self._found(email)
        if account is None:
            account = auth.create_user(email=email, app=self._app)
            say(f"created an account for {email}")
        before = account.custom_claims or {}
        if before.get("role") in ROLES:
            say(f"{email} was {_words(before)}")
        claims = {**_of_app(before), "role": role} | ({"tenantId": tenant} if tenant else {})
        ways_in = [way.provider_id for way in account.provider_data]
        closed: dict[str, Any] = {}
        if not account.email_verified:
            others = [way for way in ways_in if way != "password"]
            closed = {"password": secrets.token_urlsafe(32), "valid_since": self._now()}
            closed |= {"providers_to_delete": others} if others else {}
            if ways_in:
                ended = ", ".join(ways_in)
                say(f"The address was never verified. Ended all sessions, and sign-in by {ended}.")
        auth.update_user(account.uid, custom_claims=claims, app=self._app, **closed)
        say(f"{email} is {_words(claims)} from the next sign-in, or within an hour")
        if closed or not ways_in:
            link = auth.generate_password_reset_link(email, app=self._app)
            say(f"{email} can use this link once to set a password:\n{link}")

    def revoke(
        self, email: str, role: str | None, tenant: str | None, *, again: bool
    ) -> tuple[str, Mapping[str, Any]]:
        """Revoke the role and end the sessions. Return the account's ID and its earlier claims.

        Raises:
            OpsError: The account is missing, or has no such role, except if `again`.
        """
        account = self._found(email)
        if account is None:
            raise OpsError(f"{email} has no account in {self._app.project_id}.")
        claims = account.custom_claims or {}
        if claims.get("role") not in ROLES:
            if again:
                return account.uid, {"tenantId": tenant} if tenant else {}
            raise OpsError(f"{email} has no role.")
        is_meant = role in (None, claims["role"]) and tenant in (None, claims.get("tenantId"))
        if not is_meant:
            raise OpsError(f"{email} is {_words(claims)}. The role was not revoked.")
        auth.update_user(
            account.uid, custom_claims=_of_app(claims), valid_since=self._now(), app=self._app
        )
        say(f"{email} is no longer {_words(claims)}. Open windows lose access within an hour.")
        return account.uid, claims

    def _found(self, email: str) -> Any:
        with suppress(auth.UserNotFoundError):
            return auth.get_user_by_email(email, app=self._app)
        return None

    def _now(self) -> int:
        return int(self._outside.now().timestamp())


class LeftBehind:
    """Access and data that a former staff member still has at events."""

    def __init__(self, documents: Documents, outside: Outside) -> None:
        self._documents = documents
        self._now = outside.now()

    def report(self, uid: str, email: str, claims: Mapping[str, Any], *, end: bool) -> None:
        """Print the access per event, for a superadmin of every tenant. End it if `end`."""
        is_super = claims.get("role") == "superadmin" or "tenantId" not in claims
        where = () if is_super else [("tenantId", "==", claims["tenantId"])]
        events = Query(collection="events", where=where, select=["tenantId"])
        writes: list[Update] = []
        for event in self._documents.find_all(events):
            for text, write in self._at(event.path, uid, email):
                say(f"{'ended' if end and write else 'left'}: {text}")
                writes += [write] if write else []
            if is_super and self._documents.get(f"{event.path}/secrets/webhooks", ["rotatedAt"]):
                say(f"left: the webhook secret of {event.path}, until it is rotated")
        if writes and not end:
            say("To end the links and emails, pass --links.")
        if end and firebase.write_each(self._documents, writes) < len(writes):
            raise OpsError("Documents changed during the run. Run this again.")

    def _at(self, event: str, uid: str, email: str) -> Iterator[tuple[str, Update | None]]:
        for share in self._documents.find_all(Query(collection=f"{event}/shares")):
            fields = share.fields
            is_active = "revokedAt" not in fields and self._now < fields["expireAt"]
            if is_active and fields.get("createdBy") == uid:
                ended = {"revokedAt": self._now, "expireAt": self._now}
                yield (
                    f"a link to a delivery log, {share.path}",
                    Update(share.path, ended, version=share.version),
                )
        schedule = self._documents.get(f"{event}/schedules/recap")
        if schedule and _is_waiting(schedule.fields, uid):
            due = wire_time(schedule.fields["at"])
            text = f"a recap of {event} scheduled for {due}, which will not be sent"
            yield f"{text}: another person can schedule it again", None
        settings = self._documents.get(f"{event}/settings/webhooks")
        if settings is None:
            return
        notify = settings.fields.get("notify") or []
        kept = [address for address in notify if identity(address) != identity(email)]
        if kept != notify:
            change = Update(settings.path, {"notify": kept}, version=settings.version)
            yield f"emails about failing webhooks of {event}", change
        if urls := settings.fields.get("urls"):
            yield f"webhook URLs of {event}, added by any admin: {len(urls)}", None


def _is_waiting(schedule: Mapping[str, Any], uid: str) -> bool:
    by = schedule.get("by")
    is_own = isinstance(by, Mapping) and by.get("uid") == uid
    return is_own and schedule.get("state") == "scheduled" and bool(as_time(schedule.get("at")))


def _of_app(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of an app."""
    return {key: value for key, value in claims.items() if key not in _OURS}


def _words(claims: Mapping[str, Any]) -> str:
    tenant = claims.get("tenantId")
    return f"{claims['role']} of {tenant}" if tenant else str(claims["role"])
