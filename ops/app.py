"""An app that lives in the project already: its parts, which stay, and what it has to merge.

Functions, queues and accounts of ours come beside its own. Its rules, roles and sign-in are read,
and the operator is told what to merge into them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from functions.service_accounts import WEBHOOKS
from ops import merging, refusals
from ops.cloud import say
from ops.parts import Lack, Look, Parts, deployed_rules, grants
from ops.wanted import ROLES, TOKEN_CREATOR

_OWN_ELSEWHERE: Final = frozenset({"close-on-budget"})
"""Functions of ours that earlier releases deployed by themselves: the brake on the budget."""
_SAMPLE: Final = 50
"""Documents of a collection group that are looked at for fields of the same name."""
_REPOSITORY: Final = "gcf-artifacts"


class App(Parts):
    """The app of one project."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
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
        """Looks for names that the app has and a deploy of ours would take over."""
        return [
            ("Functions and queues of the app keep their names", self.names),
            ("Fields of the app keep their indexes, and live on", self.fields),
            ("A site of our own", self.site),
        ]

    @property
    def to_merge(self) -> list[tuple[str, Look]]:
        """Looks at the parts that only the app's developers change."""
        return [("Our rules among the app's", self.rules)]

    def found(self) -> list[str]:
        """Parts of an app, in words; empty in a project of our own."""
        functions = self._functions.keys() - self._names - self._gone
        parts = {
            "functions:": functions,
            "services of Cloud Run:": self._services() - {name.lower() for name in functions},
            "services of App Engine:": self._of_app_engine(),
            "rules for": merging.foreign_paths(deployed_rules(self._cloud), self._wanted.rules),
        }
        if not self._ours:  # whatever else is there came before our first deploy
            indexes = self._indexes().keys() - self._wanted.indexes
            indexes |= self._ttl().keys() - self._wanted.ttl
            parts |= {
                "indexes and TTL policies:": indexes,
                "pages at": {site for site in self._sites() if self._releases(site)},
                "sign-in by": self._providers(),
                "documents in": self._collections(),
            }
        return [f"{what} {_list(names)}" for what, names in parts.items() if names]

    def names(self) -> Iterator[Lack]:
        """firebase-tools take over a function by its name, of any codebase."""
        for name in sorted(self._names & self._functions.keys() - self._ours - self._accepted):
            yield Lack(f"the app has a function {name}", ask=_rename(name))
        attempts = {
            function.name: function.queue.get("maxAttempts") for function in self._wanted.functions
        }
        there = self._cloud.named("cloudtasks", f"v2/{self._region}/queues", "queues")
        for name in sorted(there.keys() & self._names - self._functions.keys() - self._accepted):
            limits = there[name].get("retryConfig", {})
            if self._ours and limits.get("maxAttempts") == attempts[name]:
                continue  # a roll back has deleted our function and left its queue
            yield Lack(f"there is a queue {name} without our function", ask=_rename(name))

    def fields(self) -> Iterator[Lack]:
        """An index of ours counts for every collection of that name; a TTL deletes documents."""
        if self._ours:
            return
        groups: dict[str, set[str]] = {}
        for override in self._wanted.overrides - self._accepted:
            group, _, field = override.partition(".")
            groups.setdefault(group, set()).add(field)
        for group, fields in sorted(groups.items()):
            for field in sorted(fields & self._sampled(group)):
                name = f"{group}.{field}"
                harm = "delete such documents" if name in self._wanted.ttl else "take its index"
                yield Lack(
                    f"documents of the app have the field {name}",
                    ask=f"Our entry in firestore.indexes.json would {harm}. Give the app's "
                    f"collection another name, or agree: --accept {name}",
                )

    def site(self) -> Iterator[Lack]:
        """Neither the app's default site, nor another one where pages of the app are."""
        name = self._wanted.hosting_site
        sites = self._sites()
        is_default = sites.get(name, {}).get("type") == "DEFAULT_SITE"
        if is_default or (not self._ours and name in sites and self._releases(name)):
            yield Lack(f"{name} has pages of the app", ask="Choose another name: --site NAME")
        own = {f"{name}.web.app" for name in sites if name != self._wanted.hosting_site}
        if self._wanted.site in own:
            yield Lack(
                f"PUBLIC_BASE_URL is a site of the app: {self._wanted.site}",
                ask=f"The pages come to https://{name}.web.app: set that, or a domain of that site",
            )

    def rules(self) -> Iterator[Lack]:
        """Ours are among them, and the app's own open nothing of ours to a guest."""
        if self.merged_rules():
            yield Lack(
                "our rules are not among the deployed ones",
                ask=f"firestore.{self._cloud.project}.rules has both: look at it, and deploy it "
                "where the app's rules are deployed from.",
            )
            return
        for text in refusals.in_words(self._opened()):
            yield Lack(text, ask="Firestore allows what any block allows: narrow the app's own.")

    def merged_rules(self) -> str:
        """The deployed rules with ours; empty where ours are among them."""
        deployed = deployed_rules(self._cloud)
        if merging.is_merged(deployed, self._wanted.rules):
            return ""
        return merging.merged(deployed, self._wanted.rules)

    def remember(self, *, is_beside: bool) -> Callable[[], None]:
        """Read what a deploy changes besides our functions; the act that takes it back.

        That is what a deploy gives to the default account, and beside an app the images' clean-up.
        """
        api, path = "cloudresourcemanager", f"v1/{self._project}"
        repository = f"v1/{self._region}/repositories/{_REPOSITORY}"
        account = self._default_account()
        given = [(role, account) for role in ("run.invoker", "eventarc.eventReceiver")]
        given.append((TOKEN_CREATOR, self._pubsub_agent()))

        def roles() -> set[tuple[str, str]]:
            policy = self._cloud.policy(api, path)
            return {
                (role, member)
                for role, member in given
                if grants(policy, f"roles/{role}", f"serviceAccount:{member}")
            }

        def policies() -> Mapping[str, Any] | None:
            found = self._cloud.get("artifactregistry", repository)
            return None if found is None else found.get("cleanupPolicies", {})

        roles_before, policies_before = roles(), policies()
        bindings = self._cloud.policy(api, path).get("bindings", [])
        if any("condition" in binding for binding in bindings):
            # firebase-tools would write the project's roles back without their conditions. Where
            # they find all that they would add, they write nothing.
            for role, member in sorted(set(given) - roles_before):
                self._binder(api, path, role, member)()

        def take_back() -> None:
            for role, member in sorted(roles() - roles_before):
                if member != account:
                    continue  # without the token creator no trigger fires in an old project
                say(f"  the deploy gave {member} {role}: taken back")
                self._binder(api, path, role, member, take=True)()
            if is_beside and policies_before is not None and policies() != policies_before:
                say("  the deploy had old images of all functions deleted: taken back")
                where = f"{repository}?updateMask=cleanupPolicies"
                body = {"cleanupPolicies": policies_before}
                self._cloud.call("PATCH", "artifactregistry", where, body)

        return take_back

    def _opened(self) -> Iterator[refusals.Refusal]:
        """What the deployed rules allow and ours refuse, by Google's own judgement."""
        release = self._cloud.get("firebaserules", f"v1/{self._project}/releases/cloud.firestore")
        asked = list(refusals.refusals(self._wanted.rules))
        for start in range(0, len(asked), refusals.AT_ONCE):
            some = asked[start : start + refusals.AT_ONCE]
            body = {"testSuite": {"testCases": [refusal.case for refusal in some]}}
            path = f"v1/{release['rulesetName']}:test"
            results = self._cloud.call("POST", "firebaserules", path, body)["testResults"]
            for refusal, result in zip(some, results, strict=True):
                if result.get("state") == "FAILURE":
                    yield refusal

    def _sampled(self, group: str) -> set[str]:
        """Names of the fields that some documents of a collection group have."""
        query = {"from": [{"collectionId": group, "allDescendants": True}], "limit": _SAMPLE}
        return {name for document in self._asked(query) for name in document.get("fields", {})}

    def _services(self) -> set[str]:
        """Names of the services of Cloud Run in all regions, which no function of ours has."""
        ours = {name.lower() for name in self._names | self._gone}
        path = f"apis/serving.knative.dev/v1/namespaces/{self._cloud.project}/services"
        items = (self._cloud.get("run", path) or {}).get("items", [])
        return {item["metadata"]["name"] for item in items} - ours

    def _of_app_engine(self) -> set[str]:
        path = f"v1/apps/{self._cloud.project}/services"
        return set(self._cloud.named("appengine", path, "services"))

    def _providers(self) -> set[str]:
        """Ways in that an app has switched on; before our set-up the one by e-mail is its own."""
        path = f"admin/v2/{self._project}"
        ways = (self._readable("identitytoolkit", f"{path}/config") or {}).get("signIn", {})
        found = {way for way in ("email", "phoneNumber", "anonymous") if _is_on(ways.get(way))}
        others = self._readable("identitytoolkit", f"{path}/defaultSupportedIdpConfigs") or {}
        idps = others.get("defaultSupportedIdpConfigs", [])
        found |= {idp["name"].rpartition("/")[2] for idp in idps if _is_on(idp)}
        return found - ({"email"} if self._was_here else set())

    def _collections(self) -> set[str]:
        """Collections at the root; before our set-up those with our names are the app's as well."""
        path = f"{self._database}/documents:listCollectionIds"
        answer = self._cloud.get("firestore", path, {"pageSize": 1000}) or {}
        ours = {path.partition("/")[0] for path in merging.paths_of(self._wanted.rules)}
        return set(answer.get("collectionIds", [])) - (ours if self._was_here else set())

    @property
    def _was_here(self) -> bool:
        """Whether `ops/setup` has made its accounts, in a run that stopped before the deploy."""
        account = self._wanted.account(WEBHOOKS)
        return self._cloud.get("iam", f"v1/{self._project}/serviceAccounts/{account}") is not None


def _is_on(provider: Mapping[str, Any] | None) -> bool:
    return bool(provider and provider.get("enabled"))


def _rename(name: str) -> str:
    return f"A deploy would replace it. Give the app's another name, or agree: --accept {name}"


def _list(names: Any) -> str:
    some = sorted(names)
    return ", ".join(some[:5]) + (f" and {len(some) - 5} more" if len(some) > 5 else "")  # noqa: PLR2004
