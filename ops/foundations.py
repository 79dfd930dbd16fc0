"""Checks of the parts and conditions that a deploy requires, such as accounts and keys."""

import base64
import secrets
import smtplib
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from functions import service_accounts
from functions.mail import sendgrid, smtp
from ops.cloud import OpsError, RefusedError, say
from ops.parts import Issue, Look, Note, Parts, grants
from ops.wanted import APIS, BUILDER_ROLE, CPU_QUOTA, MADE_KEYS, NEEDLESS_FOR_BUILDER, REGION, ROLES

_MILLI: Final = 1000
_NO_ALL_USERS: Final = ("iam.allowedPolicyMemberDomains", "iam.managed.allowedPolicyMembers")
"""Organization policies that can forbid `allUsers`."""
_NO_CHECK_OFF: Final = "run.managed.requireInvokerIam"
"""Policy that forbids `invokerIamDisabled`."""


class Foundations(Parts):
    """The parts of one project that a deploy requires."""

    _was_asked = False
    """Whether the operator was prompted for the key of the email provider."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """All checks except the conditions, dependencies first."""
        return [
            ("APIs of the functions and their deploy", self.apis),
            ("Firebase in the project", self.firebase),
            ("A Firestore database", self.database),
            ("An account for each capability", self.accounts),
            ("Roles of the accounts", self.roles),
            ("Roles of the default account", self.builder),
            ("Secrets and the accounts that read them", self.keys),
            ("Sign-in by email, also on the Hosting site", self.sign_in),
            ("A web app for the console", self.web_app),
            ("A Hosting site", self.site),
        ]

    @property
    def conditions(self) -> list[tuple[str, Look]]:
        """Checks of conditions that block a deploy and that only the operator can change."""
        return [
            ("Sender and site in .env", self.settings),
            ("Location, mode and edition of the database", self.location),
            ("Builds by the default account", self.may_build),
            (f"CPU in {REGION}", self.quota),
            ("Organization policies on public functions", self.organization),
        ]

    def apis(self) -> Iterator[Issue]:
        """Yield disabled APIs. One call can enable all of them."""
        if missing := self._cloud.switched_off(APIS):
            yield Issue(f"off: {', '.join(missing)}", fix=partial(self._enable, missing))

    def _enable(self, apis: Sequence[str]) -> None:
        """Enable all APIs, one by one if Google rejects the batch because of one of them."""
        path = f"v1/{self._project}/services"
        try:
            self._cloud.make("serviceusage", f"{path}:batchEnable", {"serviceIds": apis})
        except RefusedError as error:
            say(f"    {error.text}\n    Enabling the APIs one by one.")
            refused = []
            for api in apis:
                try:
                    self._cloud.make("serviceusage", f"{path}/{api}:enable", {})
                except RefusedError as of_one:
                    refused.append(f"{api} cannot be enabled: {of_one.text}")
            if refused:
                raise OpsError("\n".join(refused)) from error

    def firebase(self) -> Iterator[Issue]:
        """Yield an issue if Firebase is not added to the project."""
        if self._cloud.get("firebase", f"v1beta1/{self._project}") is None:
            yield Issue("Firebase is not added", fix=self._add_firebase)

    def _add_firebase(self) -> None:
        try:
            self._cloud.make("firebase", f"v1beta1/{self._project}:addFirebase", {})
        except RefusedError as error:
            if error.status != 403:  # noqa: PLR2004 - HTTP's own number
                raise
            raise OpsError(
                f"{error.text}\nFirebase's terms have to be accepted once. As an owner, add the "
                "project at https://console.firebase.google.com, then run this again."
            ) from error

    def database(self) -> Iterator[Issue]:
        """Yield a missing database. New databases are in the region of the functions."""
        if self._cloud.get("firestore", self._database) is None:
            path = f"v1/{self._project}/databases?databaseId=(default)"
            body = {"type": "FIRESTORE_NATIVE", "locationId": REGION}
            yield Issue("no database", fix=self._maker("firestore", path, body))

    def location(self) -> Iterator[Issue]:
        """Yield an unsuitable mode, edition or location, which cannot be changed later."""
        found = self._cloud.get("firestore", self._database)
        if found is None:
            return
        place, edition = found.get("locationId"), found.get("databaseEdition", "STANDARD")
        say(f"  {place}, {edition}")
        if found.get("type", "FIRESTORE_NATIVE") != "FIRESTORE_NATIVE":
            yield Issue(
                "the database is in Datastore mode",
                ask="This mode has no triggers. Install the service in a separate project.",
            )
        if edition == "ENTERPRISE" and "enterprise" not in self._accepted:
            yield Issue(
                "the database has the Enterprise edition",
                ask="This edition has no automatic indexes of single fields and has different "
                "prices. The service is untested with it. Agree with --accept enterprise",
            )
        if place != REGION:
            why = f"each call leaves {REGION} and returns"
            if place == "nam5":
                why = "a multi-region doubles the prices of Firestore"
            yield Note(f"the database is in {place}: {why}")

    def accounts(self) -> Iterator[Issue]:
        """Yield missing service accounts."""
        path = f"v1/{self._project}/serviceAccounts"
        there = {account["email"] for account in self._cloud.every("iam", path, "accounts")}
        for name in ROLES:
            if self._wanted.account(name) not in there:
                yield Issue(f"no account {name}", fix=self._maker("iam", path, {"accountId": name}))

    def roles(self) -> Iterator[Issue]:
        """Yield missing roles. Accounts that enqueue tasks act as themselves."""
        for name, roles in ROLES.items():
            account = self._wanted.account(name)
            yield from self._bound("cloudresourcemanager", f"v1/{self._project}", roles, account)
            if "cloudtasks.enqueuer" in roles:
                path = f"v1/{self._project}/serviceAccounts/{account}"
                yield from self._bound("iam", path, ["iam.serviceAccountUser"], account)

    def builder(self) -> Iterator[Issue]:
        """Yield missing and unused roles of the default account, which builds all functions."""
        if self._wanted.is_beside:
            return  # functions of the app may run as this account
        api, path = "cloudresourcemanager", f"v1/{self._project}"
        account, policy = self._default_account(), self._cloud.policy(api, path)
        if self._no_builder(account):
            return  # reported by the conditions
        yield from self._bound(api, path, [BUILDER_ROLE], account)
        for role in NEEDLESS_FOR_BUILDER:
            if grants(policy, f"roles/{role}", f"serviceAccount:{account}"):
                yield Note(
                    f"the default account has {role}",
                    ask="The service does not use it. Revoke it:\n      "
                    f"gcloud projects remove-iam-policy-binding {self._cloud.project} "
                    f"--member=serviceAccount:{account} --role=roles/{role} --condition=None",
                )

    def _no_builder(self, account: str) -> Issue | None:
        if self._cloud.get("iam", f"v1/{self._project}/serviceAccounts/{account}") is not None:
            return None
        project = f"--project={self._cloud.project}"
        return Issue(
            f"the default account {account}, which builds the functions, is missing",
            ask=f"Create it: gcloud services enable compute.googleapis.com {project}\n"
            "    If it was deleted in the last 30 days: gcloud beta iam service-accounts undelete "
            f"UNIQUE_ID {project}",
        )

    def may_build(self) -> Iterator[Issue]:
        """Yield a default account without permission to build."""
        account = self._default_account()
        if issue := self._no_builder(account):
            yield issue
            return
        policy = self._cloud.policy("cloudresourcemanager", f"v1/{self._project}")
        roles = (BUILDER_ROLE, "editor", "owner")
        if not any(grants(policy, f"roles/{role}", f"serviceAccount:{account}") for role in roles):
            yield Issue(
                "the default account may not build", ask=f"Grant it the role {BUILDER_ROLE}."
            )

    def keys(self) -> Iterator[Issue]:
        """Yield secrets without an enabled version, and missing roles of their readers."""
        secret_of = f"v1/{self._project}/secrets"
        unused = sendgrid.KEY_NAME if self._wanted.mail_server else smtp.KEY_NAME
        for name, readers in service_accounts.SECRET_READERS.items():
            if name == unused:
                continue
            path = f"{secret_of}/{name}"
            if self._cloud.get("secretmanager", path) is None:
                where = f"{secret_of}?secretId={name}"
                fix = self._maker("secretmanager", where, {"replication": {"automatic": {}}})
                yield Issue(f"no secret {name}", fix=fix)
            enabled = f"{path}/versions?filter=state:ENABLED"
            if not (self._cloud.get("secretmanager", enabled) or {}).get("versions"):
                text = f"{name} has no enabled version"
                if name in MADE_KEYS:
                    yield Issue(text, fix=partial(self._add_key, path, secrets.token_hex(32)))
                else:
                    yield self._no_mail_key(name, path)
            for reader in readers:
                account = self._wanted.account(reader)
                yield from self._bound("secretmanager", path, service_accounts.ROLES, account)

    def sign_in(self) -> Iterator[Issue]:
        """Yield missing sign-in methods and hosts of the console. Change none of an app."""
        for issue in self._sign_in():
            ask = "Enable it for the console in the Firebase console, under Authentication."
            yield replace(issue, fix=None, ask=ask) if self._wanted.is_beside else issue

    def _sign_in(self) -> Iterator[Issue]:
        path = f"admin/v2/{self._project}/config"
        config = self._cloud.get("identitytoolkit", path)
        if config is None:
            start = f"v2/{self._project}/identityPlatform:initializeAuth"
            yield Issue("sign-in is off", fix=self._maker("identitytoolkit", start, {}))
            config = self._cloud.get("identitytoolkit", path) or {}
        if not config.get("signIn", {}).get("email", {}).get("enabled"):
            by_email = {"signIn": {"email": {"enabled": True, "passwordRequired": False}}}
            fix = self._patcher("identitytoolkit", path, "signIn.email", by_email)
            yield Issue("sign-in by email is off", fix=fix)
        hosts = config.get("authorizedDomains", [])
        site = self._wanted.site
        if site and not self._wanted.unfilled and site not in hosts:
            known = {"authorizedDomains": [*hosts, site]}
            fix = self._patcher("identitytoolkit", path, "authorizedDomains", known)
            yield Issue(f"{site} is not among the authorized domains", fix=fix)

    def web_app(self) -> Iterator[Issue]:
        """Yield a missing web app, which configures sign-in to the console."""
        path = f"v1beta1/{self._project}/webApps"
        if not next(self._cloud.every("firebase", path, "apps"), None):
            body = {"displayName": "Photo wall"}
            yield Issue("no web app", fix=self._maker("firebase", path, body))

    def site(self) -> Iterator[Issue]:
        """Yield missing sites. A non-interactive deploy does not create the default site."""
        path, sites = f"v1beta1/{self._project}/sites", self._sites()
        if not any(site.get("type") == "DEFAULT_SITE" for site in sites.values()):
            where = f"{path}?siteId={self._cloud.project}"
            yield Issue("no default site", fix=self._maker("firebasehosting", where, {}))
        name = self._wanted.hosting_site
        if name and name not in sites:
            # Other sites than the default one get their sign-in from the app that they name.
            apps = self._cloud.every("firebase", f"v1beta1/{self._project}/webApps", "apps")
            app = next(apps, None)
            body = {"appId": app["appId"]} if app else {}
            where = f"{path}?siteId={name}"
            yield Issue(f"no site {name}", fix=self._maker("firebasehosting", where, body))

    def settings(self) -> Iterator[Issue]:
        """Yield settings that still have example values, and settings that were removed."""
        if names := self._wanted.unfilled:
            text = " and ".join(names)
            yield Issue(f"example values in .env: {text}", ask=f"Fill in {text}.")
        for name in self._wanted.removed:
            text = f"{name} in .env is obsolete"
            yield Note(text, ask="Remove the line. See CHANGELOG.md.")

    def quota(self) -> Iterator[Issue]:
        """Yield a quota that is too low. Google rejects functions above it."""
        path = f"v1/{self._project}/locations/global/services/run.googleapis.com/quotaInfos"
        info = self._readable("cloudquotas", f"{path}/{CPU_QUOTA}")
        values = [
            int(limit["details"]["value"])
            # sorted by specificity
            for limit in (info or {}).get("dimensionsInfos", [])
            if limit.get("dimensions", {}).get("region", REGION) == REGION
        ]
        needed, largest = self._wanted.largest.max_cpu, self._wanted.largest
        say(
            f"  the settings allow {largest.name} {needed:g} vCPU, and all functions together "
            f"{self._wanted.max_cpu:g}"
        )
        if info is None:
            yield Note(
                f"you have no permission to see the quota {CPU_QUOTA}",
                ask=f"Ask an owner whether it is at least {needed:g} vCPU in {REGION}.",
            )
            return
        if not values:
            yield Issue(f"the quota {CPU_QUOTA} is unknown so far", is_under_way=True)
            return
        say(f"  the project has {values[0] / _MILLI:g}")
        if 0 <= values[0] < needed * _MILLI:
            lower = f"Lower {largest.cpu_setting}, or ask" if largest.cpu_setting else "Ask"
            yield Issue(
                f"Google would reject {largest.name}",
                ask=f"{lower} for more, in thousandths of a vCPU:\n"
                "      gcloud beta quotas preferences create --service=run.googleapis.com"
                f" --quota-id={CPU_QUOTA} --dimensions=region={REGION}"
                f" --preferred-value={needed * _MILLI:.0f} --project={self._cloud.project}",
            )

    def organization(self) -> Iterator[Issue]:
        """Yield policies that forbid public services.

        If a policy only forbids `allUsers`, the check of callers is disabled instead.
        """
        limits = {name: self._limit(name) for name in (*_NO_ALL_USERS, _NO_CHECK_OFF)}
        if hidden := [name for name, is_set in limits.items() if is_set is None]:
            yield Note(
                f"you have no permission to see the policy {hidden[0]}",
                ask="Ask an administrator whether a service may be public.",
            )
        if limits[_NO_CHECK_OFF] and any(limits[name] for name in _NO_ALL_USERS):
            yield Issue(
                "the organization forbids public services, so every call would get a 403",
                ask="Ask a holder of the role orgpolicy.policyAdmin to reset the policy for this "
                "project:\n      "
                f"gcloud org-policies reset {_NO_CHECK_OFF} --project={self._cloud.project}",
            )

    def _limit(self, name: str) -> bool | None:
        """Return whether a policy forbids something, or None if Google does not show it."""
        path = f"v2/{self._project}/policies/{name}:getEffectivePolicy"
        policy = self._readable("orgpolicy", path)
        if policy is None:
            return None
        rules = policy.get("spec", {}).get("rules", [])
        some = any("values" in rule or rule.get("denyAll") or rule.get("enforce") for rule in rules)
        return some and not any(rule.get("allowAll") for rule in rules)

    def _ask_for_key(self, name: str, path: str) -> None:
        self._was_asked = True
        if value := self._cloud.type_in(f"    {name} (press Enter to add it later): "):
            self._add_key(path, value)

    def _no_mail_key(self, name: str, path: str) -> Issue:
        return Note(
            f"{name} has no enabled version, so no emails can be sent",
            fix=None if self._was_asked else partial(self._ask_for_key, name, path),
            ask=f"Add the key: gcloud secrets versions add {name} --data-file=- "
            f"--project={self._cloud.project}",
        )

    def mail_server(self) -> Iterator[Issue]:
        """Yield the reason if the mail server in MAIL_URL rejects a sign-in. Send no email."""
        server = self._wanted.mail_server
        if server is None:
            return
        path = f"v1/{self._project}/secrets/{smtp.KEY_NAME}/versions/latest:access"
        version = self._readable("secretmanager", path)
        if not version:
            text = f"{smtp.KEY_NAME} cannot be read, so the sign-in was not checked"
            yield Note(text, ask="Add the password, or ask an owner to check.")
            return
        password = base64.b64decode(version["payload"]["data"]).decode().strip()
        at = f"{server.host}:{server.port}"
        try:
            self._cloud.outside.sign_in(server, password)
        except smtplib.SMTPAuthenticationError as error:
            text = f"{at} rejects the user in MAIL_URL or the password: {error.smtp_code}"
            yield Issue(text, ask=f"Correct MAIL_URL, or add a version of {smtp.KEY_NAME}.")
        except ssl.SSLCertVerificationError:
            text = f"the certificate of {at} is not valid for this name"
            yield Issue(text, ask="Use the name in the certificate, or another server.")
        except smtplib.SMTPNotSupportedError:
            text = f"{at} offers no STARTTLS, or no sign-in with a password"
            yield Issue(text, ask="Use another port or server.")
        except (OSError, ValueError) as error:
            yield Issue(f"{at} cannot be used: {type(error).__name__}", ask="Correct MAIL_URL.")

    def _add_key(self, path: str, value: str) -> None:
        body = {"payload": {"data": base64.b64encode(value.encode()).decode()}}
        self._cloud.make("secretmanager", f"{path}:addVersion", body)
