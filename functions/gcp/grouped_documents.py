"""Documents for many threads that each read and write one: see `group_commit`."""

from collections.abc import Sequence
from typing import Final

from functions.documents.document import Document, Written
from functions.documents.documents import CALL_SECONDS
from functions.documents.write import Update, Write
from functions.gcp.documents import RETRY, FirestoreDocuments
from functions.gcp.firestore_api import FirestoreApi, of_this_process
from functions.gcp.group_commit import GroupCommit
from functions.once import once

_GROUP: Final = 100


class GroupedDocuments(FirestoreDocuments):
    """Reads a document, and updates a document in its version, together with other threads.

    All other calls are those of `FirestoreDocuments`.
    """

    def __init__(self, api: FirestoreApi, project: str) -> None:
        """See `FirestoreDocuments`."""
        super().__init__(api, project)
        self._reads = GroupCommit[str, Document | None](
            lambda paths, seconds: self.get_all(paths, seconds=seconds), _GROUP, CALL_SECONDS
        )
        updates = GroupCommit[Update, Written](
            lambda updates, seconds: self.write_each(updates, seconds=seconds), _GROUP, CALL_SECONDS
        )
        self._update = RETRY(updates)

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """See `Documents`."""
        if fields or seconds != CALL_SECONDS:
            return super().get(path, fields, seconds=seconds)
        return self._reads(path)

    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """See `Documents`."""
        match writes:
            case [Update(version=int()) as update] if seconds == CALL_SECONDS:
                return [self._update(update)]
        return super().commit(*writes, seconds=seconds)


@once
def grouped_documents() -> GroupedDocuments:
    """The process's own, made on first use."""
    return GroupedDocuments(*of_this_process())
