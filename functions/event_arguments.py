"""The arguments of every organizer's call: the event and the tenant (spec 4.1, design 3.5)."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from functions.call_error import CallError, Code

_ID: Final = re.compile(r"(?!__.*__\Z)[A-Za-z0-9_-]{1,128}")
"""Firestore reserves names between double underscores, and refuses to look them up."""

_SHOWN_CHARACTERS: Final = 64
"""Of an unknown name in the message that refuses it."""


def is_id(value: object) -> bool:
    """Whether `value` can be the id of an event or a delivery."""
    return isinstance(value, str) and bool(_ID.fullmatch(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventArguments:
    """The event, and the tenant that a superadmin names."""

    event_id: str
    tenant_id: str | None = None

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of a request that has no other arguments.

        Raises:
            CallError: see `read_event`.
        """
        return cls(**read_event(data))


def read_event(data: Any, *others: str) -> Mapping[str, Any]:
    """`event_id` and `tenant_id` from the `data` of a request; null counts as missing.

    `others` are the further arguments that the call knows.

    Raises:
        CallError: `invalid-argument`, with a message that names the field and its rule.
    """
    if not isinstance(data, dict):
        raise CallError(Code.INVALID_ARGUMENT, "data must be an object with the field eventId.")
    refuse_unknown(data, "eventId", "tenantId", *others)
    event_id, tenant_id = data.get("eventId"), data.get("tenantId")
    if not is_id(event_id):
        raise CallError(
            Code.INVALID_ARGUMENT,
            "eventId must be 1 to 128 letters, digits, hyphens or underscores.",
        )
    if tenant_id is not None and (not isinstance(tenant_id, str) or not tenant_id):
        raise CallError(Code.INVALID_ARGUMENT, "tenantId must be the id of a tenant, or left out.")
    return {"event_id": event_id, "tenant_id": tenant_id}


def refuse_unknown(data: object, *known: str, within: str = "") -> None:
    """Refuse an argument whose name the call does not know; a misspelt one would be ignored.

    Args:
        data: The object with the arguments; anything else passes.
        known: The names that the call knows.
        within: The argument that holds the object, if it is not `data` itself.

    Raises:
        CallError: `invalid-argument`, with a message that names the argument and the nearest known
            one.
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
    raise CallError(Code.INVALID_ARGUMENT, f"Unknown argument {shown}{place}: {instead}.")


def flag_argument(name: str, given: object) -> bool:
    """The boolean argument `name`; false where it is missing.

    Raises:
        CallError: `invalid-argument`, where `given` is not a boolean.
    """
    if given is not None and not isinstance(given, bool):
        raise CallError(Code.INVALID_ARGUMENT, f"{name} must be true or false.")
    return bool(given)
