"""What the deployed rules have to refuse, whatever an app's own blocks allow.

Each path of our rules is asked about: Google itself judges (`projects.test` of the rules' API).
https://firebase.google.com/docs/reference/rules/rest/v1/projects/test
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ops import merging

TENANT: Final = "a"
"""Of the event that is asked about, a draft: a guest has no right at it."""
OTHER: Final = "b"
GUEST: Final = "a guest"
OTHER_ADMIN: Final = "an admin of another tenant"
PEOPLE: Final[Mapping[str, Mapping[str, Any]]] = {
    GUEST: {"firebase": {"sign_in_provider": "anonymous"}},
    OTHER_ADMIN: {
        "role": "admin",
        "tenantId": OTHER,
        "email": "admin@example.com",
        "email_verified": True,
    },
}
"""Claims of the tokens."""
METHODS: Final = ("get", "list", "create", "update", "delete")
AT_ONCE: Final = 100
"""Cases of one call."""
_ALLOWED: Final = {"events/{eventId}/wall/{photoId}": ("get", "list")}
"""What everybody signed in may do."""
_EVENT: Final[Mapping[str, Any]] = {"tenantId": TENANT, "status": "draft", "name": "Asked"}
_RECORD: Final[Mapping[str, Any]] = {
    "uid": "somebody",
    "uploaderUid": "somebody",
    "status": "approved",
}
"""Any other document; an approved photo, which has its guest's address."""
_MOCKED: Final[Mapping[str, Any]] = {
    "get": {"data": _EVENT},
    "getAfter": {"data": _EVENT},
    "exists": True,
    "existsAfter": True,
}


@dataclass(frozen=True)
class Refusal:
    """A request that has to be refused; `after` is what it writes into the document."""

    who: str
    method: str
    path: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)

    @property
    def case(self) -> dict[str, Any]:
        """The request as a test case of Google's."""
        request: dict[str, Any] = {
            "auth": {"uid": "asked", "token": PEOPLE[self.who]},
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
    """Every method on every path of `rules`, as a guest and as another tenant's admin."""
    for path in merging.paths_of(rules):
        document = "/".join(part.strip("{}") for part in path.split("/"))
        is_event = path == "events/{eventId}"
        before = _EVENT if is_event else _RECORD
        # An event of one's own tenant may be made: here another one's is made, or moved.
        for method in METHODS:
            after: dict[str, Any] = {"tenantId": TENANT if method == "create" else OTHER}
            if method not in _ALLOWED.get(path, ()):
                for who in PEOPLE:
                    given = {} if method == "create" else before
                    yield Refusal(who, method, document, given, after)


def in_words(allowed: Iterable[Refusal]) -> Iterator[str]:
    """A line for each path that is open, with who may do what there."""
    open_paths: dict[tuple[str, str], list[str]] = {}
    for refusal in allowed:
        open_paths.setdefault((refusal.path, refusal.who), []).append(refusal.method)
    for (path, who), methods in open_paths.items():
        yield f"the app's own rules let {who} {', '.join(methods)} {path}"
