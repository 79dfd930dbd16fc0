"""Base of the checks for missing parts of a project, and their remedies."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ops.cloud import Cloud, RefusedError
from ops.wanted import REGION, Wanted, index_text


@dataclass(frozen=True)
class Issue:
    """A missing part of the project and its remedy, which is one of the other fields."""

    text: str
    fix: Callable[[], object] | None = None
    """Creates the part."""
    deploy: str = ""
    """Target of `firebase deploy --only` that creates the part."""
    ask: str = ""
    """Instructions for the operator."""
    is_under_way: bool = False
    """Whether Google is creating the part."""


class Note(Issue):
    """An issue that is only printed, because it may be intended."""


Look: TypeAlias = Callable[[], Iterator[Issue]]


class Parts:
    """Base class of the checks of one project."""

    def __init__(self, cloud: Cloud, wanted: Wanted, accepted: Sequence[str] = ()) -> None:
        """Accept the names in `accepted` without a check."""
        self._cloud = cloud
        self._wanted = wanted
        self._accepted = frozenset(accepted)
        self._project = f"projects/{cloud.project}"
        self._region = f"{self._project}/locations/{REGION}"
        self._database = f"v1/{self._project}/databases/(default)"

    def _readable(self, api: str, path: str) -> Any:
        """Return a resource, {} if it is missing, or None if Google does not show it."""
        try:
            return self._cloud.get(api, path) or {}
        except RefusedError:
            return None

    def _former(self, functions: Mapping[str, Mapping[str, Any]]) -> set[str]:
        """Return the functions of our codebase that main.py does not define."""
        label, ours = "firebase-functions-codebase", self._wanted.codebase
        found = {
            name for name, entry in functions.items() if entry.get("labels", {}).get(label) == ours
        }
        return found - {function.name for function in self._wanted.functions}

    def _indexes(self) -> dict[str, str]:
        """Return the states of the composite indexes by `index_text`."""
        path = f"{self._database}/collectionGroups/-/indexes"
        return {
            index_text(index["name"].split("/")[-3], index): index["state"]
            for index in self._cloud.every("firestore", path, "indexes")
        }

    def _ttl(self) -> dict[str, str]:
        """Return the states of the TTL policies by `group.field`."""
        path = f"{self._database}/collectionGroups/-/fields?filter=ttlConfig:*"
        return {
            ".".join(field["name"].split("/")[-3::2]): field["ttlConfig"]["state"]
            for field in self._cloud.every("firestore", path, "fields")
        }

    def _sites(self) -> dict[str, Mapping[str, Any]]:
        return self._cloud.named("firebasehosting", f"v1beta1/{self._project}/sites", "sites")

    def _releases(self, site: str) -> list[Mapping[str, Any]]:
        """Return the newest release of a site in a list, or an empty list."""
        path = f"v1beta1/{self._project}/sites/{site}/releases?pageSize=1"
        found = self._cloud.get("firebasehosting", path) or {}
        return list(found.get("releases", []))

    def _asked(self, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the documents that match a query, or none without a database."""
        path = f"{self._database}/documents:runQuery"
        answers = self._cloud.get("firestore", path, {"structuredQuery": query}) or []
        return [answer["document"] for answer in answers if "document" in answer]

    def _sampled(self, group: str) -> list[Mapping[str, Any]]:
        """Return up to a hundred documents of a collection group."""
        return self._asked(
            {"from": [{"collectionId": group, "allDescendants": True}], "limit": 100}
        )

    def _bound(self, api: str, path: str, roles: Iterable[str], account: str) -> Iterator[Issue]:
        """Yield roles on a resource that an account does not have."""
        policy = self._cloud.policy(api, path)
        for role in roles:
            if not grants(policy, f"roles/{role}", f"serviceAccount:{account}"):
                yield Issue(
                    f"{account.partition('@')[0]} has no {role} on {path.rpartition('/')[2]}",
                    fix=self._binder(api, path, role, account),
                )

    def _binder(
        self, api: str, path: str, role: str, member: str, *, take: bool = False
    ) -> Callable[[], None]:
        full = member if member == "allUsers" or ":" in member else f"serviceAccount:{member}"
        return lambda: self._cloud.bind(api, path, f"roles/{role}", full, take=take)

    def _default_account(self) -> str:
        """Return the address of the account that builds, and that runs functions by default."""
        place = f"v1/{self._project}/locations/{REGION}/defaultServiceAccount"
        chosen = (self._readable("cloudbuild", place) or {}).get("serviceAccountEmail", "")
        number = self._about()["projectNumber"]
        return chosen.rpartition("/")[2] or f"{number}-compute@developer.gserviceaccount.com"

    def _pubsub_agent(self) -> str:
        """Return the address of Google's account that pushes events to triggers."""
        return f"service-{self._about()['projectNumber']}@gcp-sa-pubsub.iam.gserviceaccount.com"

    def _about(self) -> Any:
        """Return the number and the creation time of the project."""
        return self._cloud.call("GET", "cloudresourcemanager", f"v1/{self._project}")

    def _maker(self, api: str, path: str, body: dict[str, Any]) -> Callable[[], object]:
        return lambda: self._cloud.make(api, path, body)

    def _patcher(self, api: str, path: str, mask: str, body: Any) -> Callable[[], object]:
        return lambda: self._cloud.make(api, f"{path}?updateMask={mask}", body, "PATCH")


def grants(policy: dict[str, Any], role: str, member: str) -> bool:
    """Return whether a member has a role without a condition."""
    return any(
        binding["role"] == role and member in binding["members"]
        for binding in policy.get("bindings", [])
        if "condition" not in binding
    )


def deployed_rules(cloud: Cloud) -> str:
    """Return the deployed rules of Firestore, or "" if there are none."""
    release = f"v1/projects/{cloud.project}/releases/cloud.firestore"
    found = cloud.get("firebaserules", release)
    if not found:
        return ""
    ruleset = cloud.get("firebaserules", f"v1/{found['rulesetName']}") or {}
    return "\n".join(file["content"] for file in ruleset.get("source", {}).get("files", []))
