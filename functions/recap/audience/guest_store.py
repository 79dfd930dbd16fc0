"""Guests in Firestore: approved photos and user records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from functions.firestore.model import Documents, Query
from functions.parallel import InParallel
from functions.preferences import accounts
from functions.recap.audience.photos import FIELDS
from functions.wall.photo import Photo

_RECORDS_PER_READ: Final = 500
PAGES_AT_ONCE: Final = 8

_ADDRESSES_PER_QUERY: Final = 30
"""Firestore's limit for `in`."""


@dataclass(frozen=True, slots=True)
class GuestStore:
    """The approved photos and the user records of guests; pages are read `in_parallel`."""

    documents: Documents
    in_parallel: InParallel

    def approved_photos(self, event_id: str) -> Iterator[Photo]:
        """All approved photos of the event."""
        approved = Query(
            collection=f"events/{event_id}/photos",
            where=[("status", "==", "approved")],
            select=FIELDS,
        )
        for photo in self.documents.find_all(approved):
            yield Photo.read(photo.id, photo.fields, created=photo.created, updated=photo.written)

    def records(self, uids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The existing records `users/{uid}`, with their ids."""
        fields = ["emailPreferences", "unreachableUntil", accounts.FIELD, "email"]

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            found = self.documents.get_all([f"users/{uid}" for uid in page], fields=fields)
            return [(user.id, user.fields) for user in found if user]

        return self._pages(read, uids, _RECORDS_PER_READ)

    def records_with(self, emails: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """All user records whose `email` equals an entry of `emails` exactly, with their ids."""

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            users = Query(
                collection="users",
                where=[("email", "in", page)],
                select=["email", "emailPreferences"],
            )
            return [(user.id, user.fields) for user in self.documents.find(users)]

        return self._pages(read, emails, _ADDRESSES_PER_QUERY)

    def _pages(
        self,
        read: Callable[[Sequence[str]], list[tuple[str, Mapping[str, Any]]]],
        keys: Iterable[str],
        at_a_time: int,
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        everything = list(keys)
        pages = [everything[n : n + at_a_time] for n in range(0, len(everything), at_a_time)]
        for page in self.in_parallel(read, pages):
            yield from page
