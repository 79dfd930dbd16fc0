"""Builds the catalog of event types, a page for developers, from docs/openapi.yaml.

    ./venv/bin/python -m tools.event_catalog [FOLDER]     # writes events.html and openapi.json

The default FOLDER is `public`. The build of the local pages and Hosting's deploy run this module.
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
from tools.paths import ROOT

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
    """Return docs/openapi.yaml with an example for each webhook: the body of a test delivery."""
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
    """Return the contents of the files by name."""
    document = description()
    environment = Environment(autoescape=True, trim_blocks=False)
    environment.filters["text"] = _text
    operations = {name: item["post"] for name, item in document["webhooks"].items()}
    first = next(iter(operations.values()))
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        version=document["info"]["version"],
        headers=[_resolve(document, parameter) for parameter in first["parameters"]],
        events=[_event(document, name, one) for name, one in operations.items()],
        waits=[_wait(step.delay.total_seconds()) for step in RETRY_SCHEDULE],
        verifier=_verifier(),
        policy=document["info"]["description"].strip().split("\n\n")[1:],
    )
    return {PAGE: page + "\n", JSON_FILE: json.dumps(document, indent=1) + "\n"}


def _wait(seconds: float) -> str:
    return f"{seconds:g} s" if seconds else "at once"


def _verifier() -> str:
    """Return the Python example of docs/receiving.md that verifies a signature."""
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
    """Yield every field with its path."""
    for name, raw in _resolve(document, schema)["properties"].items():
        field = _resolve(document, raw)
        path = f"{before}{name}"
        if "properties" in field:
            yield from _fields(document, field, f"{path}.")
        else:
            yield {"name": path, "type": _type(field), "description": field.get("description", "")}


def _type(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return ", ".join(json.dumps(value) for value in schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = " or ".join(kinds)
    return "time" if schema.get("format") == "date-time" else kind


def _resolve(document: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the `$ref` of `schema`. Its other fields override those of the target."""
    reference = schema.get("$ref")
    if reference is None:
        return dict(schema)
    target: Any = document
    for name in reference.removeprefix("#/").split("/"):
        target = target[name]
    return {**target, **{name: value for name, value in schema.items() if name != "$ref"}}


def _text(text: str) -> Markup:
    """Convert the Markdown of descriptions to HTML: code and strong."""
    escaped = str(escape(" ".join(text.split())))
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", coded))  # noqa: S704 - escaped


if __name__ == "__main__":
    main()
