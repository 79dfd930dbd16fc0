"""The one seam to Firestore: `functions.gcp.documents` implements it, the tests fake it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from functions.documents.document import Document, Written
from functions.documents.query import Query
from functions.documents.write import Write

CALL_SECONDS: Final = 25.0
"""Limit of one call with its retries: longer than an outage of some seconds, and short enough to
leave time for further calls."""

TRANSACTIONS: Final = 5
"""Tries of one transaction, as many as Google's libraries make."""

_PAGE: Final = 3000
"""Documents of one query: some megabytes."""


class Documents(ABC):
    """Documents by path, such as `users/u1`; one instance serves all threads.

    Each abstract method but `transact` is one call. A call is retried for at most `seconds` where a
    repetition is safe. After that it raises an exception of the adapter's own.
    """

    @abstractmethod
    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """The document, or only `fields` of it; None where it does not exist."""

    @abstractmethod
    def get_all(
        self, paths: Sequence[str], fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Sequence[Document | None]:
        """The documents in the order of `paths`, None for each that does not exist."""

    @abstractmethod
    def stream(self, query: Query) -> Iterator[Document]:
        """The documents of a query as they come; a caller that stops early reads no more of them.

        A stream that breaks goes on behind the last document.
        """

    @abstractmethod
    def count(self, query: Query) -> int:
        """The number of documents of a query; a thousand cost as much as the read of a document."""

    @abstractmethod
    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """Make all writes, or none.

        A commit that could add a number twice is repeated only where the connection was lost.

        Raises:
            AlreadyRecordedError: a document of a `Create` exists.
            ChangedMeanwhileError: a document is missing, or has another version.
            Exception: the call failed; the writes may have been made all the same.
        """

    @abstractmethod
    def write_each(
        self, writes: Sequence[Write], *, seconds: float = CALL_SECONDS
    ) -> Sequence[Written | Exception]:
        """Make each of 500 writes at most by itself; the result of each, or its error.

        A second write of one document is not made.

        Raises:
            Exception: the call failed; some writes may have been made all the same.
        """

    @abstractmethod
    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """Read the document at `path` and make the writes that `decide` returns, in a transaction.

        The whole is done again where the document was written meanwhile, perhaps by a commit of
        this very transaction whose answer was lost.

        Raises:
            ChangedMeanwhileError: others kept writing the document.
            Exception: the error of `decide`, and nothing was written; or a call failed, and the
                writes may have been made all the same.
        """

    def find(self, query: Query) -> Sequence[Document]:
        """The documents of a query."""
        return list(self.stream(query))

    def find_all(self, query: Query) -> Iterator[Document]:
        """The documents of a query, in one call for every `query.limit` documents."""
        size = query.limit or _PAGE
        page = replace(query, limit=size)
        while True:
            found = self.find(page)
            yield from found
            if len(found) < size:
                return
            page = page.behind(found[-1].path, found[-1].fields)
