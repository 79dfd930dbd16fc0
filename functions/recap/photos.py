"""Approved photos as the recap sees them, and the pictures of them that a mail shows."""

import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlsplit

from functions.wall.fields import text, time

SHOWN: Final = 24
"""Photos in one mail at most; of the highlight reel by decision (design 3)."""

FIELDS: Final = (
    "uploaderEmail",
    "uploaderName",
    "url",
    "thumbUrl",
    "featured",
    "createdAt",
    "approvedAt",
)
"""What is read of a photo, so that a long list of them costs little."""

_URL_CHARACTERS: Final = 2048  # what every mail client and browser takes
_NOT_IN_A_URL: Final = re.compile(r'[\x00- "<>\\^`{|}\x7f-\xa0]')


class Picture(NamedTuple):
    """A photo in a mail: what is shown, what it leads to, and who took it (may be empty)."""

    thumb: str
    url: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedPhoto:
    """What the recap needs of an approved photo. All times are aware."""

    id: str
    email: str
    name: str
    url: str | None
    thumb: str | None
    featured: bool
    created_at: datetime
    approved_at: datetime

    @classmethod
    def read(cls, photo_id: str, fields: Mapping[str, Any], *, created: datetime) -> Self:
        """Read the fields of a photo; one that is missing or of a wrong type counts as empty.

        `created` is when Firestore created the document, for photos that do not say themselves.
        """
        created_at = time(fields.get("createdAt")) or created
        return cls(
            id=photo_id,
            email=(text(fields.get("uploaderEmail")) or "").strip(),
            name=text(fields.get("uploaderName")) or "",
            url=web_address(fields.get("url")),
            thumb=web_address(fields.get("thumbUrl")),
            featured=fields.get("featured") is True,
            created_at=created_at,
            approved_at=time(fields.get("approvedAt")) or created_at,
        )

    def picture(self, by: str = "") -> Picture | None:
        """The picture of it; None where it has no web address to show."""
        shown, leads_to = self.thumb or self.url, self.url or self.thumb
        return Picture(shown, leads_to, by) if shown and leads_to else None


class Newest:
    """The newest photos of many, at most `SHOWN`, and the count of all."""

    __slots__ = ("_heap", "count")

    def __init__(self) -> None:
        self.count = 0
        self._heap: list[tuple[tuple[bool, datetime], str, Picture]] = []

    def add(self, photo: ApprovedPhoto, rank: tuple[bool, datetime], by: str = "") -> None:
        """Count `photo`, and keep it while fewer than `SHOWN` have a higher rank."""
        self.count += 1
        picture = photo.picture(by)
        if picture is None:
            return
        entry = (rank, photo.id, picture)
        if len(self._heap) < SHOWN:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def pictures(self) -> list[Picture]:
        """Those kept, highest rank first."""
        return [picture for _, _, picture in sorted(self._heap, reverse=True)]


def web_address(value: object) -> str | None:
    """`value` where it is an http or https address that can stand in a mail, else None."""
    if not isinstance(value, str) or not 0 < len(value) <= _URL_CHARACTERS:
        return None
    if _NOT_IN_A_URL.search(value):
        return None
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return None
    return value if valid else None
