"""The parts that a deploy needs, such as accounts and keys; and the conditions that stop it."""

import base64
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from functions import service_accounts
from ops.cloud import OpsError, RefusedError, say
from ops.parts import Lack, Look, Parts, grants
from ops.wanted import (
    APIS,
    BUILDER_ROLE,
    CPU_QUOTA,
    MADE_KEYS,
    NEEDLESS_FOR_BUILDER,
    REGION,
    ROLES,
)

_APIS_AT_ONCE: Final = 20
"""As many as Google switches on in one call."""
_MILLI: Final = 1000
_NO_ALL_USERS: Final = ("iam.allowedPolicyMemberDomains", "iam.managed.allowedPolicyMembers")
"""Policies of an organization that can forbid `allUsers`."""
_NO_CHECK_OFF: Final = "run.managed.requireInvokerIam"
"""The policy that forbids `invokerIamDisabled`."""


class Foundations(Parts):
    """The parts that a deploy needs, in one project."""

    _was_asked = False
    """Whether the operator was asked for the key of the email provider."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """Every look but the conditions, in the order in which the parts can be made."""
        return [
            ("APIs that the functions, and their deploy, call", self.apis),
            ("The project is one of Firebase's", self.firebase),
            ("A Firestore database: triggers need it", self.database),
            ("An account for each capability", self.accounts),
            ("Roles of the accounts", self.roles),
            ("The default account builds", self.builder),
            ("The keys, and the accounts that read them", self.keys),
            ("Sign-in by e-mail, from the Hosting site too", self.sign_in),
            ("One web app: the console's", self.web_app),
            ("A Hosting site", self.site),
        ]

    @property
    def conditions(self) -> list[tuple[str, Look]]:
        """Looks at conditions that stop a deploy, and that only the operator can change."""
        return [
            ("Sender and site in .env", self.settings),
            ("Where the database lies, its mode and edition", self.location),
            ("The default account may build", self.may_build),
            (f"CPU in {REGION}", self.quota),
            ("The organization lets everybody call a function", self.organization),
        ]

    def apis(self) -> Iterator[Lack]:
        """Each one that a part of the service calls, switched on together."""
        missing = self._cloud.switched_off(APIS)
        for start in range(0, len(missing), _APIS_AT_ONCE):
            some = missing[start : start + _APIS_AT_ONCE]
            yield Lack(f"off: {', '.join(some)}", mend=partial(self._enable, some))

    def _enable(self, apis: Sequence[str]) -> None:
        """Enable all at once, or one by one if Google refuses: it refuses all because of one.

        Raises:
            OpsError: an API cannot be enabled; the others are.
        """
        path = f"v1/{self._project}/services"
        try:
            self._cloud.make("serviceusage", f"{path}:batchEnable", {"serviceIds": apis})
        except RefusedError as error:
            say(f"    {error.text}\n    One by one")
            refused = []
            for api in apis:
                try:
                    self._cloud.make("serviceusage", f"{path}/{api}:enable", {})
                except RefusedError as of_one:
                    refused.append(f"{api} cannot be enabled: {of_one.text}")
            if refused:
                raise OpsError("\n".join(refused)) from error

    def firebase(self) -> Iterator[Lack]:
        """Firebase's own view of the project."""
        if self._cloud.get("firebase", f"v1beta1/{self._project}") is None:
            yield Lack("Firebase is not added", mend=self._add_firebase)

    def _add_firebase(self) -> None:
        try:
            self._cloud.make("firebase", f"v1beta1/{self._project}:addFirebase", {})
        except RefusedError as error:
            if error.status != 403:  # noqa: PLR2004 - HTTP's own number
                raise
            raise OpsError(
                f"{error.text}\nFirebase's terms have to be accepted once: add the project at "
                "https://console.firebase.google.com as somebody who owns it, then run this again."
            ) from error

    def database(self) -> Iterator[Lack]:
        """Made in the functions' region; an app's stays where it is."""
        if self._cloud.get("firestore", self._database) is None:
            path = f"v1/{self._project}/databases?databaseId=(default)"
            body = {"type": "FIRESTORE_NATIVE", "locationId": REGION}
            yield Lack("no database", mend=self._maker("firestore", path, body))

    def location(self) -> Iterator[Lack]:
        """All three stay for the life of the database."""
        found = self._cloud.get("firestore", self._database)
        if found is None:
            return
        place, edition = found.get("locationId"), found.get("databaseEdition", "STANDARD")
        say(f"  {place}, {edition}")
        if found.get("type", "FIRESTORE_NATIVE") != "FIRESTORE_NATIVE":
            yield Lack(
                "the database is in Datastore mode",
                ask="It has no triggers: the service needs a project of its own.",
            )
        if edition == "ENTERPRISE" and "enterprise" not in self._accepted:
            yield Lack(
                "the database is of the Enterprise edition",
                ask="It makes no index of a single field by itself, and has prices of its own: "
                "nobody has tried the service with it. Agree: --accept enterprise",
            )
        if place != REGION:
            why = f"each call goes from {REGION} to there and back"
            if place == "nam5":
                why = "a multi-region doubles the prices of Firestore"
            yield Lack(f"the database lies in {place}: {why}", is_note=True)

    def accounts(self) -> Iterator[Lack]:
        """One for each capability."""
        path = f"v1/{self._project}/serviceAccounts"
        there = {account["email"] for account in self._cloud.every("iam", path, "accounts")}
        for name in ROLES:
            if self._wanted.account(name) not in there:
                yield Lack(f"no account {name}", mend=self._maker("iam", path, {"accountId": name}))

    def roles(self) -> Iterator[Lack]:
        """In the project; and an account that queues acts as itself, for the tokens of tasks."""
        for name, roles in ROLES.items():
            account = self._wanted.account(name)
            yield from self._bound("cloudresourcemanager", f"v1/{self._project}", roles, account)
            if "cloudtasks.enqueuer" in roles:
                path = f"v1/{self._project}/serviceAccounts/{account}"
                yield from self._bound("iam", path, ["iam.serviceAccountUser"], account)

    def builder(self) -> Iterator[Lack]:
        """firebase-tools lets no function name another account to be built as."""
        if self._wanted.is_beside:
            return  # the app's functions run as it: nothing is given or taken
        api, path = "cloudresourcemanager", f"v1/{self._project}"
        account, policy = self._default_account(), self._cloud.policy(api, path)
        if self._no_builder(account):
            return  # the conditions tell
        yield from self._bound(api, path, [BUILDER_ROLE], account)
        for role in NEEDLESS_FOR_BUILDER:
            if grants(policy, f"roles/{role}", f"serviceAccount:{account}"):
                yield Lack(
                    f"the default account has {role}",
                    ask="Nothing of ours needs it. This takes it away:\n      "
                    f"gcloud projects remove-iam-policy-binding {self._cloud.project} "
                    f"--member=serviceAccount:{account} --role=roles/{role} --condition=None",
                    is_note=True,
                )

    def _no_builder(self, account: str) -> Lack | None:
        """The default account, if it is not there: Google creates it with the API of Compute."""
        if self._cloud.get("iam", f"v1/{self._project}/serviceAccounts/{account}") is not None:
            return None
        project = f"--project={self._cloud.project}"
        return Lack(
            f"the default account {account} is not there, and nothing can be built",
            ask=f"This creates it: gcloud services enable compute.googleapis.com {project}\n"
            "    If it was deleted in the last 30 days: gcloud beta iam service-accounts undelete "
            f"UNIQUE_ID {project}",
        )

    def may_build(self) -> Iterator[Lack]:
        """Organizations of today give it no role; beside an app neither do we."""
        account = self._default_account()
        if lack := self._no_builder(account):
            yield lack
            return
        policy = self._cloud.policy("cloudresourcemanager", f"v1/{self._project}")
        roles = (BUILDER_ROLE, "editor", "owner")
        if not any(grants(policy, f"roles/{role}", f"serviceAccount:{account}") for role in roles):
            yield Lack("the default account may not build", ask=f"Give it the role {BUILDER_ROLE}.")

    def keys(self) -> Iterator[Lack]:
        """A secret each, with an enabled version that its readers can list and read."""
        secret_of = f"v1/{self._project}/secrets"
        for name, readers in service_accounts.SECRET_READERS.items():
            path = f"{secret_of}/{name}"
            if self._cloud.get("secretmanager", path) is None:
                where = f"{secret_of}?secretId={name}"
                mend = self._maker("secretmanager", where, {"replication": {"automatic": {}}})
                yield Lack(f"no secret {name}", mend=mend)
            enabled = f"{path}/versions?filter=state:ENABLED"
            if not (self._cloud.get("secretmanager", enabled) or {}).get("versions"):
                text = f"{name} has no enabled version"
                if name in MADE_KEYS:
                    yield Lack(text, mend=partial(self._add_key, path, secrets.token_hex(32)))
                else:
                    yield self._no_mail_key(name, path)
            for reader in readers:
                account = self._wanted.account(reader)
                yield from self._bound("secretmanager", path, service_accounts.ROLES, account)

    def sign_in(self) -> Iterator[Lack]:
        """By password and by a mailed link, as the console offers; links lead to known hosts.

        An app decides by itself which ways in it has.
        """
        for lack in self._sign_in():
            ask = "The console needs it: switch it on in Firebase's console, under Authentication."
            yield replace(lack, mend=None, ask=ask) if self._wanted.is_beside else lack

    def _sign_in(self) -> Iterator[Lack]:
        path = f"admin/v2/{self._project}/config"
        config = self._cloud.get("identitytoolkit", path)
        if config is None:
            start = f"v2/{self._project}/identityPlatform:initializeAuth"
            yield Lack("sign-in is off", mend=self._maker("identitytoolkit", start, {}))
            config = self._cloud.get("identitytoolkit", path) or {}
        if not config.get("signIn", {}).get("email", {}).get("enabled"):
            by_email = {"signIn": {"email": {"enabled": True, "passwordRequired": False}}}
            mend = self._patcher("identitytoolkit", path, "signIn.email", by_email)
            yield Lack("sign-in by e-mail is off", mend=mend)
        hosts = config.get("authorizedDomains", [])
        site = self._wanted.site
        if site and not self._wanted.unfilled and site not in hosts:
            known = {"authorizedDomains": [*hosts, site]}
            mend = self._patcher("identitytoolkit", path, "authorizedDomains", known)
            yield Lack(f"{site} is not among the authorized domains", mend=mend)

    def web_app(self) -> Iterator[Lack]:
        """Hosting tells the console how to sign in from what the app has."""
        path = f"v1beta1/{self._project}/webApps"
        if not next(self._cloud.every("firebase", path, "apps"), None):
            body = {"displayName": "Photo wall"}
            yield Lack("no web app", mend=self._maker("firebase", path, body))

    def site(self) -> Iterator[Lack]:
        """A new project has none, and a deploy that may not ask refuses to make the default one."""
        path, sites = f"v1beta1/{self._project}/sites", self._sites()
        if not any(site.get("type") == "DEFAULT_SITE" for site in sites.values()):
            where = f"{path}?siteId={self._cloud.project}"
            yield Lack("no default site", mend=self._maker("firebasehosting", where, {}))
        name = self._wanted.hosting_site
        if name and name not in sites:
            # A site beside the default one knows how to sign in from the app that it names.
            apps = self._cloud.every("firebase", f"v1beta1/{self._project}/webApps", "apps")
            app = next(apps, None)
            body = {"appId": app["appId"]} if app else {}
            where = f"{path}?siteId={name}"
            yield Lack(f"no site {name}", mend=self._maker("firebasehosting", where, body))

    def settings(self) -> Iterator[Lack]:
        """Only the operator knows the sender and the site."""
        if names := self._wanted.unfilled:
            text = " and ".join(names)
            yield Lack(f"{text} are the example's", ask=f"Fill in {text}.")
        for name in self._wanted.removed:
            text = f"{name} is set in .env, and is no parameter any more"
            yield Lack(text, ask="Remove the line. CHANGELOG.md has the reason.", is_note=True)

    def quota(self) -> Iterator[Lack]:
        """Google refuses a function that may take more than the region has, and makes no queue."""
        path = f"v1/{self._project}/locations/global/services/run.googleapis.com/quotaInfos"
        info = self._readable("cloudquotas", f"{path}/{CPU_QUOTA}")
        values = [
            int(limit["details"]["value"])
            # The most specific one comes first.
            for limit in (info or {}).get("dimensionsInfos", [])
            if limit.get("dimensions", {}).get("region", REGION) == REGION
        ]
        needed, largest = self._wanted.largest.max_cpu, self._wanted.largest
        say(
            f"  the settings let {largest.name} take {needed:g} vCPU, and all functions together "
            f"{self._wanted.max_cpu:g}"
        )
        if info is None:
            yield Lack(
                f"the quota {CPU_QUOTA} is not shown to you",
                ask=f"Ask somebody who may whether it is {needed:g} vCPU in {REGION} at least.",
                is_note=True,
            )
            return
        if not values:
            yield Lack(f"the quota {CPU_QUOTA} is not known yet", is_under_way=True)
            return
        say(f"  the project has {values[0] / _MILLI:g}")
        if 0 <= values[0] < needed * _MILLI:
            lower = f"Set {largest.cpu_setting} lower, or ask" if largest.cpu_setting else "Ask"
            yield Lack(
                f"{largest.name} would be refused",
                ask=f"{lower} for more, in thousandths of a vCPU:\n"
                "      gcloud beta quotas preferences create --service=run.googleapis.com"
                f" --quota-id={CPU_QUOTA} --dimensions=region={REGION}"
                f" --preferred-value={needed * _MILLI:.0f} --project={self._cloud.project}",
            )

    def organization(self) -> Iterator[Lack]:
        """Organizations of today name the domains whose members may have roles.

        A service is public all the same where its check of callers may be switched off.
        """
        limits = {name: self._limit(name) for name in (*_NO_ALL_USERS, _NO_CHECK_OFF)}
        if hidden := [name for name, is_set in limits.items() if is_set is None]:
            yield Lack(
                f"the policy {hidden[0]} is not shown to you",
                ask="Ask somebody who sees it whether a service may be public.",
                is_note=True,
            )
        if limits[_NO_CHECK_OFF] and any(limits[name] for name in _NO_ALL_USERS):
            yield Lack(
                "the organization forbids public services: callables would answer 403 to everybody",
                ask="Ask somebody with the role orgpolicy.policyAdmin to let this project have "
                "Google's default:\n      "
                f"gcloud org-policies reset {_NO_CHECK_OFF} --project={self._cloud.project}",
            )

    def _limit(self, name: str) -> bool | None:
        """Whether a policy forbids something; None where Google does not show it."""
        path = f"v2/{self._project}/policies/{name}:getEffectivePolicy"
        policy = self._readable("orgpolicy", path)
        if policy is None:
            return None
        rules = policy.get("spec", {}).get("rules", [])
        some = any("values" in rule or rule.get("denyAll") or rule.get("enforce") for rule in rules)
        return some and not any(rule.get("allowAll") for rule in rules)

    def _no_mail_key(self, name: str, path: str) -> Lack:
        """Webhooks work without emails, so the operator may add the key later."""

        def make() -> None:
            self._was_asked = True
            if value := self._cloud.type_in(f"    {name} (later: Enter): "):
                self._add_key(path, value)

        return Lack(
            f"{name} has no enabled version: webhooks work, and no email can be sent",
            mend=None if self._was_asked else make,
            ask=f"This adds the key: gcloud secrets versions add {name} --data-file=- "
            f"--project={self._cloud.project}",
            is_note=True,
        )

    def _add_key(self, path: str, value: str) -> None:
        body = {"payload": {"data": base64.b64encode(value.encode()).decode()}}
        self._cloud.make("secretmanager", f"{path}:addVersion", body)
