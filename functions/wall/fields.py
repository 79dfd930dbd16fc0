"""Fields of documents that clients write: each may be missing or of a wrong type.

What cannot be read becomes nothing and never an error: a trigger that fails on a document fails
for ever.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

_S = TypeVar("_S", bound=StrEnum)


def text(value: object) -> str | None:
    """`value` where it is a string."""
    return value if isinstance(value, str) else None


def time(value: object) -> datetime | None:
    """`value` in UTC where it is an aware time."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else None


def status(fields: Mapping[str, Any], otherwise: _S) -> _S:
    """The field `status`, or `otherwise` where it is none of that enumeration."""
    try:
        return type(otherwise)(str(fields.get("status")))
    except ValueError:
        return otherwise
