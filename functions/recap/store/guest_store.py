"""Guests in Firestore: approved photos and user records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.preferences import accounts
from functions.recap.photos import FIELDS, ApprovedPhoto
from functions.side_by_side import SideBySide

_RECORDS_PER_READ: Final = 500
PAGES_AT_ONCE: Final = 8

_ADDRESSES_PER_QUERY: Final = 30
"""Firestore's limit for `in`."""


class GuestStore:
    """See `ports.Guests`."""

    def __init__(self, documents: Documents, side_by_side: SideBySide) -> None:
        """Several pages of user records are read `side_by_side`."""
        self._documents = documents
        self._side_by_side = side_by_side

    def approved_photos(self, event_id: str) -> Iterator[ApprovedPhoto]:
        """See `ports.Guests`."""
        approved = Query(
            collection=f"events/{event_id}/photos",
            where=[("status", "==", "approved")],
            select=FIELDS,
        )
        for photo in self._documents.find_all(approved):
            yield ApprovedPhoto.read(photo.id, photo.fields, created=photo.created)

    def records(self, uids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """See `ports.Guests`."""
        fields = ["emailPreferences", "unreachableUntil", accounts.FIELD, "email"]

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            found = self._documents.get_all([f"users/{uid}" for uid in page], fields=fields)
            return [(user.id, user.fields) for user in found if user]

        return self._pages(read, uids, _RECORDS_PER_READ)

    def records_with(self, emails: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """See `ports.Guests`."""

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            users = Query(
                collection="users",
                where=[("email", "in", page)],
                select=["email", "emailPreferences"],
            )
            return [(user.id, user.fields) for user in self._documents.find(users)]

        return self._pages(read, emails, _ADDRESSES_PER_QUERY)

    def _pages(
        self,
        read: Callable[[Sequence[str]], list[tuple[str, Mapping[str, Any]]]],
        keys: Iterable[str],
        at_a_time: int,
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        everything = list(keys)
        pages = [everything[n : n + at_a_time] for n in range(0, len(everything), at_a_time)]
        for page in self._side_by_side(read, pages):
            yield from page
