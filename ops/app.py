"""Detects an existing app in the project, protects its parts, and lists the changes to merge.

Functions, queues and accounts of the service are added. The app's rules, roles and sign-in are only
read.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from functions.service_accounts import WEBHOOKS
from ops import merging, refusals
from ops.cloud import say
from ops.parts import Issue, Look, Parts, deployed_rules, grants
from ops.wanted import ROLES, TOKEN_CREATOR

_OWN_ELSEWHERE: Final = frozenset({"close-on-budget"})
"""Functions that earlier releases deployed separately: the brake on the budget."""
_REPOSITORY: Final = "gcf-artifacts"


class App(Parts):
    """The existing app of one project."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        path = f"v2/{self._project}/locations/-/functions"
        self._functions = self._cloud.named("cloudfunctions", path, "functions")
        self._names = {function.name for function in self._wanted.functions}
        self._gone = self._former(self._functions) | _OWN_ELSEWHERE
        accounts = {self._wanted.account(name) for name in ROLES}
        self._ours = {
            name
            for name in self._names & self._functions.keys()
            if self._functions[name].get("serviceConfig", {}).get("serviceAccountEmail") in accounts
        }

    @property
    def conditions(self) -> list[tuple[str, Look]]:
        """Checks for names of the app that a deploy would overwrite."""
        return [
            ("Names of the app's functions and queues", self.names),
            ("Indexes and TTL policies of the app's fields", self.fields),
            ("A separate Hosting site", self.site),
        ]

    @property
    def to_merge(self) -> list[tuple[str, Look]]:
        """Checks of the parts that only the app's developers change."""
        return [("Security rules of the app", self.rules)]

    def found(self) -> list[str]:
        """Describe the parts of an app. Return an empty list if there is no app."""
        functions = self._functions.keys() - self._names - self._gone
        engine = f"v1/apps/{self._cloud.project}/services"
        parts = {
            "functions:": functions,
            "services of Cloud Run:": self._services() - {name.lower() for name in functions},
            "services of App Engine:": set(self._cloud.named("appengine", engine, "services")),
            "rules for": merging.foreign_paths(deployed_rules(self._cloud), self._wanted.rules),
        }
        if not self._ours:  # before the first deploy, all other parts belong to the app
            indexes = self._indexes().keys() - self._wanted.indexes
            indexes |= self._ttl().keys() - self._wanted.ttl
            parts |= {
                "indexes and TTL policies:": indexes,
                "pages at": {site for site in self._sites() if self._releases(site)},
                "sign-in by": self._providers(),
                "documents in": self._collections(),
            }
        return [f"{what} {_list(names)}" for what, names in parts.items() if names]

    def names(self) -> Iterator[Issue]:
        """Yield names in use: firebase-tools replace a function of any codebase by its name."""
        for name in sorted(self._names & self._functions.keys() - self._ours - self._accepted):
            yield Issue(f"the app has a function {name}", ask=_rename(name))
        attempts = {
            function.name: function.queue.get("maxAttempts") for function in self._wanted.functions
        }
        there = self._cloud.named("cloudtasks", f"v2/{self._region}/queues", "queues")
        for name in sorted(there.keys() & self._names - self._functions.keys() - self._accepted):
            limits = there[name].get("retryConfig", {})
            if self._ours and limits.get("maxAttempts") == attempts[name]:
                continue  # a rollback deletes the function but not its queue
            yield Issue(f"the queue {name} does not belong to the service", ask=_rename(name))

    def fields(self) -> Iterator[Issue]:
        """Yield fields of the app that field overrides would change in collections of that name."""
        if self._ours:
            return
        groups: dict[str, set[str]] = {}
        for override in self._wanted.overrides - self._accepted:
            group, _, field = override.partition(".")
            groups.setdefault(group, set()).add(field)
        for group, fields in sorted(groups.items()):
            there = {name for each in self._sampled(group) for name in each.get("fields", {})}
            for field in sorted(fields & there):
                name = f"{group}.{field}"
                harm = "delete such documents" if name in self._wanted.ttl else "replace its index"
                yield Issue(
                    f"documents of the app have the field {name}",
                    ask=f"The entry in firestore.indexes.json would {harm}. Rename the app's "
                    f"collection, or agree with --accept {name}",
                )

    def site(self) -> Iterator[Issue]:
        """Yield an issue if the chosen site is the app's."""
        name = self._wanted.hosting_site
        sites = self._sites()
        is_default = sites.get(name, {}).get("type") == "DEFAULT_SITE"
        if is_default or (not self._ours and name in sites and self._releases(name)):
            yield Issue(f"{name} has pages of the app", ask="Choose another name with --site NAME.")
        own = {f"{name}.web.app" for name in sites if name != self._wanted.hosting_site}
        if self._wanted.site in own:
            yield Issue(
                f"PUBLIC_BASE_URL is a site of the app: {self._wanted.site}",
                ask=f"Set it to https://{name}.web.app or to a domain of that site.",
            )

    def rules(self) -> Iterator[Issue]:
        """Yield rules to merge, and rules of the app that open the service's data."""
        if self.merged_rules():
            yield Issue(
                "the deployed rules do not include the rules of the service",
                ask=f"firestore.{self._cloud.project}.rules has both. Review it, then deploy it "
                "from the app's repository.",
            )
            return
        for text in refusals.in_words(self._opened()):
            yield Issue(
                text, ask="Firestore grants access if any block does. Restrict the app's rules."
            )

    def merged_rules(self) -> str:
        """Return the deployed rules merged with ours, or "" if they already include ours."""
        deployed = deployed_rules(self._cloud)
        if merging.is_merged(deployed, self._wanted.rules):
            return ""
        return merging.merged(deployed, self._wanted.rules)

    @contextmanager
    def kept(self, *, is_beside: bool) -> Iterator[None]:
        """Revert the side effects of the deploy in this context.

        A deploy grants roles to the default account, and changes the clean-up policy of images.
        """
        api, path = "cloudresourcemanager", f"v1/{self._project}"
        repository = f"v1/{self._region}/repositories/{_REPOSITORY}"
        account = self._default_account()
        granted = [(role, account) for role in ("run.invoker", "eventarc.eventReceiver")]
        granted.append((TOKEN_CREATOR, self._pubsub_agent()))

        def roles() -> set[tuple[str, str]]:
            policy = self._cloud.policy(api, path)
            return {
                (role, member)
                for role, member in granted
                if grants(policy, f"roles/{role}", f"serviceAccount:{member}")
            }

        def policies() -> Mapping[str, Any] | None:
            found = self._cloud.get("artifactregistry", repository)
            return None if found is None else found.get("cleanupPolicies", {})

        roles_before, policies_before = roles(), policies()
        bindings = self._cloud.policy(api, path).get("bindings", [])
        if any("condition" in binding for binding in bindings):
            # firebase-tools drop the conditions of roles when they write the policy. They write
            # nothing if all roles that they need are granted.
            for role, member in sorted(set(granted) - roles_before):
                self._binder(api, path, role, member)()

        yield
        for role, member in sorted(roles() - roles_before):
            if member != account:
                continue  # triggers in an old project require the token creator
            say(f"  revoked the role {role} that the deploy granted to {member}")
            self._binder(api, path, role, member, take=True)()
        if is_beside and policies_before is not None and policies() != policies_before:
            say("  restored the clean-up policy of images that the deploy changed")
            where = f"{repository}?updateMask=cleanupPolicies"
            body = {"cleanupPolicies": policies_before}
            self._cloud.call("PATCH", "artifactregistry", where, body)

    def _opened(self) -> Iterator[refusals.Refusal]:
        """Yield requests that the deployed rules allow and ours deny, as Google evaluates them."""
        release = self._cloud.get("firebaserules", f"v1/{self._project}/releases/cloud.firestore")
        asked = list(refusals.refusals(self._wanted.rules))
        for start in range(0, len(asked), refusals.CASES_PER_CALL):
            some = asked[start : start + refusals.CASES_PER_CALL]
            body = {"testSuite": {"testCases": [refusal.case for refusal in some]}}
            path = f"v1/{release['rulesetName']}:test"
            results = self._cloud.call("POST", "firebaserules", path, body)["testResults"]
            for refusal, result in zip(some, results, strict=True):
                if result.get("state") == "FAILURE":
                    yield refusal

    def _services(self) -> set[str]:
        """Return the Cloud Run services in all regions that do not belong to the service."""
        ours = {name.lower() for name in self._names | self._gone}
        path = f"apis/serving.knative.dev/v1/namespaces/{self._cloud.project}/services"
        items = (self._cloud.get("run", path) or {}).get("items", [])
        return {item["metadata"]["name"] for item in items} - ours

    def _providers(self) -> set[str]:
        """Return the sign-in methods of the app. Setup enables sign-in by email."""
        path = f"admin/v2/{self._project}"
        ways = (self._readable("identitytoolkit", f"{path}/config") or {}).get("signIn", {})
        found = {way for way in ("email", "phoneNumber", "anonymous") if _is_on(ways.get(way))}
        others = self._readable("identitytoolkit", f"{path}/defaultSupportedIdpConfigs") or {}
        idps = others.get("defaultSupportedIdpConfigs", [])
        found |= {idp["name"].rpartition("/")[2] for idp in idps if _is_on(idp)}
        return found - ({"email"} if self._was_here else set())

    def _collections(self) -> set[str]:
        """Return the root collections of the app, which before setup are all of them."""
        path = f"{self._database}/documents:listCollectionIds"
        answer = self._cloud.get("firestore", path, {"pageSize": 1000}) or {}
        ours = {path.partition("/")[0] for path in merging.paths_of(self._wanted.rules)}
        return set(answer.get("collectionIds", [])) - (ours if self._was_here else set())

    @property
    def _was_here(self) -> bool:
        """Whether an earlier run of `ops/setup` created its accounts."""
        account = self._wanted.account(WEBHOOKS)
        return self._cloud.get("iam", f"v1/{self._project}/serviceAccounts/{account}") is not None


def _is_on(provider: Mapping[str, Any] | None) -> bool:
    return bool(provider and provider.get("enabled"))


def _rename(name: str) -> str:
    return f"A deploy would replace it. Rename the app's, or agree with --accept {name}"


def _list(names: Any) -> str:
    some = sorted(names)
    return ", ".join(some[:5]) + (f" and {len(some) - 5} more" if len(some) > 5 else "")  # noqa: PLR2004
