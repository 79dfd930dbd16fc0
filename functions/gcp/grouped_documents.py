"""Documents for many threads that each read and write one: see `group_commit`."""

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any, Final

from functions.documents.document import Document, Written
from functions.documents.documents import CALL_SECONDS
from functions.documents.refusals import ChangedMeanwhileError
from functions.documents.write import Update, Write
from functions.gcp.documents import FirestoreDocuments
from functions.gcp.group_commit import GroupCommit, Item, Result
from functions.once import once

_GROUP: Final = 100

_MIN_CALL_SECONDS: Final = 1.0


class GroupedDocuments(FirestoreDocuments):
    """Reads a document, and updates a document in its version, together with other threads.

    A call that fails in a group is made alone, in the time that is left: one write that Firestore
    refuses fails no other. All other calls are those of `FirestoreDocuments`.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        """See `FirestoreDocuments`."""
        super().__init__(*given, **named)
        self._reads = GroupCommit[str, Document | None](
            lambda paths, seconds: self.get_all(paths, seconds=seconds), _GROUP, CALL_SECONDS
        )
        self._updates = GroupCommit[Update, Written](
            lambda updates, seconds: self.write_each(updates, seconds=seconds), _GROUP, CALL_SECONDS
        )

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """See `Documents`."""
        alone = partial(super().get, path, fields)
        if fields or seconds != CALL_SECONDS:
            return alone(seconds=seconds)
        return _grouped(self._reads, path, alone)

    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """See `Documents`."""
        alone = partial(super().commit, *writes)
        match writes:
            case [Update(version=int()) as update] if seconds == CALL_SECONDS:
                return _grouped(lambda one: [self._updates(one)], update, alone)
        return alone(seconds=seconds)


def _grouped(group: Callable[[Item], Result], item: Item, alone: Callable[..., Result]) -> Result:
    ends = monotonic() + CALL_SECONDS
    try:
        return group(item)
    except ChangedMeanwhileError:
        raise
    except Exception:  # of this item, or of another one in its group
        left = ends - monotonic()
        if left < _MIN_CALL_SECONDS:
            raise
    return alone(seconds=left)


@once
def grouped_documents() -> GroupedDocuments:
    """The process's own, made on first use."""
    return GroupedDocuments.of_environment()
