"""Access to docs/openapi.yaml for tests: schemas, examples and the validation of bodies."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker

from tools import event_catalog

ROOT: Final = Path(__file__).parents[3]
FILE: Final = event_catalog.DESCRIPTION
DOCUMENT: Final = event_catalog.description()
JSON: Final = "application/json"

Schema = Mapping[str, Any]


def _closed(schema: Any) -> Any:
    """Return `schema` with objects that allow only the named fields."""
    if isinstance(schema, list):
        return [_closed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _closed(inner) for name, inner in schema.items()}
    return {"additionalProperties": False} | made if "properties" in schema else made


_OPEN: Final = DOCUMENT["components"]
_CLOSED: Final = _closed(copy.deepcopy(_OPEN))


def resolved(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `node`, or the node that it references."""
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Any = DOCUMENT
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return resolved(found)


def problems(schema: Schema, body: object, *, exactly: bool = False) -> list[str]:
    """Return the violations of `schema` in `body`. If `exactly`, an undocumented field is one.

    Readers must accept further fields. The bodies that the service sends are validated exactly, so
    that no field is undocumented.
    """
    components = _CLOSED if exactly else _OPEN
    root = (_closed(dict(schema)) if exactly else dict(schema)) | {"components": components}
    found = Draft202012Validator(root, format_checker=FormatChecker()).iter_errors(body)
    return [f"{record.json_path}: {record.message}" for record in found]


@dataclass(frozen=True, slots=True)
class Example:
    """An example of the file, with its place and its schema."""

    function: str
    status: str
    name: str
    value: Any
    schema: Schema


def callables() -> dict[str, Mapping[str, Any]]:
    """Return the operations of the callables by name: requests and responses are JSON."""
    return {
        path.removeprefix("/"): item["post"]
        for path, item in DOCUMENT["paths"].items()
        if JSON in item["post"]["requestBody"]["content"]
        and JSON in resolved(item["post"]["responses"]["200"])["content"]
    }


def request_schema(function: str) -> Schema:
    """Return the schema of a request body."""
    schema: Schema = callables()[function]["requestBody"]["content"][JSON]["schema"]
    return schema


def answer_schema(function: str, status: int) -> Schema:
    """Return the schema of a response body with this HTTP status, which must be documented."""
    response = resolved(callables()[function]["responses"][str(status)])
    schema: Schema = response["content"][JSON]["schema"]
    return schema


def delivery_schema(event: str) -> Schema:
    """Return the schema of a webhook's body."""
    content = DOCUMENT["webhooks"][event]["post"]["requestBody"]["content"]
    schema: Schema = content[JSON]["schema"]
    return schema


def answers() -> Iterator[Example]:
    """Yield the examples of responses."""
    for function, operation in callables().items():
        for status, response in operation["responses"].items():
            content = resolved(response)["content"][JSON]
            for name, value in _examples(content):
                yield Example(function, status, name, value, content["schema"])


def requests() -> Iterator[Example]:
    """Yield the examples of requests."""
    for function, operation in callables().items():
        content = operation["requestBody"]["content"][JSON]
        for name, value in _examples(content):
            yield Example(function, "", name, value, content["schema"])


def refusals() -> list[Example]:
    """Return the examples of errors. The name of each is its code."""
    return [answer for answer in answers() if answer.status != "200"]


def _examples(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "example" in content:
        yield "", content["example"]
    for name, example in content.get("examples", {}).items():
        yield name, example["value"]
