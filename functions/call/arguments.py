"""Parsers of the arguments of a call.

An argument that is null counts as missing. A value that breaks its rule raises `CallError` with
`invalid-argument` and a message that names the argument and the rule (spec 4.1, design 3.5).
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from functions.call.errors import refuse

C = TypeVar("C")
D = TypeVar("D")

_RESERVED: Final = re.compile(r"\.\.?|__.*__", re.DOTALL)
"""Names that Firestore refuses to look up."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")

_MAX_ID_BYTES: Final = 1500

_TIME_CHARACTERS: Final = 40

_SHOWN_CHARACTERS: Final = 64
"""Characters of an unknown name that the refusal shows."""


def is_document_id(value: object) -> bool:
    """Whether `value` can be the id of a document, and so of an event.

    https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields
    """
    if not isinstance(value, str) or "/" in value or _RESERVED.fullmatch(value):
        return False
    try:
        return 0 < len(value.encode()) <= _MAX_ID_BYTES
    except UnicodeError:
        return False


def is_id(value: object) -> bool:
    """Whether `value` can be an id that the service makes, such as that of a delivery."""
    return isinstance(value, str) and bool(_PLAIN.fullmatch(value)) and is_document_id(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventArguments:
    """The event, and the tenant that a superadmin names."""

    event_id: str
    tenant_id: str | None = None


def read_event(data: Any, *others: str) -> Mapping[str, Any]:
    """`event_id` and `tenant_id` from the `data` of a request.

    `others` are the further arguments that the call knows.
    """
    if not isinstance(data, dict):
        refuse("data must be an object with the field eventId.")
    refuse_unknown(data, "eventId", "tenantId", *others)
    event_id, tenant_id = data.get("eventId"), data.get("tenantId")
    if not is_document_id(event_id):
        refuse("eventId must be the id of an event: a text of 1 to 1500 bytes without a slash.")
    if tenant_id is not None and (not isinstance(tenant_id, str) or not tenant_id):
        refuse("tenantId must be the id of a tenant, or left out.")
    return {"event_id": event_id, "tenant_id": tenant_id}


def refuse_unknown(data: object, *known: str, within: str = "") -> None:
    """Refuse an argument whose name the call does not know; a misspelt one would be ignored.

    Args:
        data: The object with the arguments; anything else passes.
        known: The names that the call knows.
        within: The argument that holds the object, if it is not `data` itself.
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
    instead = f"write {by_folded[near[0]]}" if near else f"this call knows {', '.join(known)}"
    refuse(f"Unknown argument {shown}{place}: {instead}.")


def flag_argument(name: str, given: object) -> bool:
    """The boolean argument `name`; false where it is missing."""
    if given is not None and not isinstance(given, bool):
        refuse(f"{name} must be true or false.")
    return bool(given)


def number_argument(name: str, given: object, at_least: int, at_most: int, default: int) -> int:
    """The whole number in the argument `name`; `default` where it is missing."""
    number = default if given is None else given
    if type(number) is not int or not at_least <= number <= at_most:  # a bool is an int
        refuse(f"{name} must be a whole number from {at_least} to {at_most}.")
    return number


def choice_argument(name: str, given: object, choices: Iterable[C], default: D) -> C | D:
    """The choice in the argument `name`; `default` where it is missing."""
    if given is None:
        return default
    chosen = [choice for choice in choices if choice == given]
    if not chosen:
        refuse(f"{name} must be one of {', '.join(map(str, choices))}.")
    return chosen[0]


def time_argument(given: object) -> datetime | None:
    """A time in ISO 8601 with its zone, in UTC; None where `given` is no such time."""
    if not isinstance(given, str) or len(given) > _TIME_CHARACTERS:
        return None
    try:
        moment = datetime.fromisoformat(given)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def id_argument(name: str, given: object, whose: str) -> str:
    """The id in the argument `name`, which may not be missing."""
    if not isinstance(given, str) or not is_id(given):
        refuse(f"{name} must be the id of {whose}.")
    return given
