"""Guests in Firestore: who stands on approved photos, and what mails they want."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Documents
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.preferences import accounts
from functions.recap.photos import FIELDS, ApprovedPhoto
from functions.side_by_side import SideBySide

_RECORDS_A_READ: Final = 500
_ADDRESSES_A_QUERY: Final = 30  # the most that `in` takes
PAGES_AT_ONCE: Final = 8


class GuestStore:
    """Reads of photos and user records, in pages."""

    def __init__(
        self, client: firestore.Client, documents: Documents, side_by_side: SideBySide
    ) -> None:
        """`documents` reads photos, `client` user records, several pages of them `side_by_side`."""
        self._client = client
        self._documents = documents
        self._side_by_side = side_by_side

    def approved_photos(self, event_id: str) -> Iterator[ApprovedPhoto]:
        """Every approved photo of the event, one at a time."""
        photos = f"events/{event_id}/photos"
        for photo_id, one in self._documents.find(photos, "status", "approved", FIELDS):
            yield ApprovedPhoto.read(photo_id, one.fields, created=one.created)

    def records(self, uids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Those of `users/{uid}` that exist, with their ids."""

        def read(some: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            references = [self._client.document("users", uid) for uid in some]
            fields = ["emailPreferences", "unreachableUntil", accounts.FIELD, "email"]
            found = self._client.get_all(references, fields, retry=RETRY, timeout=CALL_SECONDS)
            return [(one.id, one.to_dict() or {}) for one in found if one.exists]

        return self._pages(read, uids, _RECORDS_A_READ)

    def records_with(self, emails: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every user record whose `email` is one of `emails`, letter by letter, with its id."""

        def read(some: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
            query = (
                self._client.collection("users")
                .where(filter=FieldFilter("email", "in", list(some)))
                .select(["email", "emailPreferences"])
            )
            found = query.get(retry=RETRY, timeout=CALL_SECONDS)
            return [(one.id, one.to_dict() or {}) for one in found]

        return self._pages(read, emails, _ADDRESSES_A_QUERY)

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
