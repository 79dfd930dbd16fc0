"""Documents of a project's Firestore, by its REST API: walked by pages, written if unchanged.

https://cloud.google.com/firestore/docs/reference/rest
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ops.cloud import Cloud, OpsError

PAGE: Final = 300
"""Documents of one read or write."""
_CHANGED: Final = frozenset({5, 6, 9, 10})
"""Of `google.rpc.Code`: the document is gone, is there already, or was changed meanwhile."""
_FAILED: Final = "Firestore refused a write: {}"


@dataclass(frozen=True)
class Document:
    """A document as it was read: its path, its fields in the form of the API, its version."""

    path: str
    raw: Mapping[str, Any]
    version: str

    @property
    def fields(self) -> dict[str, Any]:
        """The fields as plain values; times are texts."""
        return {name: plain(value) for name, value in self.raw.items()}


@dataclass(frozen=True)
class Write:
    """A change of one document, made if the document is still in `version`.

    `raw` are new values of fields, in the form of the API; fields of `delete` go. Neither: the
    document goes. An empty version: the document must not be there yet.
    """

    path: str
    raw: Mapping[str, Any]
    version: str
    delete: Sequence[str] = ()


class Documents:
    """The documents of one project."""

    def __init__(self, cloud: Cloud) -> None:
        """Call nothing yet."""
        self._cloud = cloud
        self._root = f"projects/{cloud.project}/databases/(default)/documents"

    def get(self, path: str) -> Document | None:
        """One document; None where it is not there."""
        found = self._cloud.get("firestore", f"v1/{self._root}/{path}")
        return self._document(found) if found else None

    def walk(
        self, collection: str = "", *, below: str = "", select: Iterable[str] | None = None
    ) -> Iterator[Document]:
        """The documents of a collection, or all below a document at any depth, by their paths.

        With `select`, only these fields of each.
        """
        parent, _, name = collection.rpartition("/")
        start = {"collectionId": name} if collection else {"allDescendants": True}
        query: dict[str, Any] = {
            "from": [start],
            "orderBy": [{"field": {"fieldPath": "__name__"}}],
            "limit": PAGE,
        }
        if select is not None:
            query["select"] = {"fields": [{"fieldPath": field} for field in select]}
        path = "/".join(part for part in (f"v1/{self._root}", parent or below) if part)
        while True:
            answers = self._cloud.call(
                "POST", "firestore", f"{path}:runQuery", {"structuredQuery": query}
            )
            page = [answer["document"] for answer in answers if "document" in answer]
            yield from map(self._document, page)
            if len(page) < PAGE:
                return
            last = {"referenceValue": page[-1]["name"]}
            query["startAt"] = {"values": [last], "before": False}

    def write(self, writes: Sequence[Write]) -> int:
        """Make each write by itself; how many were, the others having been overtaken.

        Raises:
            OpsError: Firestore refuses a write for another reason.
        """
        made = 0
        for start in range(0, len(writes), PAGE):
            page = writes[start : start + PAGE]
            answer = self._cloud.patiently(
                lambda page=page: self._cloud.call(  # type: ignore[misc]
                    "POST",
                    "firestore",
                    f"v1/{self._root}:batchWrite",
                    {"writes": [self._written(write) for write in page]},
                )
            )
            codes = [status.get("code", 0) for status in answer["status"]]
            if others := {code for code in codes if code and code not in _CHANGED}:
                raise OpsError(_FAILED.format(sorted(others)))
            made += codes.count(0)
        return made

    def _written(self, write: Write) -> dict[str, Any]:
        name = f"{self._root}/{write.path}"
        current = {"updateTime": write.version} if write.version else {"exists": False}
        if not write.raw and not write.delete:
            return {"delete": name, "currentDocument": current}
        change: dict[str, Any] = {"update": {"name": name, "fields": dict(write.raw)}}
        if write.version:
            paths = [*(_quoted(field) for field in write.raw), *write.delete]
            change["updateMask"] = {"fieldPaths": paths}
        return change | {"currentDocument": current}

    def _document(self, found: Mapping[str, Any]) -> Document:
        path = found["name"].partition("/documents/")[2]
        return Document(path, found.get("fields", {}), found["updateTime"])


def plain(value: Mapping[str, Any]) -> Any:
    """A value of the API's form as JSON has it; bytes in base64."""
    [(kind, given)] = value.items()
    match kind:
        case "integerValue":
            return int(given)
        case "mapValue":
            return {name: plain(inner) for name, inner in given.get("fields", {}).items()}
        case "arrayValue":
            return [plain(inner) for inner in given.get("values", [])]
    return given


def raw(value: object) -> dict[str, Any]:
    """A plain value in the API's form."""
    match value:
        case None:
            return {"nullValue": None}
        case bool():
            return {"booleanValue": value}
        case str():
            return {"stringValue": value}
        case bytes():
            return {"bytesValue": base64.b64encode(value).decode()}
        case list():
            return {"arrayValue": {"values": [raw(inner) for inner in value]}}
        case dict():
            return {"mapValue": {"fields": {name: raw(inner) for name, inner in value.items()}}}
    raise TypeError(type(value))


def _quoted(field: str) -> str:
    return f"`{field}`"
