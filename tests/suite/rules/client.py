"""A client of Firestore that the security rules apply to: REST, with an ID token or without.

It works in a project of its own inside the emulator, so that no write here fires a trigger.

https://firebase.google.com/docs/firestore/reference/rest
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self

import requests
from google.cloud.firestore import DELETE_FIELD
from google.cloud.firestore import Client as Firestore
from google.cloud.firestore_v1 import WriteBatch
from google.protobuf.json_format import MessageToDict

from emulator.accounts import Account

PROJECT: Final = "demo-wall-rules"
_DATABASE: Final = f"projects/{PROJECT}/databases/(default)"
_DB: Final = Firestore(project=PROJECT)
"""Makes writes; `Client` sends them."""
_SESSION: Final = requests.Session()
_SESSION.trust_env = False  # requests stay on the machine, also if a proxy is set

Fields = dict[str, Any]
Values = tuple[Iterable[Any], Iterable[Any]]
"""Values that the rules accept, and values that they refuse."""


def wrongly_judged(values: Values, is_accepted: Callable[[Any], bool]) -> list[Any]:
    """Return the values on which `is_accepted` disagrees with `values`."""
    accepted, refused = values
    return [value for value in accepted if not is_accepted(value)] + [
        value for value in refused if is_accepted(value)
    ]


def load_rules(rules: str) -> None:
    """Have the emulator apply `rules` to this project."""
    files = [{"name": "firestore.rules", "content": rules}]
    path = f"emulator/v1/projects/{PROJECT}:securityRules"
    _asked("PUT", path, {"rules": {"files": files}}, None).raise_for_status()


@dataclass(frozen=True, slots=True)
class Client:
    """Operations on documents.

    Each returns whether the rules allowed it, and fails on other errors.
    """

    token: str | None
    uid: str = "nobody"
    email: str = ""

    @classmethod
    def of(cls, person: Account) -> Self:
        """Return the client of a person who has signed in."""
        return cls(person.id_token, person.uid, person.email)

    def get(self, path: str) -> bool:
        """Read one document."""
        return self._is_allowed("GET", path, None)

    def list(
        self,
        collection: str,
        *,
        limit: int | None = 100,
        offset: int | None = None,
        counted: bool = False,
        **equal: str,
    ) -> bool:
        """Read or count the documents of a collection, or of a collection group `*/name`."""
        parent, _, name = collection.rpartition("/")
        everywhere = parent == "*"
        query: Fields = {"from": [{"collectionId": name, "allDescendants": everywhere}]}
        query |= {} if limit is None else {"limit": limit}
        query |= {} if offset is None else {"offset": offset}
        for field, value in equal.items():
            condition = {
                "field": {"fieldPath": field},
                "op": "EQUAL",
                "value": {"stringValue": value},
            }
            query["where"] = {"fieldFilter": condition}
        path = "" if everywhere else parent
        if not counted:
            return self._is_allowed("POST", f"{path}:runQuery", {"structuredQuery": query})
        count = {"structuredQuery": query, "aggregations": [{"count": {}}]}
        body = {"structuredAggregationQuery": count}
        return self._is_allowed("POST", f"{path}:runAggregationQuery", body)

    def create(self, path: str, fields: Fields) -> bool:
        """Write a document that does not exist."""
        return self._commit(lambda batch: batch.create(_DB.document(path), _present(fields)))

    def update(self, path: str, fields: Fields) -> bool:
        """Change `fields` of an existing document. A dot leads into a map."""
        return self._commit(lambda batch: batch.update(_DB.document(path), fields))

    def replace(self, path: str, fields: Fields) -> bool:
        """Write a document whole, whether it exists or not."""
        return self._commit(lambda batch: batch.set(_DB.document(path), _present(fields)))

    def delete(self, path: str) -> bool:
        """Delete a document."""
        return self._commit(lambda batch: batch.delete(_DB.document(path)))

    def replace_and_delete(self, path: str, fields: Fields, deleted: str) -> bool:
        """Write the document at `path` whole and delete another, in one commit."""

        def both(batch: WriteBatch) -> None:
            batch.set(_DB.document(path), fields)
            batch.delete(_DB.document(deleted))

        return self._commit(both)

    def ask(self, method: str, path: str, before: Fields, fields: Fields) -> bool:
        """Make a request by its name in the rules, to a document that was `before`.

        `list` reads the collection of the document; `create` and `update` write `fields`.
        """
        if method == "create":
            ADMINISTRATOR.delete(path)
        else:
            ADMINISTRATOR.replace(path, before)
        match method:
            case "create" | "update":
                return bool(getattr(self, method)(path, fields))
            case "list":
                return self.list(path.rpartition("/")[0])
            case _:
                return bool(getattr(self, method)(path))

    def _commit(self, fill: Callable[[WriteBatch], object]) -> bool:
        batch = _DB.batch()
        fill(batch)
        writes = [MessageToDict(write._pb) for write in batch._write_pbs]  # noqa: SLF001 - for REST
        return self._is_allowed("POST", ":commit", {"writes": writes})

    def _is_allowed(self, method: str, path: str, body: object) -> bool:
        separator = "" if path.startswith(":") else "/"
        answer = _asked(method, f"v1/{_DATABASE}/documents{separator}{path}", body, self.token)
        if answer.ok or (answer.status_code == HTTPStatus.NOT_FOUND and method == "GET"):
            return True
        assert answer.status_code == HTTPStatus.FORBIDDEN, answer.text
        assert "PERMISSION_DENIED" in answer.text
        return False


ADMINISTRATOR: Final = Client("owner")
"""The rules do not apply to it: it puts the documents of a test in place."""


def _present(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value is not DELETE_FIELD}


def _asked(method: str, path: str, body: Any, token: str | None) -> requests.Response:
    url = f"http://{os.environ['FIRESTORE_EMULATOR_HOST']}/{path}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return _SESSION.request(method, url, json=body, headers=headers, timeout=60)
