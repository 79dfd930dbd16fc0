"""Requests that the deployed rules must deny, evaluated by Google for each path of our rules.

https://firebase.google.com/docs/reference/rules/rest/v1/projects/test
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ops import merging

TENANT: Final = "a"
"""Tenant of the tested event, which is a draft without access for guests."""
OTHER: Final = "b"
GUEST: Final = "a guest"
OTHER_ADMIN: Final = "an admin of another tenant"
CLAIMS: Final[Mapping[str, Mapping[str, Any]]] = {
    GUEST: {"firebase": {"sign_in_provider": "anonymous"}},
    OTHER_ADMIN: {
        "role": "admin",
        "tenantId": OTHER,
        "email": "admin@example.com",
        "email_verified": True,
    },
}
METHODS: Final = ("get", "list", "create", "update", "delete")
CASES_PER_CALL: Final = 100
_ALLOWED: Final = {"events/{eventId}/wall/{photoId}": ("get", "list")}
"""Methods that are allowed to every signed-in user, by path."""
_EVENT: Final[Mapping[str, Any]] = {"tenantId": TENANT, "status": "draft", "name": "Asked"}
_RECORD: Final[Mapping[str, Any]] = {"uid": "owner", "uploaderUid": "owner", "status": "approved"}
"""Any other document, such as an approved photo with its guest's address."""
_MOCKED: Final[Mapping[str, Any]] = {
    "get": {"data": _EVENT},
    "getAfter": {"data": _EVENT},
    "exists": True,
    "existsAfter": True,
}


@dataclass(frozen=True)
class Refusal:
    """A request that must be denied. `after` are the fields that it writes."""

    who: str
    method: str
    path: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)

    @property
    def case(self) -> dict[str, Any]:
        """The request in the format of a test case."""
        request: dict[str, Any] = {
            "auth": {"uid": "asked", "token": CLAIMS[self.who]},
            "method": self.method,
            "path": f"/databases/(default)/documents/{self.path}",
            "query": {"limit": 1, "offset": 0},
        }
        if self.method in ("create", "update"):
            request["resource"] = {"data": {**self.before, **self.after}}
        case: dict[str, Any] = {"expectation": "DENY", "request": request}
        if self.method != "create":
            case["resource"] = {"data": self.before}
        case["functionMocks"] = [
            {"function": name, "args": [{"anyValue": {}}], "result": {"value": value}}
            for name, value in _MOCKED.items()
        ]
        return case


def refusals(rules: str) -> Iterator[Refusal]:
    """Yield every method on every path, as a guest and as another tenant's admin."""
    for path in merging.paths_of(rules):
        document = "/".join(part.strip("{}") for part in path.split("/"))
        is_event = path == "events/{eventId}"
        before = _EVENT if is_event else _RECORD
        # Admins may create events of their own tenant, so this creates or moves another's.
        for method in METHODS:
            after: dict[str, Any] = {"tenantId": TENANT if method == "create" else OTHER}
            if method not in _ALLOWED.get(path, ()):
                for who in CLAIMS:
                    yield Refusal(
                        who, method, document, {} if method == "create" else before, after
                    )


def in_words(allowed: Iterable[Refusal]) -> Iterator[str]:
    """Yield a line per open path and person with the allowed methods."""
    open_paths: dict[tuple[str, str], list[str]] = {}
    for refusal in allowed:
        open_paths.setdefault((refusal.path, refusal.who), []).append(refusal.method)
    for (path, who), methods in open_paths.items():
        yield f"the app's rules let {who} {', '.join(methods)} {path}"
