"""A part that is missing in a project, and the means to make it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ops.cloud import Cloud, RefusedError
from ops.wanted import REGION, Wanted

_APIS_AT_ONCE: Final = 20


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

    def _switched_on(self, apis: Sequence[str]) -> Iterator[Lack]:
        """APIs, switched on together, at most 20 in a call."""
        listed = self._cloud.every(
            "serviceusage", f"v1/{self._project}/services?filter=state:ENABLED", "services"
        )
        enabled = {api["config"]["name"] for api in listed}
        missing = [api for api in apis if api not in enabled]
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

    def _readable(self, api: str, path: str) -> Any:
        """A resource, empty where it is not there; None where Google does not show it."""
        try:
            return self._cloud.get(api, path) or {}
        except RefusedError:
            return None

    def _deployed_rules(self) -> str:
        """Text of the rules of Firestore; empty where none are deployed."""
        release = f"v1/{self._project}/releases/cloud.firestore"
        found = self._cloud.get("firebaserules", release)
        if not found:
            return ""
        ruleset = self._cloud.get("firebaserules", f"v1/{found['rulesetName']}") or {}
        return "\n".join(file["content"] for file in ruleset.get("source", {}).get("files", []))

    def _asked(self, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Documents that a query of Firestore finds; none where there is no database yet."""
        path = f"{self._database}/documents:runQuery"
        try:
            answers = self._cloud.call("POST", "firestore", path, {"structuredQuery": query})
        except RefusedError as error:
            if error.is_missing:
                return []
            raise
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
        number = self._cloud.call("GET", "cloudresourcemanager", f"v1/{self._project}")
        return f"{number['projectNumber']}-compute@developer.gserviceaccount.com"

    def _maker(
        self, api: str, path: str, body: dict[str, Any], method: str = "POST"
    ) -> Callable[[], object]:
        return lambda: self._cloud.make(api, path, body, method)


def grants(policy: dict[str, Any], role: str, member: str) -> bool:
    """Whether a member has a role for good: under a condition it may end."""
    return any(
        binding["role"] == role and member in binding["members"]
        for binding in policy.get("bindings", [])
        if "condition" not in binding
    )
