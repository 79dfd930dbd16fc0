"""Writes of Firestore documents as data; a path is such as `users/u1`.

Values are None, bool, int, float, str, bytes, aware datetimes, lists and mappings of values.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#write
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from functions.documents.document import Version

Fields: TypeAlias = (
    Mapping[str, Any] | Mapping[tuple[str, str], Any] | Mapping[str | tuple[str, str], Any]
)
"""Values by field, or by a map and a field inside the map."""


@dataclass(frozen=True, slots=True)
class Create:
    """Create a document that must not exist."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Put:
    """Replace a document, or create it."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merge:
    """Write some fields of a document, or create it; all other fields stay.

    Fields in `delete` are deleted. The numbers of `add` are added to fields, where a missing field
    counts as 0.
    """

    path: str
    fields: Fields = field(default_factory=dict)
    delete: Sequence[str] = field(default=(), kw_only=True)
    add: Mapping[str, int] = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True, slots=True)
class Update(Merge):
    """Do the same to a document that must exist, in `version` where that is given."""

    version: Version | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a document; where `version` is given, the document must exist in that version."""

    path: str
    version: Version | None = None


Write: TypeAlias = Create | Put | Merge | Delete


def write_as_read(
    path: str,
    fields: Mapping[str, Any],
    version: Version | None,
    *,
    delete: Sequence[str] = (),
) -> Create | Update:
    """The write to a document that must be as it was read: missing, where `version` is None."""
    if version is None:
        return Create(path, fields)
    return Update(path, fields, delete=delete, version=version)


def may_repeat(writes: Sequence[Write]) -> bool:
    """Whether a commit of `writes` may be made again without adding a number twice.

    A sum may not be added twice, unless a new document or a version makes the second commit fail.
    """
    adds = any(isinstance(write, Merge) and write.add for write in writes)
    return not adds or any(
        isinstance(write, Create)
        or (isinstance(write, Update | Delete) and write.version is not None)
        for write in writes
    )
