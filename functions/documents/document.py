"""A document as it was read, and what a write answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

Version: TypeAlias = int
"""Nanoseconds since 1970 of the last write; a write on this condition fails after any other."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read.

    Attributes:
        path: Such as `users/u1`.
        fields: Values by name, of the types that `write` names.
        version: Of its last write.
        created: The time of its creation.
    """

    path: str
    fields: Mapping[str, Any]
    version: Version
    created: datetime

    @property
    def id(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def written(self) -> datetime:
        """The time of the last write, in microseconds."""
        return _EPOCH + timedelta(microseconds=self.version // 1000)


class Written(NamedTuple):
    """The result of a write: the new version, and the new sums of `add`."""

    version: Version
    sums: Sequence[int]
