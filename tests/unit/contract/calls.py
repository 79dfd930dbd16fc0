"""Each callable: valid arguments, misspelled arguments, and the roles of its callers.

All follow from docs/openapi.yaml and from the table of specification 5.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from functions.call.caller import Role
from tests.unit.contract.promise import ROOT, callables, request_schema, resolved

_SPECIFICATION: Final = (ROOT / "docs/specification.md").read_text()
_AUTHENTICATION: Final = _SPECIFICATION.partition("\n## 5. ")[2].partition("\n### ")[0]
_ROLE: Final = re.compile(f"`({'|'.join(Role)})`")


@dataclass(frozen=True, slots=True)
class Call:
    """One callable.

    Attributes:
        valid: Arguments that the call accepts: the required arguments.
        misspelled: Unknown arguments, each with the argument that its error suggests. Empty if the
            call accepts any argument.
        roles: The roles that may call it (spec 5). Empty if the caller needs only a link.
    """

    valid: dict[str, Any]
    misspelled: dict[str, str]
    roles: frozenset[Role]


def _valid(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return null for each required argument that may be null, otherwise its example."""
    first = next(iter(schema.get("oneOf", [{}])))
    required = [*schema["required"], *first.get("required", [])]
    return {
        name: _value(
            resolved(schema["properties"][name]) | first.get("properties", {}).get(name, {})
        )
        for name in required
    }


def _value(schema: Mapping[str, Any]) -> Any:
    return None if "null" in schema["type"] else schema["examples"][0]


def _misspelled(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each argument in lowercase, in snake case, with a letter more and with one less."""
    for name in schema["properties"]:
        middle = len(name) // 2
        snake_case = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
        shorter = name[:middle] + name[middle + 1 :]
        for changed in {name.lower(), snake_case, f"{name}s", shorter} - {name}:
            yield changed, name


def _roles(function: str) -> frozenset[Role]:
    """Return the roles in the row of the function."""
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", _AUTHENTICATION, re.MULTILINE)
    [requirement] = [text for names, text in rows if function in names.split(", ")]
    return frozenset(map(Role, _ROLE.findall(requirement)))


def _call(function: str) -> Call:
    schema = resolved(request_schema(function)["properties"]["data"])
    is_closed = schema.get("additionalProperties") is False
    misspelled = dict(_misspelled(schema)) if is_closed else {}
    return Call(_valid(schema), misspelled, _roles(function))


CALLS: Final = {function: _call(function) for function in callables()}
