"""docs/openapi.yaml as the tests ask it: the promises, and whether a body keeps them."""

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
    """`schema` where no object may hold more than it names."""
    if isinstance(schema, list):
        return [_closed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _closed(inner) for name, inner in schema.items()}
    return {"additionalProperties": False} | made if "properties" in schema else made


_OPEN: Final = DOCUMENT["components"]
_CLOSED: Final = _closed(copy.deepcopy(_OPEN))


def resolved(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """`node`, or what it refers to."""
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Any = DOCUMENT
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return resolved(found)


def problems(schema: Schema, body: object, *, exactly: bool = False) -> list[str]:
    """What of `body` breaks `schema`; `exactly`: a field that is not named there does as well.

    To a reader the promise is open. What the service sends is held against it exactly, so that a
    field cannot come without being told.
    """
    components = _CLOSED if exactly else _OPEN
    root = (_closed(dict(schema)) if exactly else dict(schema)) | {"components": components}
    found = Draft202012Validator(root, format_checker=FormatChecker()).iter_errors(body)
    return [f"{record.json_path}: {record.message}" for record in found]


@dataclass(frozen=True, slots=True)
class Example:
    """An example of the file: where it stands, what it shows, and the schema it goes by."""

    function: str
    status: str
    name: str
    value: Any
    schema: Schema


def callables() -> dict[str, Mapping[str, Any]]:
    """Operations of the callables, by their names: what answers in JSON as well."""
    return {
        path.removeprefix("/"): item["post"]
        for path, item in DOCUMENT["paths"].items()
        if JSON in item["post"]["requestBody"]["content"]
        and JSON in resolved(item["post"]["responses"]["200"])["content"]
    }


def request_schema(function: str) -> Schema:
    """Of the body of a call."""
    schema: Schema = callables()[function]["requestBody"]["content"][JSON]["schema"]
    return schema


def answer_schema(function: str, status: int) -> Schema:
    """Of the body of an answer with this HTTP status; it has to be told."""
    response = resolved(callables()[function]["responses"][str(status)])
    schema: Schema = response["content"][JSON]["schema"]
    return schema


def delivery_schema(event: str) -> Schema:
    """Of the body of a webhook."""
    content = DOCUMENT["webhooks"][event]["post"]["requestBody"]["content"]
    schema: Schema = content[JSON]["schema"]
    return schema


def answers() -> Iterator[Example]:
    """Every example of an answer of a callable."""
    for function, operation in callables().items():
        for status, response in operation["responses"].items():
            content = resolved(response)["content"][JSON]
            for name, value in _examples(content):
                yield Example(function, status, name, value, content["schema"])


def requests() -> Iterator[Example]:
    """Every example of a call."""
    for function, operation in callables().items():
        content = operation["requestBody"]["content"][JSON]
        for name, value in _examples(content):
            yield Example(function, "", name, value, content["schema"])


def refusals() -> list[Example]:
    """Examples of errors: the name of each is its code."""
    return [answer for answer in answers() if answer.status != "200"]


def _examples(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "example" in content:
        yield "", content["example"]
    for name, example in content.get("examples", {}).items():
        yield name, example["value"]
