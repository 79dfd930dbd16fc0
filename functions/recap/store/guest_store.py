"""Guests in Firestore: approved photos and user records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Documents
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.preferences import accounts
from functions.recap.photos import FIELDS, ApprovedPhoto
from functions.side_by_side import SideBySide

_RECORDS_PER_READ: Final = 500
PAGES_AT_ONCE: Final = 8

_ADDRESSES_PER_QUERY: Final = 30
"""Firestore's limit for `in`."""


class GuestStore:
    """See `ports.Guests`."""

    def __init__(
        self, client: firestore.Client, documents: Documents, side_by_side: SideBySide
    ) -> None:
        """`documents` reads photos; `client` reads user records, several pages `side_by_side`."""
        self._client = client
        self._documents = documents
        self._side_by_side = side_by_side
        self._names = documents.names

    def approved_photos(self, event_id: str) -> Iterator[ApprovedPhoto]:
        """See `ports.Guests`."""
        photos, names = self._names.photos_path(event_id), self._names.photo
        wanted = (names.of("status"), names.status("approved"))
        select = [names.of(field) for field in FIELDS]
        for photo_id, photo in self._documents.find(photos, *wanted, select):
            yield ApprovedPhoto.read(photo_id, names.read(photo.fields), created=photo.created)

    def records(self, uids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """See `ports.Guests`."""

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            references = [self._client.document("users", uid) for uid in page]
            fields = ["emailPreferences", "unreachableUntil", accounts.FIELD, "email"]
            found = self._client.get_all(references, fields, retry=RETRY, timeout=CALL_SECONDS)
            return [(user.id, user.to_dict() or {}) for user in found if user.exists]

        return self._pages(read, uids, _RECORDS_PER_READ)

    def records_with(self, emails: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """See `ports.Guests`."""

        def read(page: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            query = (
                self._client.collection("users")
                .where(filter=FieldFilter("email", "in", list(page)))
                .select(["email", "emailPreferences"])
            )
            found = query.get(retry=RETRY, timeout=CALL_SECONDS)
            return [(user.id, user.to_dict() or {}) for user in found]

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
