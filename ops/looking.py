"""Which part of the declaration is missing in a project, and how it comes to be there.

`ops/check` prints it. `ops/setup` makes it, and looks again.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from functions.gcp import secret_readers
from ops.cloud import Cloud, OpsError, say
from ops.wanted import (
    APIS,
    BUILDER_ROLE,
    CPU_QUOTA,
    PREFS_KEY,
    REGION,
    ROLES,
    TAKEN_FROM_BUILDER,
    WEBHOOKS,
    Function,
    Wanted,
    index_text,
)

_APIS_AT_ONCE: Final = 20
_MILLI: Final = 1000
_POLICIES: Final = ("iam.allowedPolicyMemberDomains", "iam.managed.allowedPolicyMembers")
"""Rules of an organization that can forbid `allUsers`."""


@dataclass(frozen=True)
class Lack:
    """A part is missing in the project; one of the other fields says how it comes to be there."""

    text: str
    mend: Callable[[], object] | None = None
    """Makes it."""
    deploy: str = ""
    """The target of `firebase deploy --only` that makes it."""
    ask: str = ""
    """What the operator has to do."""
    is_under_way: bool = False
    """Google is making it."""


Look: TypeAlias = Callable[[], Iterator[Lack]]


class Looks:
    """One project, looked at."""

    def __init__(self, cloud: Cloud, wanted: Wanted) -> None:
        """Look at nothing yet."""
        self._cloud = cloud
        self._wanted = wanted
        self._project = f"projects/{cloud.project}"
        self._region = f"{self._project}/locations/{REGION}"
        self._database = f"v1/{self._project}/databases/(default)"

    @property
    def foundations(self) -> list[tuple[str, Look]]:
        """Looks at the resources that a deploy needs, in the order in which they can be made."""
        return [
            ("APIs that the functions, and their deploy, call", self.apis),
            ("The project is one of Firebase's", self.firebase),
            ("A Firestore database: triggers need it", self.database),
            ("An account for each capability", self.accounts),
            ("Roles of the accounts", self.roles),
            ("The default account builds, and does nothing else", self.builder),
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
            (f"CPU in {REGION}", self.quota),
            ("The organization lets everybody call a function", self.organization),
        ]

    @property
    def deployed(self) -> list[tuple[str, Look]]:
        """Looks at the resources that a deploy makes."""
        return [
            ("Functions", self.functions),
            ("Queues", self.queues),
            ("Triggers", self.triggers),
            ("The schedule", self.schedule),
            ("Callers of the functions", self.invokers),
            ("Rules, indexes and TTL of Firestore", self.firestore),
            ("Pages", self.hosting),
        ]

    @property
    def answering(self) -> list[tuple[str, Look]]:
        """The look at the whole: a call."""
        return [("A callable answers", self.answers)]

    def apis(self) -> Iterator[Lack]:
        """Switched on together, at most 20 in a call."""
        listed = self._cloud.every(
            "serviceusage", f"v1/{self._project}/services?filter=state:ENABLED", "services"
        )
        enabled = {api["config"]["name"] for api in listed}
        missing = [api for api in APIS if api not in enabled]
        for start in range(0, len(missing), _APIS_AT_ONCE):
            some = missing[start : start + _APIS_AT_ONCE]
            yield Lack(
                f"off: {', '.join(some)}",
                mend=self._maker(
                    "serviceusage",
                    f"v1/{self._project}/services:batchEnable",
                    {"serviceIds": some},
                ),
            )

    def firebase(self) -> Iterator[Lack]:
        """Firebase's own view of the project."""
        if self._cloud.get("firebase", f"v1beta1/{self._project}") is None:
            yield Lack(
                "Firebase is not added",
                mend=self._maker("firebase", f"v1beta1/{self._project}:addFirebase", {}),
            )

    def database(self) -> Iterator[Lack]:
        """In the functions' region."""
        if self._cloud.get("firestore", self._database) is None:
            yield Lack(
                "no database",
                mend=self._maker(
                    "firestore",
                    f"v1/{self._project}/databases?databaseId=(default)",
                    {"type": "FIRESTORE_NATIVE", "locationId": REGION},
                ),
            )

    def accounts(self) -> Iterator[Lack]:
        """Under the names in `.env`."""
        path = f"v1/{self._project}/serviceAccounts"
        there = {account["email"] for account in self._cloud.every("iam", path, "accounts")}
        for setting in ROLES:
            name = self._wanted.settings[setting]
            if self._wanted.account(setting) not in there:
                yield Lack(f"no account {name}", mend=self._maker("iam", path, {"accountId": name}))

    def roles(self) -> Iterator[Lack]:
        """In the project; and the webhooks' account acts as itself, for the tokens of tasks."""
        for setting, roles in ROLES.items():
            account = self._wanted.account(setting)
            yield from self._bound("cloudresourcemanager", f"v1/{self._project}", roles, account)
        account = self._wanted.account(WEBHOOKS)
        path = f"v1/{self._project}/serviceAccounts/{account}"
        yield from self._bound("iam", path, ["iam.serviceAccountUser"], account)

    def builder(self) -> Iterator[Lack]:
        """firebase-tools lets no function name another account to be built as."""
        api, path = "cloudresourcemanager", f"v1/{self._project}"
        number = self._cloud.call("GET", api, path)["projectNumber"]
        account = f"{number}-compute@developer.gserviceaccount.com"
        yield from self._bound(api, path, [BUILDER_ROLE], account)
        policy = self._cloud.policy(api, path)
        for role in TAKEN_FROM_BUILDER:
            if _grants(policy, f"roles/{role}", f"serviceAccount:{account}"):
                yield Lack(
                    f"the default account has {role}",
                    mend=self._binder(api, path, role, account, take=True),
                )

    def keys(self) -> Iterator[Lack]:
        """A secret each, with an enabled version that its readers can list and read."""
        secret_of = f"v1/{self._project}/secrets"
        for name, settings in secret_readers.SECRET_READERS.items():
            path = f"{secret_of}/{name}"
            if self._cloud.get("secretmanager", path) is None:
                yield Lack(
                    f"no secret {name}",
                    mend=self._maker(
                        "secretmanager",
                        f"{secret_of}?secretId={name}",
                        {"replication": {"automatic": {}}},
                    ),
                )
            enabled = f"{path}/versions?filter=state:ENABLED"
            if not (self._cloud.get("secretmanager", enabled) or {}).get("versions"):
                yield Lack(f"{name} has no enabled version", mend=self._key_maker(name, path))
            for setting in settings:
                account = self._wanted.account(setting)
                yield from self._bound("secretmanager", path, secret_readers.ROLES, account)

    def sign_in(self) -> Iterator[Lack]:
        """By password and by a mailed link, as the console offers; links lead to known hosts."""
        path = f"admin/v2/{self._project}/config"
        config = self._cloud.get("identitytoolkit", path)
        if config is None:
            start = f"v2/{self._project}/identityPlatform:initializeAuth"
            yield Lack("sign-in is off", mend=self._maker("identitytoolkit", start, {}))
            config = self._cloud.get("identitytoolkit", path) or {}
        if not config.get("signIn", {}).get("email", {}).get("enabled"):
            wanted: dict[str, Any] = {"enabled": True, "passwordRequired": False}
            yield Lack(
                "sign-in by e-mail is off",
                mend=self._maker(
                    "identitytoolkit",
                    f"{path}?updateMask=signIn.email",
                    {"signIn": {"email": wanted}},
                    "PATCH",
                ),
            )
        hosts = config.get("authorizedDomains", [])
        site = self._wanted.site
        if site and not self._wanted.unfilled and site not in hosts:
            yield Lack(
                f"{site} is not among the authorized domains",
                mend=self._maker(
                    "identitytoolkit",
                    f"{path}?updateMask=authorizedDomains",
                    {"authorizedDomains": [*hosts, site]},
                    "PATCH",
                ),
            )

    def web_app(self) -> Iterator[Lack]:
        """Hosting tells the console how to sign in from what the app has."""
        path = f"v1beta1/{self._project}/webApps"
        if not next(self._cloud.every("firebase", path, "apps"), None):
            body = {"displayName": "Photo wall"}
            yield Lack("no web app", mend=self._maker("firebase", path, body))

    def site(self) -> Iterator[Lack]:
        """A new project has none, and a deploy that may not ask refuses to make one."""
        path = f"v1beta1/{self._project}/sites"
        if not next(self._cloud.every("firebasehosting", path, "sites"), None):
            yield Lack(
                "no site",
                mend=self._maker("firebasehosting", f"{path}?siteId={self._cloud.project}", {}),
            )

    def settings(self) -> Iterator[Lack]:
        """Only the operator knows the sender and the site."""
        if names := self._wanted.unfilled:
            yield Lack(
                f"{' and '.join(names)} are the example's", ask=f"Fill in {' and '.join(names)}."
            )

    def quota(self) -> Iterator[Lack]:
        """Google refuses a function that may take more than the region has, and makes no queue."""
        path = f"v1/{self._project}/locations/global/services/run.googleapis.com/quotaInfos"
        info = self._cloud.get("cloudquotas", f"{path}/{CPU_QUOTA}") or {}
        values = [
            int(limit["details"]["value"])
            for limit in info.get("dimensionsInfos", [])  # the most specific one comes first
            if limit.get("dimensions", {}).get("region", REGION) == REGION
        ]
        needed, largest = self._wanted.largest.max_cpu, self._wanted.largest
        say(
            f"  the settings let {largest.name} take {needed:g} vCPU, and all functions together "
            f"{self._wanted.max_cpu:g}"
        )
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
        """Organizations of today name the domains whose members may have roles."""
        for name in _POLICIES:
            path = f"v2/{self._project}/policies/{name}:getEffectivePolicy"
            rules = (self._cloud.get("orgpolicy", path) or {}).get("spec", {}).get("rules", [])
            limits = [rule for rule in rules if "values" in rule or rule.get("denyAll")]
            limits += [rule for rule in rules if rule.get("enforce")]
            if limits and not any(rule.get("allowAll") for rule in rules):
                yield Lack(
                    f"{name} forbids allUsers: callables would answer 403 to everybody",
                    ask="Ask somebody with the role orgpolicy.policyAdmin to let this project have "
                    "Google's default:\n      "
                    f"gcloud org-policies reset {name} --project={self._cloud.project}",
                )

    def functions(self) -> Iterator[Lack]:
        """Each one ACTIVE."""
        states = self._states("cloudfunctions", f"v2/{self._region}/functions", "functions")
        for function in self._wanted.functions:
            state = states.get(function.name, "not there")
            if state != "ACTIVE":
                is_under_way = state == "DEPLOYING"
                target = "" if is_under_way else self._target(function)
                yield Lack(f"{function.name} is {state}", deploy=target, is_under_way=is_under_way)

    def queues(self) -> Iterator[Lack]:
        """Each one RUNNING."""
        states = self._states("cloudtasks", f"v2/{self._region}/queues", "queues")
        for function in self._of("taskQueue"):
            path = f"v2/{self._region}/queues/{function.name}"
            state = states.get(function.name)
            yield from self._running("cloudtasks", path, state, "RUNNING", function)

    def schedule(self) -> Iterator[Lack]:
        """Each job ENABLED, under the name that firebase-tools gives it."""
        states = self._states("cloudscheduler", f"v1/{self._region}/jobs", "jobs")
        for function in self._of("schedule"):
            job = f"firebase-schedule-{function.name}-{REGION}"
            path = f"v1/{self._region}/jobs/{job}"
            yield from self._running("cloudscheduler", path, states.get(job), "ENABLED", function)

    def triggers(self) -> Iterator[Lack]:
        """Each one without a complaint of Eventarc's."""
        listed = self._cloud.every(
            "eventarc", f"v1/{self._project}/locations/-/triggers", "triggers"
        )
        there = {
            trigger["destination"].get("cloudFunction", "").rpartition("/")[2]
            for trigger in listed
            if not trigger.get("conditions")
        }
        for function in self._of("event"):
            if function.name not in there:
                yield Lack(
                    f"no trigger calls {function.name}",
                    deploy=self._target(function),
                )

    def invokers(self) -> Iterator[Lack]:
        """Of each function that is there."""
        services = self._states("run", f"v2/{self._region}/services", "services")
        for function in self._wanted.functions:
            if function.service in services:
                path = f"v2/{self._region}/services/{function.service}"
                policy = self._cloud.policy("run", path)
                for member in function.invokers:
                    if not _grants(policy, "roles/run.invoker", member):
                        yield Lack(
                            f"{function.name} may not be called by {member}",
                            mend=self._binder("run", path, "run.invoker", member),
                        )

    def answers(self) -> Iterator[Lack]:
        """Whether a callable is reached: a policy on paper is not an answer."""
        function = self._of("callable")[0]
        if not self._cloud.is_answering(REGION, function.name):
            yield Lack(
                f"{function.name} does not answer",
                ask="Google answers in its place where the organization forbids allUsers. "
                "Otherwise look into its log.",
            )

    def firestore(self) -> Iterator[Lack]:
        """A release of the rules; each index READY, each TTL policy ACTIVE."""
        if self._cloud.get("firebaserules", f"v1/{self._project}/releases/cloud.firestore") is None:
            yield Lack("no rules", deploy="firestore")
        groups = f"{self._database}/collectionGroups"
        indexes = {
            index_text(index["name"].split("/")[-3], index): index["state"]
            for index in self._cloud.every("firestore", f"{groups}/-/indexes", "indexes")
        }
        for index in sorted(self._wanted.indexes):
            yield from self._building(f"index {index}", indexes.get(index), "READY")
        fields = {
            ".".join(field["name"].split("/")[-3::2]): field["ttlConfig"]["state"]
            for field in self._cloud.every(
                "firestore", f"{groups}/-/fields?filter=ttlConfig:*", "fields"
            )
        }
        for field in sorted(self._wanted.ttl):
            yield from self._building(f"TTL of {field}", fields.get(field), "ACTIVE")

    def hosting(self) -> Iterator[Lack]:
        """A release of the project's default site, which is what a deploy deploys to."""
        path = f"v1beta1/{self._project}/sites"
        sites = list(self._cloud.every("firebasehosting", path, "sites"))
        sites.sort(key=lambda site: site.get("type") != "DEFAULT_SITE")
        releases = f"v1beta1/{sites[0]['name']}/releases?pageSize=1" if sites else ""
        found = self._cloud.get("firebasehosting", releases) if releases else None
        if not (found or {}).get("releases"):
            yield Lack("no release", deploy="hosting")

    def _of(self, kind: str) -> list[Function]:
        return [function for function in self._wanted.functions if function.kind == kind]

    def _target(self, function: Function) -> str:
        return f"functions:{self._wanted.codebase}:{function.name}"

    def _states(self, api: str, path: str, key: str) -> dict[str, str]:
        """States of a collection's resources, by the last part of their names."""
        return {
            found["name"].rpartition("/")[2]: found.get("state", "")
            for found in self._cloud.every(api, path, key)
        }

    def _running(
        self, api: str, path: str, state: str | None, wanted: str, function: Function
    ) -> Iterator[Lack]:
        """A queue or a job: deployed where it is missing, resumed where it was paused."""
        name = f"{path.split('/')[-2].removesuffix('s')} {path.rpartition('/')[2]}"
        if state is None:
            yield Lack(f"no {name}", deploy=self._target(function))
        elif state != wanted:
            yield Lack(f"the {name} is {state}", mend=self._maker(api, f"{path}:resume", {}))

    def _building(self, name: str, state: str | None, wanted: str) -> Iterator[Lack]:
        if state == "CREATING":
            yield Lack(f"{name} is being built", is_under_way=True)
        elif state != wanted:
            yield Lack(f"{name} is {state or 'not there'}", deploy="firestore")

    def _bound(self, api: str, path: str, roles: Any, account: str) -> Iterator[Lack]:
        """Roles that an account has to have on a resource."""
        policy = self._cloud.policy(api, path)
        for role in roles:
            if not _grants(policy, f"roles/{role}", f"serviceAccount:{account}"):
                yield Lack(
                    f"{account.partition('@')[0]} has no {role} on {path.rpartition('/')[2]}",
                    mend=self._binder(api, path, role, account),
                )

    def _binder(
        self, api: str, path: str, role: str, member: str, *, take: bool = False
    ) -> Callable[[], None]:
        full = member if member == "allUsers" or ":" in member else f"serviceAccount:{member}"
        return lambda: self._cloud.bind(api, path, f"roles/{role}", full, take=take)

    def _maker(
        self, api: str, path: str, body: dict[str, Any], method: str = "POST"
    ) -> Callable[[], object]:
        return lambda: self._cloud.make(api, path, body, method)

    def _key_maker(self, name: str, path: str) -> Callable[[], object]:
        def make() -> object:
            value = _made_up() if name == PREFS_KEY else self._cloud.type_in(f"    {name}: ")
            if not value:
                raise OpsError(
                    f"{name} is missing. With the key on its input, this adds it:\n"
                    f"  gcloud secrets versions add {name} --data-file=- "
                    f"--project={self._cloud.project}"
                )
            data = base64.b64encode(value.encode()).decode()
            return self._cloud.make(
                "secretmanager", f"{path}:addVersion", {"payload": {"data": data}}
            )

        return make


def _made_up() -> str:
    """32 random bytes that nobody needs to see."""
    return secrets.token_hex(32)


def _grants(policy: dict[str, Any], role: str, member: str) -> bool:
    """Whether a member has a role for good: under a condition it may end."""
    return any(
        binding["role"] == role and member in binding["members"]
        for binding in policy.get("bindings", [])
        if "condition" not in binding
    )
