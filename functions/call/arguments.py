"""Parsers of the arguments of a call.

An argument that is null counts as missing. A value that breaks its rule raises `CallError` with
`invalid-argument` and a message that names the argument and the rule (spec 4.1, design 3.5).
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard, TypeVar

from functions.call.errors import refuse

C = TypeVar("C")
D = TypeVar("D")

_RESERVED: Final = re.compile(r"\.\.?|__.*__", re.DOTALL)
"""Document IDs that Firestore rejects."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")

_MAX_ID_BYTES: Final = 1500

_TIME_CHARACTERS: Final = 40

_SHOWN_CHARACTERS: Final = 64
"""Maximum characters of an unknown name in an error message."""


def is_document_id(value: object) -> TypeGuard[str]:
    """Return whether `value` is a valid document ID, for example of an event.

    https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields
    """
    if not isinstance(value, str) or "/" in value or _RESERVED.fullmatch(value):
        return False
    try:
        return 0 < len(value.encode()) <= _MAX_ID_BYTES
    except UnicodeError:
        return False


def is_id(value: object) -> TypeGuard[str]:
    """Return whether `value` can be an ID that the service has created, such as a delivery's."""
    return is_document_id(value) and bool(_PLAIN.fullmatch(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventArguments:
    """Event ID of a call, and the tenant ID that a superadmin passes."""

    event_id: str
    tenant_id: str | None = None


def read_event(data: Any, *others: str) -> Mapping[str, Any]:
    """Parse `event_id` and `tenant_id` from the `data` of a request.

    `others` are the names of the call's other arguments.
    """
    if not isinstance(data, dict):
        refuse("data must be an object with the field eventId.")
    refuse_unknown(data, "eventId", "tenantId", *others)
    event_id, tenant_id = data.get("eventId"), data.get("tenantId")
    if not is_document_id(event_id):
        refuse("eventId must be an event ID: a string of 1 to 1500 bytes without a slash.")
    if tenant_id is not None and (not isinstance(tenant_id, str) or not tenant_id):
        refuse("tenantId must be a tenant ID or omitted.")
    return {"event_id": event_id, "tenant_id": tenant_id}


def refuse_unknown(data: object, *known: str, within: str = "") -> None:
    """Reject an argument with an unknown name, so that a misspelled argument is not ignored.

    Args:
        data: The object with the arguments. Other values pass.
        known: The names of the call's arguments.
        within: The argument that contains the object, if it is not `data` itself.
    """
    if not isinstance(data, Mapping):
        return
    unknown = next((name for name in data if name not in known), None)
    if unknown is None:
        return
    place = f" in {within}" if within else ""
    shown = unknown[:_SHOWN_CHARACTERS]
    by_folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(shown.casefold().replace("_", ""), by_folded, n=1)
    instead = (
        f"Did you mean {by_folded[near[0]]}?" if near else f"Allowed arguments: {', '.join(known)}."
    )
    refuse(f'Unknown argument "{shown}"{place}. {instead}')


def flag_argument(name: str, value: object) -> bool:
    """Return the boolean argument `name`, or False if it is missing."""
    if value is not None and not isinstance(value, bool):
        refuse(f"{name} must be true or false.")
    return bool(value)


def number_argument(name: str, value: object, at_least: int, at_most: int, default: int) -> int:
    """Return the integer argument `name`, or `default` if it is missing."""
    number = default if value is None else value
    if type(number) is not int or not at_least <= number <= at_most:  # a bool is an int
        refuse(f"{name} must be a whole number from {at_least} to {at_most}.")
    return number


def choice_argument(name: str, value: object, choices: Iterable[C], default: D) -> C | D:
    """Return the argument `name`, one of `choices`, or `default` if it is missing."""
    if value is None:
        return default
    chosen = [choice for choice in choices if choice == value]
    if not chosen:
        refuse(f"{name} must be one of {', '.join(map(str, choices))}.")
    return chosen[0]


def time_argument(value: object) -> datetime | None:
    """Return the ISO 8601 time `value` in UTC, or None if it is not a time with a time zone."""
    if not isinstance(value, str) or len(value) > _TIME_CHARACTERS:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def id_argument(name: str, value: object, whose: str) -> str:
    """Return the ID in the required argument `name`."""
    if not is_id(value):
        refuse(f"{name} must be the ID of {whose}.")
    return value
