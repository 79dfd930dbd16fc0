"""Queries of Firestore as data.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#structuredquery
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeAlias

NAME: Final = "__name__"
"""The field with the path of a document."""

TEXT_BYTES: Final = 1499
"""Firestore refuses a query by a longer text."""

Condition: TypeAlias = tuple[str, str, Any]
"""A field, an operator and a value, such as `("status", "==", "approved")`.

The operators are `==`, `<`, `<=`, `>`, `>=`, and `in` for 30 values at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The documents of a collection that meet every condition.

    Attributes:
        collection: Path of the collection, such as `events/e1/photos`.
        group: Whether `collection` is only the id of collections anywhere; or, where it ends in a
            slash as in `events/e1/`, stands for every collection under a document.
        where: The conditions.
        order: Fields, `-` before a descending one; equal documents follow by path, in the direction
            of the last field. A field that is compared by `<` or `>` must stand first.
        select: Fields to read beside those of `order`; empty: all.
        limit: Most documents to read; None: no limit.
        after: Values of `order` and a path: only documents behind that place.
    """

    collection: str
    group: bool = False
    where: Sequence[Condition] = ()
    order: Sequence[str] = ()
    select: Sequence[str] = ()
    limit: int | None = None
    after: Sequence[Any] = ()

    def behind(self, path: str, fields: Mapping[str, Any], read: int = 0) -> Self:
        """The rest of the query behind that document, with which `read` documents were read."""
        values = [fields[name.removeprefix("-")] for name in self.order]
        limit = None if self.limit is None else self.limit - read
        return replace(self, after=(*values, path), limit=limit)
