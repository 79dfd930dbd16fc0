"""The catalog of event types for people: a page made of docs/openapi.yaml.

    ./venv/bin/python -m tools.event_catalog [FOLDER]     # writes events.html and openapi.json

FOLDER is `public` where none is given. The pages' build runs it, and so does Hosting's deploy.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml
from jinja2 import Environment
from markupsafe import Markup, escape

from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.events import EventType, sample

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTION = ROOT / "docs" / "openapi.yaml"
VERIFIERS = ROOT / "docs" / "receiving.md"
PAGE = "events.html"
JSON_FILE = "openapi.json"

TEMPLATE = Path(__file__).with_name("event_catalog.html")

_MIDSUMMER: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def main() -> None:
    """Write both files."""
    folder = Path(*sys.argv[1:]) if sys.argv[1:] else ROOT / "public"
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


def description() -> dict[str, Any]:
    """docs/openapi.yaml, where each webhook has the body of a test delivery as its example."""
    document: dict[str, Any] = yaml.safe_load(DESCRIPTION.read_text(encoding="utf-8"))
    for name, item in document["webhooks"].items():
        delivery = Delivery.create(
            cause="example",
            event_id="midsummer",
            event_type=EventType(name),
            url="https://example.com/hook",
            endpoint="screen",
            data=sample(EventType(name), _MIDSUMMER),
            now=_MIDSUMMER,
        )
        body = item["post"]["requestBody"]["content"]["application/json"]
        body["example"] = json.loads(delivery.body)
    return document


def pages() -> dict[str, str]:
    """What the files hold, by their names."""
    document = description()
    environment = Environment(autoescape=True, trim_blocks=False)
    environment.filters["text"] = _text
    operations = {name: item["post"] for name, item in document["webhooks"].items()}
    first = next(iter(operations.values()))
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        version=document["info"]["version"],
        headers=[_resolved(document, parameter) for parameter in first["parameters"]],
        events=[_event(document, name, one) for name, one in operations.items()],
        waits=[_wait(step.delay.total_seconds()) for step in RETRY_SCHEDULE],
        verifier=_verifier(),
        policy=document["info"]["description"].strip().split("\n\n")[1:],
    )
    return {PAGE: page + "\n", JSON_FILE: json.dumps(document, indent=1) + "\n"}


def _wait(seconds: float) -> str:
    return f"{seconds:g} s" if seconds else "at once"


def _verifier() -> str:
    """The check in Python, as the page for receivers' developers has it."""
    text = VERIFIERS.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    verifier: str = next(block.strip() for block in blocks if "def verify(" in block)
    return verifier


def _event(document: dict[str, Any], name: str, operation: dict[str, Any]) -> dict[str, Any]:
    content = operation["requestBody"]["content"]["application/json"]
    return {
        "name": name,
        "summary": operation["summary"],
        "fields": list(_fields(document, content["schema"])),
        "example": json.dumps(content["example"], indent=2, ensure_ascii=False),
    }


def _fields(
    document: dict[str, Any], schema: Mapping[str, Any], before: str = ""
) -> Iterator[dict[str, str]]:
    """Every field with its path, those of an object behind it."""
    for name, raw in _resolved(document, schema)["properties"].items():
        one = _resolved(document, raw)
        path = f"{before}{name}"
        if "properties" in one:
            yield from _fields(document, one, f"{path}.")
        else:
            yield {"name": path, "type": _type(one), "description": one.get("description", "")}


def _type(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return ", ".join(json.dumps(value) for value in schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = " or ".join(kinds)
    return "time" if schema.get("format") == "date-time" else kind


def _resolved(document: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` without its reference; what stands beside a reference counts first."""
    reference = schema.get("$ref")
    if reference is None:
        return dict(schema)
    found: Any = document
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return {**found, **{name: value for name, value in schema.items() if name != "$ref"}}


def _text(text: str) -> Markup:
    """The two marks that the descriptions use: code and strong."""
    escaped = str(escape(" ".join(text.split())))
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", coded))  # noqa: S704 - escaped


if __name__ == "__main__":
    main()
