"""Webhooks of docs/openapi.yaml, generated from the event types and specification 6.1.

The summary of a webhook is the column "when" of that table. The schema of its `data` follows from
the payloads of a complete and of an empty sample: a field that is null in the empty one is
nullable.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from functions.wall.wall_event import PhotoStatus
from functions.webhooks.events import BY_DEFAULT, MILESTONES, EventType, sample
from tools.paths import ROOT
from tools.steps import read

_MEANINGS: Final = {
    "id": "ID of the photo.",
    "status": "Status of the photo when the write was processed.",
    "url": "URL of the picture.",
    "uploaderName": "Name as entered by the guest.",
    "uploaderEmail": "Email address as entered by the guest.",
    "createdAt": "Time of the upload.",
    "approvedAt": "Time of the approval. Under auto-approve, time of the upload.",
    "approvedBy": "Email address of the moderator. Null under auto-approve.",
    "rejectedAt": "Time of the rejection.",
    "rejectedBy": "Email address of the moderator.",
    "reason": "Reason as entered by the moderator.",
    "deletedAt": "Time of the deletion.",
    "eventName": "Name of the event.",
    "template": "Template of the event.",
    "publishedAt": "Time of publication.",
    "galleryUrl": "URL of the event's gallery.",
    "archivedAt": "Time of archiving.",
    "photoCount": "Number of the event's photos, with any status.",
    "milestone": "Number of photos.",
    "reachedAt": "Time at which the event reached the milestone.",
    "firstPhotoId": "ID of the guest's first photo.",
    "joinedAt": "Time of that photo's upload.",
}
"""Meaning of each field of `data`."""

_ENVELOPE: Final = {
    "eventId": {"type": "string", "description": "The event, as in Wall-Event-Id."},
    "deliveryId": {
        "type": "string",
        "description": "The delivery, as in Wall-Delivery-Id. The same in every attempt.",
    },
    "timestamp": {
        "$ref": "#/components/schemas/Time",
        "description": "Time at which the delivery was recorded.",
    },
}
_HEADERS: Final = (
    "Signature",
    "EventType",
    "EventId",
    "DeliveryId",
    "StandardId",
    "StandardTimestamp",
    "StandardSignature",
    "UserAgent",
    "Test",
)
_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
_ROW: Final = re.compile(r"^\| ([a-z]+\.[a-z]+) \| ([^|]+) \|", re.MULTILINE)


def quoted(event_types: Sequence[EventType]) -> str:
    """Return the names of event types as Markdown, such as "`a` and `b`"."""
    *others, last = [f"`{event_type}`" for event_type in event_types]
    return f"{', '.join(others)} and {last}" if others else last


def listed_only() -> list[EventType]:
    """Return the types that a URL gets only if its settings list them."""
    return [event_type for event_type in EventType if event_type not in BY_DEFAULT]


def webhooks() -> str:
    """Return the section `webhooks`."""
    when = dict(_ROW.findall(read(ROOT / "docs/specification.md")))
    return "".join(_webhook(event_type, when[event_type]) for event_type in EventType)


def _webhook(event_type: EventType, when: str) -> str:
    is_first = event_type is next(iter(EventType))
    rows = (json.dumps({"$ref": f"#/components/parameters/{name}"}) for name in _HEADERS)
    headers = "\n        - ".join(["&headers", *rows]) if is_first else "*headers"
    summary = " ".join(f"{when[0].upper()}{when[1:]}.".split())
    name = _name(event_type)
    return f"""\
  {event_type}:
    post:
      operationId: {name[0].lower()}{name[1:]}
      summary: {json.dumps(summary, ensure_ascii=False)}
      parameters: {headers}
      requestBody:
        required: true
        content:
          application/json:
            schema: {{ $ref: "#/components/schemas/{name}" }}
      responses: {_RESPONSES if is_first else "*acknowledgement"}
"""


_RESPONSES: Final = """&acknowledgement
        2XX: { $ref: "#/components/responses/Acknowledged" }
        default: { $ref: "#/components/responses/NotAcknowledged" }"""


def event_types() -> str:
    """Return the description and enumeration of event types."""
    return (
        f"      description: A URL without a list of types gets all except"
        f" {quoted(listed_only())}.\n"
        f"      enum: [{', '.join(EventType)}]\n"
    )


def schemas() -> str:
    """Return the schemas of all bodies: the union, and for each type its envelope and `data`."""
    references = {
        event_type: f"#/components/schemas/{_name(event_type)}" for event_type in EventType
    }
    union = {
        "description": (
            "Body of any webhook of this version. A receiver that gets every type must accept an"
            " unknown `event`."
        ),
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "event", "mapping": references},
    }
    named: dict[str, Any] = {"Delivery": union}
    for event_type in EventType:
        named |= dict(_schemas_of(event_type))
    return "".join(
        f"    {name}:\n"
        + "".join(
            f"      {key}: {json.dumps(value, ensure_ascii=False)}\n"
            if key != "properties"
            else "      properties:\n"
            + "".join(
                f"        {field}: {json.dumps(each, ensure_ascii=False)}\n"
                for field, each in value.items()
            )
            for key, value in schema.items()
        )
        for name, schema in named.items()
    )


def _schemas_of(event_type: EventType) -> Iterator[tuple[str, Mapping[str, Any]]]:
    name = _name(event_type)
    complete = sample(event_type, _NOW)
    empty = sample(event_type, _NOW, is_complete=False)
    fields: dict[str, Any] = {}
    for field, value in complete.items():
        if isinstance(value, Mapping):
            inner: Any = empty[field]
            nested = _nested_name(event_type, field)
            yield nested, _object({key: _field(key, value[key], inner[key]) for key in value})
            fields[field] = {"$ref": f"#/components/schemas/{nested}"}
        else:
            fields[field] = _field(field, value, empty[field])
    yield f"{name}Data", _object(fields)
    yield (
        name,
        _object(
            {
                "event": {"type": "string", "const": str(event_type)},
                **_ENVELOPE,
                "data": {"$ref": f"#/components/schemas/{name}Data"},
            }
        ),
    )


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _field(name: str, value: object, empty: object) -> Mapping[str, Any]:
    meaning = {"description": _MEANINGS[name]}
    if name.endswith("At"):
        return {"$ref": "#/components/schemas/Time", **meaning}
    if name == "milestone":
        return {"type": "integer", "enum": list(MILESTONES), **meaning}
    if name == "status" and value == PhotoStatus.PENDING:
        return {"type": "string", "enum": list(PhotoStatus), **meaning}
    if name == "status":
        return {"type": "string", "const": value, **meaning}
    if isinstance(value, int):
        return {"type": "integer", "minimum": 0, **meaning}
    return {"type": ["string", "null"] if empty is None else "string", **meaning}


def _name(event_type: EventType) -> str:
    return "".join(word.capitalize() for word in event_type.split("."))


def _nested_name(event_type: EventType, field: str) -> str:
    """Return the name of the schema of an object in `data`, such as `UploadedPhoto`."""
    subject, verb = event_type.split(".")
    return (
        f"{verb.capitalize()}{subject.capitalize()}"
        if field == subject
        else f"{field[0].upper()}{field[1:]}"
    )
