"""Approved photos as the recap sees them, and the pictures of them that a mail shows."""

import heapq
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, Self
from urllib.parse import unquote, urlsplit

from functions.wall.fields import text, time

SHOWN: Final = 24
"""Photos in one mail at most; of the highlight reel by decision (design 3)."""

ORIGINALS: Final = 4
"""Photos in one mail at most of which there is no smaller picture: an original has some 4 MB."""

SMALL_PIXELS: Final = 1600
"""The longer side of a picture that a mail may show any number of."""

MAIL_BYTES: Final = 100_000
"""Of both parts of a mail together: Gmail cuts off what is longer than 102 KB."""

FIELDS: Final = (
    "uploaderEmail",
    "uploaderName",
    "uploaderUid",
    "url",
    "thumbUrl",
    "featured",
    "createdAt",
    "approvedAt",
)
"""What is read of a photo, so that a long list of them costs little."""

_URL_CHARACTERS: Final = 2048  # what every mail client and browser takes
# Printable ASCII: nothing that some program takes for the end of a line, or that turns it around.
_URL: Final = re.compile(r"""[!#-;=?-\[\]_a-z~]+""")


# What Firebase's extension Resize Images calls its files: `name_400x400.webp`.
# https://extensions.dev/extensions/firebase/storage-resize-images
_RESIZED: Final = re.compile(r"_([0-9]{1,5})x([0-9]{1,5})(\.[A-Za-z]{3,4})?")


class Picture(NamedTuple):
    """A photo in a mail: what is shown, what it leads to, and who took it (may be empty).

    `small` tells that what is shown is no original.
    """

    thumb: str
    url: str
    by: str = ""
    small: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedPhoto:
    """What the recap needs of an approved photo. All times are aware.

    `uploaded_at` is the server's time, whatever the document says; `uploader` may be empty.
    """

    id: str
    email: str
    name: str
    uploader: str
    uploaded_at: datetime
    url: str | None
    thumb: str | None
    featured: bool
    created_at: datetime
    approved_at: datetime

    @classmethod
    def read(cls, photo_id: str, fields: Mapping[str, Any], *, created: datetime) -> Self:
        """Read the fields of a photo; one that is missing or of a wrong type counts as empty.

        `created` is when Firestore created the document.
        """
        created_at = time(fields.get("createdAt")) or created
        return cls(
            id=photo_id,
            email=(text(fields.get("uploaderEmail")) or "").strip(),
            name=text(fields.get("uploaderName")) or "",
            uploader=text(fields.get("uploaderUid")) or "",
            uploaded_at=created,
            url=web_address(fields.get("url")),
            thumb=web_address(fields.get("thumbUrl")),
            featured=fields.get("featured") is True,
            created_at=created_at,
            approved_at=time(fields.get("approvedAt")) or created_at,
        )

    def picture(self, shows: Callable[[str], bool], by: str = "") -> Picture | None:
        """The picture of it; None where it has no web address that `shows` lets pass."""
        url, thumb = (one if one and shows(one) else None for one in (self.url, self.thumb))
        shown, leads_to = thumb or url, url or thumb
        if not (shown and leads_to):
            return None
        return Picture(shown, leads_to, by, small=thumb is not None or is_resized(shown))

    @property
    def has_address(self) -> bool:
        """Whether there is anything to show, wherever that is."""
        return bool(self.url or self.thumb)


class Newest:
    """The newest pictures of many, at most `SHOWN`.

    No more of them are kept than `room` bytes of a mail can show, so that long addresses take no
    more memory than short ones.
    """

    __slots__ = ("_bytes", "_heap", "_room")

    def __init__(self, room: int) -> None:
        self._room = room
        self._bytes = 0
        self._heap: list[tuple[tuple[bool, datetime], str, Picture]] = []

    def add(self, photo_id: str, rank: tuple[bool, datetime], picture: Picture) -> None:
        """Keep the picture while those of a higher rank leave room for it."""
        heapq.heappush(self._heap, (rank, photo_id, picture))
        self._bytes += _bytes(picture)
        while len(self._heap) > SHOWN or (len(self._heap) > 1 and self._bytes > self._room):
            self._bytes -= _bytes(heapq.heappop(self._heap)[2])

    def forget(self) -> None:
        """Keep none."""
        self._heap.clear()
        self._bytes = 0

    def pictures(self) -> list[Picture]:
        """The pictures kept, highest rank first, with `ORIGINALS` at most that are not small."""
        originals, shown = 0, []
        for _, _, picture in sorted(self._heap, reverse=True):
            originals += not picture.small
            if picture.small or originals <= ORIGINALS:
                shown.append(picture)
        return shown


def _bytes(picture: Picture) -> int:
    """Of a mail, at least: an address in the text, and two in the HTML."""
    return len(picture.thumb) + 2 * len(picture.url)


def is_resized(url: str) -> bool:
    """Whether the name in `url` says that the picture was made small."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    found = _RESIZED.search(name)
    return (
        found is not None
        and found.end() == len(name)
        and max(int(found[1]), int(found[2])) <= SMALL_PIXELS
    )


def web_address(value: object) -> str | None:
    """`value` where it is an http or https address that can stand in a mail, else None.

    None also where it has a user name: `https://bank.example@evil.example` is no bank's.
    """
    if not isinstance(value, str) or not 0 < len(value) <= _URL_CHARACTERS:
        return None
    if not _URL.fullmatch(value):
        return None
    try:
        parts = urlsplit(value)
        valid = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        return None
    return value if valid else None
