"""docs/calls.md: each call and its answer match docs/openapi.yaml."""

import json
import re
from typing import Any, Final

import pytest

from tests.unit.contract.promise import (
    ROOT,
    answer_schema,
    problems,
    request_schema,
    resolved,
)

PAGE: Final = (ROOT / "docs/calls.md").read_text()


def calls() -> list[tuple[str, str]]:
    """Return the commands of the page in order, each with its answer."""
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        if language:
            continue  # a program, not a shell command
        command: list[str] = []
        for line in block.splitlines():
            if line.startswith("# "):
                found.append(("\n".join(command), line.removeprefix("# ")))
                command = []
            else:
                command.append(line)
        if command:
            found.append(("\n".join(command), ""))
    return found


def called(command: str) -> tuple[str, Any]:
    """Return the function that a command calls, and its arguments."""
    [(function, plain, quoted)] = re.findall(
        r"\bcall (\w+) (?:'([^']*)'|\"((?:[^\"\\]|\\.)*)\")", command
    )
    return function, json.loads((plain or quoted.replace('\\"', '"')).replace("$", ""))


EXAMPLES: Final = [
    (*called(command), answer) for command, answer in calls() if re.search(r"\bcall \w", command)
]


@pytest.mark.parametrize(("function", "arguments", "answer"), EXAMPLES)
def test_a_call_and_its_answer_match_their_schemas(
    function: str, arguments: object, answer: str
) -> None:
    """The answer has all required fields of the result and no unknown one."""
    assert problems(request_schema(function), {"data": arguments}) == []
    if not answer:
        return
    schema = resolved(answer_schema(function, 200)["properties"]["result"])
    shapes = [resolved(shape) for shape in schema.get("oneOf", [schema])]
    fields = json.loads(answer)["result"].keys()
    assert any(set(shape["required"]) <= fields <= shape["properties"].keys() for shape in shapes)
