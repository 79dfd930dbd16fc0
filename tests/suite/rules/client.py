"""A client of Firestore that the security rules apply to: REST, with an ID token or without.

It works in a project of its own inside the emulator, so that no write here fires a trigger.

https://firebase.google.com/docs/firestore/reference/rest
"""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Self

from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

PROJECT: Final = "demo-wall-rules"
_DATABASE: Final = f"projects/{PROJECT}/databases/(default)"

Fields = Mapping[str, Any]


def load_rules(rules: str) -> None:
    """Have the emulator apply `rules` to this project."""
    _call(
        "PUT",
        f"emulator/v1/projects/{PROJECT}:securityRules",
        {"rules": {"files": [{"name": "firestore.rules", "content": rules}]}},
        None,
    )


@dataclass(frozen=True, slots=True)
class Client:
    """Operations on documents; each tells whether the rules allowed it, and fails otherwise."""

    token: str | None

    @classmethod
    def administrator(cls) -> Self:
        """A client that the rules do not apply to."""
        return cls("owner")

    def get(self, path: str) -> bool:
        """Read one document."""
        return _allowed("GET", f"v1/{_DATABASE}/documents/{path}", None, self.token)

    def list(
        self, collection: str, *, limit: int | None = 100, offset: int | None = None, **equal: str
    ) -> bool:
        """Read the documents of a collection, or of a collection group `*/name`, with `equal`."""
        parent, query = _query(collection, limit, offset, equal)
        body = {"structuredQuery": query}
        return _allowed("POST", f"v1/{_DATABASE}/{parent}:runQuery", body, self.token)

    def count(
        self, collection: str, *, limit: int | None = 100, offset: int | None = None, **equal: str
    ) -> bool:
        """Count what `list` would read."""
        parent, query = _query(collection, limit, offset, equal)
        aggregation = {"structuredQuery": query, "aggregations": [{"count": {}}]}
        body = {"structuredAggregationQuery": aggregation}
        return _allowed("POST", f"v1/{_DATABASE}/{parent}:runAggregationQuery", body, self.token)

    def create(self, path: str, fields: Fields) -> bool:
        """Write a document that does not exist."""
        return self._write(path, fields, exists=False)

    def update(self, path: str, fields: Fields) -> bool:
        """Change `fields` of a document that exists; a dot leads into a map."""
        return self._write(path, fields, exists=True)

    def replace(self, path: str, fields: Fields) -> bool:
        """Write a document whole, whether it exists or not."""
        return self._write(path, fields, exists=None)

    def delete(self, path: str) -> bool:
        """Delete a document."""
        return self._commit(_deletion(path))

    def replace_and_delete(self, path: str, fields: Fields, deleted: str) -> bool:
        """Write the document at `path` whole and delete another, in one commit."""
        return self._commit(_write(path, fields, exists=None), _deletion(deleted))

    def _write(self, path: str, fields: Fields, *, exists: bool | None) -> bool:
        return self._commit(_write(path, fields, exists=exists))

    def _commit(self, *writes: dict[str, Any]) -> bool:
        body = {"writes": writes}
        return _allowed("POST", f"v1/{_DATABASE}/documents:commit", body, self.token)


def _query(
    collection: str, limit: int | None, offset: int | None, equal: Mapping[str, str]
) -> tuple[str, dict[str, Any]]:
    """Parent document of `collection`, and the query."""
    parent, _, name = collection.rpartition("/")
    everywhere = parent == "*"
    query: dict[str, Any] = {"from": [{"collectionId": name, "allDescendants": everywhere}]}
    if limit is not None:
        query["limit"] = limit
    if offset is not None:
        query["offset"] = offset
    for field, value in equal.items():
        query["where"] = {
            "fieldFilter": {
                "field": {"fieldPath": field},
                "op": "EQUAL",
                "value": _value(value),
            }
        }
    return "documents" if everywhere or not parent else f"documents/{parent}", query


def _deletion(path: str) -> dict[str, Any]:
    return {"delete": f"{_DATABASE}/documents/{path}"}


def _write(path: str, fields: Fields, *, exists: bool | None) -> dict[str, Any]:
    plain = {
        name: value
        for name, value in fields.items()
        if value not in (SERVER_TIMESTAMP, DELETE_FIELD)
    }
    write: dict[str, Any] = {
        "update": {"name": f"{_DATABASE}/documents/{path}", "fields": _nested(plain)},
        "updateTransforms": [
            {"fieldPath": name, "setToServerValue": "REQUEST_TIME"}
            for name, value in fields.items()
            if value is SERVER_TIMESTAMP
        ],
    }
    if exists is not None:
        write["currentDocument"] = {"exists": exists}
    if exists:
        write["updateMask"] = {
            "fieldPaths": [name for name, value in fields.items() if value != SERVER_TIMESTAMP]
        }
    return write


def _nested(fields: Fields) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    for name, value in fields.items():
        *around, last = name.split(".")
        inner = encoded
        for post in around:
            inner = inner.setdefault(post, {"mapValue": {"fields": {}}})["mapValue"]["fields"]
        inner[last] = _value(value)
    return encoded


def _value(value: object) -> dict[str, Any]:  # noqa: PLR0911 - a table
    match value:
        case None:
            return {"nullValue": None}
        case bool():
            return {"booleanValue": value}
        case int():
            return {"integerValue": str(value)}
        case str():
            return {"stringValue": value}
        case datetime():
            return {"timestampValue": value.isoformat()}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case dict():
            fields = {name: _value(item) for name, item in value.items()}
            return {"mapValue": {"fields": fields}}
    raise TypeError(type(value))


def _allowed(method: str, path: str, body: object, token: str | None) -> bool:
    try:
        _call(method, path, body, token)
    except urllib.error.HTTPError as refused:
        with refused:
            answer = refused.read()
        if refused.code == HTTPStatus.NOT_FOUND and method == "GET":
            return True
        if refused.code == HTTPStatus.FORBIDDEN and b"PERMISSION_DENIED" in answer:
            return False
        raise AssertionError(f"{method} {path}: {refused.code} {answer!r}") from refused
    return True


def _call(method: str, path: str, body: object, token: str | None) -> None:
    request = urllib.request.Request(
        f"http://{os.environ['FIRESTORE_EMULATOR_HOST']}/{path}",
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json"}
        | ({"Authorization": f"Bearer {token}"} if token else {}),
        method=method,
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - loopback
        answer.read()
