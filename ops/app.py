"""An app that lives in the project already: its parts, which stay, and what it has to merge.

Functions, queues and accounts of ours come beside its own. Its rules, roles and sign-in are read,
and the operator is told what to merge into them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ops import braking, merging, refusals
from ops.cloud import say
from ops.parts import Lack, Look, Parts, grants
from ops.wanted import ROLES, index_text

_OWN_ELSEWHERE: Final = frozenset({braking.FUNCTION})
"""Functions of ours that main.py does not declare: the brake on the budget."""
_SAMPLE: Final = 50
"""Documents of a collection group that are looked at for fields of the same name."""
_REPOSITORY: Final = "gcf-artifacts"
_PUBSUB: Final = "gcp-sa-pubsub.iam.gserviceaccount.com"


class App(Parts):
    """The app of one project; its rules are compared with `rules`, the text of ours."""

    def __init__(self, *given: Any, rules: str, accepted: Sequence[str] = ()) -> None:
        """Look at nothing yet; `accepted` are names that the operator lets us take."""
        super().__init__(*given)
        self._rules = rules
        self._accepted = frozenset(accepted)
        self._functions = {
            found["name"].rpartition("/")[2]: found
            for found in self._cloud.every(
                "cloudfunctions", f"v2/{self._project}/locations/-/functions", "functions"
            )
        }
        self._names = {function.name for function in self._wanted.functions}
        accounts = {self._wanted.account(setting) for setting in ROLES}
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
        foreign = self._functions.keys() - self._names - _OWN_ELSEWHERE
        paths = merging.foreign_paths(self.deployed_rules(), self._rules)
        found = [f"functions: {_list(foreign)}", f"rules for {_list(paths)}"]
        found = [text for text, is_there in zip(found, (foreign, paths), strict=True) if is_there]
        if self._ours:
            return found
        indexes = (self._indexes() - self._wanted.indexes) | (self._ttl() - self._wanted.ttl)
        sites = [site for site in self._sites() if self._has_release(site)]
        found += [f"indexes and TTL policies: {len(indexes)}"] if indexes else []
        return found + ([f"pages at {_list(sites)}"] if sites else [])

    def names(self) -> Iterator[Lack]:
        """firebase-tools take over a function by its name, of any codebase."""
        for name in sorted(self._names & self._functions.keys() - self._ours - self._accepted):
            yield Lack(f"the app has a function {name}", ask=_rename(name))
        attempts = {function.name: function.attempts for function in self._wanted.functions}
        there = {
            queue["name"].rpartition("/")[2]: queue.get("retryConfig", {}).get("maxAttempts")
            for queue in self._cloud.every("cloudtasks", f"v2/{self._region}/queues", "queues")
        }
        for name in sorted(there.keys() & self._names - self._functions.keys() - self._accepted):
            if self._ours and there[name] == attempts[name]:
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
        if is_default or (not self._ours and name in sites and self._has_release(name)):
            yield Lack(f"{name} has pages of the app", ask="Choose another name: --site NAME")
        own = {f"{name}.web.app" for name in sites if name != self._wanted.hosting_site}
        if self._wanted.site in own:
            yield Lack(
                f"PUBLIC_BASE_URL is a site of the app: {self._wanted.site}",
                ask=f"The pages come to https://{name}.web.app: set that, or a domain of that site",
            )

    def rules(self) -> Iterator[Lack]:
        """Ours are among them, and the app's own open nothing of ours to a guest."""
        deployed = self.deployed_rules()
        is_merged = merging.is_merged(deployed, self._rules)
        if not is_merged:
            yield Lack(
                "our rules are not among the deployed ones",
                ask=f"firestore.{self._cloud.project}.rules has both: look at it, and deploy it "
                "where the app's rules are deployed from.",
            )
            return
        for text in refusals.in_words(self._opened()) if deployed else ():
            yield Lack(text, ask="Firestore allows what any block allows: narrow the app's own.")

    def deployed_rules(self) -> str:
        """Their text; empty where none are deployed."""
        release = f"v1/{self._project}/releases/cloud.firestore"
        found = self._cloud.get("firebaserules", release)
        if not found:
            return ""
        ruleset = self._cloud.get("firebaserules", f"v1/{found['rulesetName']}") or {}
        return "\n".join(file["content"] for file in ruleset.get("source", {}).get("files", []))

    def remember(self) -> Callable[[], None]:
        """Read what a deploy changes besides our functions; the act that takes it back."""
        api, path = "cloudresourcemanager", f"v1/{self._project}"
        repository = f"v1/{self._region}/repositories/{_REPOSITORY}"
        account = self._default_account()
        number = account.partition("-")[0]
        given = [(role, account) for role in ("run.invoker", "eventarc.eventReceiver")]
        given.append(("iam.serviceAccountTokenCreator", f"service-{number}@{_PUBSUB}"))

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
                say(f"  the deploy gave {member} {role}: taken back")
                self._binder(api, path, role, member, take=True)()
            if policies_before is not None and policies() != policies_before:
                say("  the deploy had old images of all functions deleted: taken back")
                where = f"{repository}?updateMask=cleanupPolicies"
                body = {"cleanupPolicies": policies_before}
                self._cloud.call("PATCH", "artifactregistry", where, body)

        return take_back

    def _opened(self) -> Iterator[refusals.Refusal]:
        """What the deployed rules allow and ours refuse, by Google's own judgement."""
        release = self._cloud.get("firebaserules", f"v1/{self._project}/releases/cloud.firestore")
        asked = list(refusals.refusals(self._rules))
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
        query = {
            "from": [{"collectionId": group, "allDescendants": True}],
            "limit": _SAMPLE,
        }
        return {name for document in self._asked(query) for name in document.get("fields", {})}

    def _indexes(self) -> set[str]:
        path = f"{self._database}/collectionGroups/-/indexes"
        return {
            index_text(index["name"].split("/")[-3], index)
            for index in self._cloud.every("firestore", path, "indexes")
        }

    def _ttl(self) -> set[str]:
        path = f"{self._database}/collectionGroups/-/fields?filter=ttlConfig:*"
        fields = self._cloud.every("firestore", path, "fields")
        return {".".join(field["name"].split("/")[-3::2]) for field in fields}

    def _sites(self) -> dict[str, Mapping[str, Any]]:
        listed = self._cloud.every("firebasehosting", f"v1beta1/{self._project}/sites", "sites")
        return {site["name"].rpartition("/")[2]: site for site in listed}

    def _has_release(self, site: str) -> bool:
        path = f"v1beta1/{self._project}/sites/{site}/releases?pageSize=1"
        return bool((self._cloud.get("firebasehosting", path) or {}).get("releases"))


def _rename(name: str) -> str:
    return f"A deploy would replace it. Give the app's another name, or agree: --accept {name}"


def _list(names: Any) -> str:
    some = sorted(names)
    return ", ".join(some[:5]) + (f" and {len(some) - 5} more" if len(some) > 5 else "")  # noqa: PLR2004
