"""A part that is missing in a project, and the means to make it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ops.cloud import Cloud, RefusedError
from ops.wanted import REGION, Wanted, index_text


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
    is_note: bool = False
    """Only somebody can tell whether it is right: it is printed, and nothing stops."""


Look: TypeAlias = Callable[[], Iterator[Lack]]


class Parts:
    """Some of the parts of one project; the parts of a kind have a check each."""

    def __init__(self, cloud: Cloud, wanted: Wanted, accepted: Sequence[str] = ()) -> None:
        """Look at nothing yet; `accepted` are names of what the operator agrees to."""
        self._cloud = cloud
        self._wanted = wanted
        self._accepted = frozenset(accepted)
        self._project = f"projects/{cloud.project}"
        self._region = f"{self._project}/locations/{REGION}"
        self._database = f"v1/{self._project}/databases/(default)"

    def _readable(self, api: str, path: str) -> Any:
        """A resource, empty where it is not there; None where Google does not show it."""
        try:
            return self._cloud.get(api, path) or {}
        except RefusedError:
            return None

    def _former(self, functions: Mapping[str, Mapping[str, Any]]) -> set[str]:
        """The ones of these functions that are of our codebase, and that main.py does not have."""
        label, ours = "firebase-functions-codebase", self._wanted.codebase
        found = {
            name for name, made in functions.items() if made.get("labels", {}).get(label) == ours
        }
        return found - {function.name for function in self._wanted.functions}

    def _indexes(self) -> dict[str, str]:
        """States of the composite indexes, as `index_text` writes them."""
        path = f"{self._database}/collectionGroups/-/indexes"
        return {
            index_text(index["name"].split("/")[-3], index): index["state"]
            for index in self._cloud.every("firestore", path, "indexes")
        }

    def _ttl(self) -> dict[str, str]:
        """States of the TTL policies, by `group.field`."""
        path = f"{self._database}/collectionGroups/-/fields?filter=ttlConfig:*"
        return {
            ".".join(field["name"].split("/")[-3::2]): field["ttlConfig"]["state"]
            for field in self._cloud.every("firestore", path, "fields")
        }

    def _sites(self) -> dict[str, Mapping[str, Any]]:
        """Hosting's sites by their names."""
        return self._cloud.named("firebasehosting", f"v1beta1/{self._project}/sites", "sites")

    def _releases(self, site: str) -> list[Mapping[str, Any]]:
        """The newest release of a site; empty where it has none."""
        path = f"v1beta1/{self._project}/sites/{site}/releases?pageSize=1"
        found = self._cloud.get("firebasehosting", path) or {}
        return list(found.get("releases", []))

    def _asked(self, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Documents that a query of Firestore finds; none where there is no database yet."""
        path = f"{self._database}/documents:runQuery"
        answers = self._cloud.get("firestore", path, {"structuredQuery": query}) or []
        return [answer["document"] for answer in answers if "document" in answer]

    def _bound(self, api: str, path: str, roles: Iterable[str], account: str) -> Iterator[Lack]:
        """Roles that an account has to have on a resource."""
        policy = self._cloud.policy(api, path)
        for role in roles:
            if not grants(policy, f"roles/{role}", f"serviceAccount:{account}"):
                yield Lack(
                    f"{account.partition('@')[0]} has no {role} on {path.rpartition('/')[2]}",
                    mend=self._binder(api, path, role, account),
                )

    def _binder(
        self, api: str, path: str, role: str, member: str, *, take: bool = False
    ) -> Callable[[], None]:
        full = member if member == "allUsers" or ":" in member else f"serviceAccount:{member}"
        return lambda: self._cloud.bind(api, path, f"roles/{role}", full, take=take)

    def _default_account(self) -> str:
        """Address of the account that builds, and that functions run as where none is named."""
        place = f"v1/{self._project}/locations/{REGION}/defaultServiceAccount"
        chosen = (self._readable("cloudbuild", place) or {}).get("serviceAccountEmail", "")
        number = self._about()["projectNumber"]
        return chosen.rpartition("/")[2] or f"{number}-compute@developer.gserviceaccount.com"

    def _pubsub_agent(self) -> str:
        """Address of the account of Google's that pushes events to the triggers."""
        return f"service-{self._about()['projectNumber']}@gcp-sa-pubsub.iam.gserviceaccount.com"

    def _about(self) -> Any:
        """The project itself: its number, and when it was created."""
        return self._cloud.call("GET", "cloudresourcemanager", f"v1/{self._project}")

    def _maker(self, api: str, path: str, body: dict[str, Any]) -> Callable[[], object]:
        return lambda: self._cloud.make(api, path, body)

    def _patcher(self, api: str, path: str, mask: str, body: Any) -> Callable[[], object]:
        return lambda: self._cloud.make(api, f"{path}?updateMask={mask}", body, "PATCH")


def grants(policy: dict[str, Any], role: str, member: str) -> bool:
    """Whether a member has a role for good: under a condition it may end."""
    return any(
        binding["role"] == role and member in binding["members"]
        for binding in policy.get("bindings", [])
        if "condition" not in binding
    )


def deployed_rules(cloud: Cloud) -> str:
    """Text of the rules of Firestore; empty where none are deployed."""
    release = f"v1/projects/{cloud.project}/releases/cloud.firestore"
    found = cloud.get("firebaserules", release)
    if not found:
        return ""
    ruleset = cloud.get("firebaserules", f"v1/{found['rulesetName']}") or {}
    return "\n".join(file["content"] for file in ruleset.get("source", {}).get("files", []))
