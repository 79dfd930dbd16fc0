"""Approved photos, their pictures in an email, and the allowed hosts of pictures.

A guest can write any address into a photo. The server of a picture learns who looks at it and when,
and may serve a different picture than the approved one. So the project has to trust the host
(parameter `PHOTO_HOSTS`).
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, Self
from urllib.parse import quote, unquote, urlsplit

from functions.wall.wall_event import Photo

MAX_REEL: Final = 24
"""Photos of the highlight reel (design 3.50)."""

SMALL_PIXELS: Final = 1600
"""Longer side of a picture that counts as small. An email may show any number of them."""

MAIL_BYTES: Final = 100_000
"""Size of both parts of an email together. Gmail clips an email after 102 KB."""

FIELDS: Final = (
    "status",
    "uploaderEmail",
    "uploaderName",
    "uploaderUid",
    "url",
    "thumbUrl",
    "featured",
    "createdAt",
    "approvedAt",
)
"""The fields of a photo that are read. A long list of photos costs less without the others."""

_URL_CHARACTERS: Final = 2048
"""Every email client and browser accepts a URL of this length."""

_ENCODED: Final = re.compile(r"[^!#-;=?-\[\]_a-z~]")
"""All characters except printable ASCII, and the ASCII characters that a URL cannot contain."""

_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
"""The host and port of a link, as in the rules."""

_RESIZED: Final = re.compile(r"_([0-9]{1,5})x([0-9]{1,5})(\.[A-Za-z]{3,4})?\Z")
"""The end of a name such as `name_400x400.webp`, which the extension Resize Images creates:
https://extensions.dev/extensions/firebase/storage-resize-images"""


class Picture(NamedTuple):
    """A photo in an email: the shown picture, which is `small` or the original, and its link.

    If `is_shown` is false, there is only the link, because email programs don't show the format.
    """

    thumb: str
    url: str
    small: bool = True
    is_shown: bool = True


class Problem(StrEnum):
    """The reason that an email has no picture of an approved photo."""

    HOST = "host"
    NO_LINK = "no link"
    TOO_LONG = "too long"
    FORMAT = "format"


_NOT_SHOWN: Final = re.compile(r"\.(heic|heif|mov|mp4|m4v|avi|webm|tiff?|dng|pdf)\Z", re.IGNORECASE)
"""The end of a file name with a format that email programs don't show."""


def picture_of(photo: Photo, hosts: "PhotoHosts") -> Picture | None:
    """Return the photo's picture, or None if `hosts` allow no address of the photo."""
    url, thumb = (link if link and hosts.allow(link) else None for link in _addresses(photo))
    leads_to = url or thumb
    if leads_to is None:
        return None
    shown = next((link for link in (thumb, url) if link and not _in_path(_NOT_SHOWN, link)), None)
    if shown is None:
        return Picture(leads_to, leads_to, is_shown=False)
    return Picture(shown, leads_to, small=shown == thumb or is_resized(shown))


def problem_of(photo: Photo, picture: Picture | None) -> Problem | None:
    """Return the reason that an email shows no picture of the photo, or None."""
    if picture:
        return None if picture.is_shown else Problem.FORMAT
    if hosts_of(photo):
        return Problem.HOST
    is_too_long = len(photo.url or "") > _URL_CHARACTERS
    return Problem.TOO_LONG if is_too_long else Problem.NO_LINK


def _in_path(pattern: re.Pattern[str], url: str) -> re.Match[str] | None:
    return pattern.search(unquote(urlsplit(url).path))


def hosts_of(photo: Photo) -> list[str]:
    """Return the hosts of the photo's picture and of its small picture."""
    return [host_of(link) for link in _addresses(photo) if link]


def host_of(url: str) -> str:
    """Return the host of a web address, with the port unless it is 443."""
    return urlsplit(url).netloc.lower().removesuffix(":443")


def _addresses(photo: Photo) -> tuple[str | None, str | None]:
    return web_address(photo.url), web_address(photo.thumb_url)


class PictureHeap:
    """The newest of many pictures: at most `at_most`, and at most `max_bytes` of an email.

    With the limit in bytes, long addresses need no more memory than short addresses.
    """

    __slots__ = ("_at_most", "_bytes", "_heap", "_max_bytes")

    def __init__(self, max_bytes: int = MAIL_BYTES, at_most: int = MAIL_BYTES) -> None:
        self._max_bytes = max_bytes
        self._at_most = at_most
        self._bytes = 0
        self._heap: list[tuple[tuple[bool, datetime], str, Picture]] = []

    def add(self, photo_id: str, rank: tuple[bool, datetime], picture: Picture) -> None:
        """Keep the picture while it fits beside pictures of a higher rank."""
        heapq.heappush(self._heap, (rank, photo_id, picture))
        self._bytes += _bytes(picture)
        self.limit(self._max_bytes, self._at_most)

    def limit(self, max_bytes: int, at_most: int) -> None:
        """Replace the limits, and drop the pictures beyond them."""
        self._max_bytes, self._at_most = max_bytes, at_most
        while len(self._heap) > at_most or (len(self._heap) > 1 and self._bytes > max_bytes):
            self._bytes -= _bytes(heapq.heappop(self._heap)[2])

    @property
    def memory(self) -> int:
        """Approximate memory of the pictures, in bytes."""
        return self._bytes + _OBJECTS_BYTES * len(self._heap)

    def pictures(self) -> list[Picture]:
        """Return the pictures, highest rank first."""
        return [picture for _, _, picture in sorted(self._heap, reverse=True)]


_OBJECTS_BYTES: Final = 400
"""Bytes of memory that a kept picture needs in addition to its addresses."""


def _bytes(picture: Picture) -> int:
    """Return the approximate size of the picture in an email."""
    return len(picture.url) + max(len(picture.thumb), len(picture.url))


def is_resized(url: str) -> bool:
    """Return whether the file name in `url` belongs to a small picture."""
    found = _in_path(_RESIZED, url)
    return found is not None and max(int(found[1]), int(found[2])) <= SMALL_PIXELS


def web_address(value: object) -> str | None:
    """Return the http or https address `value` as a browser would request it, or None.

    Spaces at the ends are dropped, and characters that a URL cannot contain are percent-encoded.
    An address with a user name is rejected: `https://bank.example@evil.example` misleads readers.
    """
    if not isinstance(value, str) or len(value) > _URL_CHARACTERS:
        return None
    try:
        parts = urlsplit(value.strip())  # drops tabs and line ends, as a browser does
        host = parts.netloc if parts.netloc.isascii() else _host_in_ascii(parts.netloc)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        return None
    if parts.netloc.isascii() and not _ENCODED.search(value):
        return value
    path = parts.path.replace("\\", "/")
    return _ENCODED.sub(_percent_encoded, parts._replace(netloc=host, path=path).geturl())


def _host_in_ascii(netloc: str) -> str:
    """Return the host by UTS #46.

    Raises:
        ValueError: The text is not a host name.
    """
    import idna  # noqa: PLC0415 - a cold start

    name, colon, port = netloc.partition(":")
    return idna.encode(name, uts46=True).decode() + colon + port


def _percent_encoded(character: re.Match[str]) -> str:
    return quote(character[0].encode(errors="replace"), safe="")


LOGO_CHARACTERS: Final = 2_000


def logo_address(value: object) -> str | None:
    """Return `value` if it is an https address that can be the logo of an email, or None."""
    url = web_address(value) or ""
    is_logo = url == value and len(url) <= LOGO_CHARACTERS and urlsplit(url).scheme == "https"
    return url if is_logo else None


ANY: Final = "*"
PROJECT: Final = "project"

_BUCKETS: Final = (
    "firebasestorage.googleapis.com/v0/b/{project}.firebasestorage.app/o/",
    "firebasestorage.googleapis.com/v0/b/{project}.appspot.com/o/",
    "storage.googleapis.com/{project}.firebasestorage.app/",
    "storage.googleapis.com/{project}.appspot.com/",
)
"""The project's own buckets: https://firebase.google.com/docs/storage/web/start"""


@dataclass(frozen=True, slots=True)
class PhotoHosts:
    """The allowed hosts of photos in an email.

    Attributes:
        paths: Allowed prefixes of paths, by host.
        any_host: Whether every host is allowed.
    """

    paths: Mapping[str, Sequence[str]]
    any_host: bool

    @classmethod
    def read(cls, text: str, project: str) -> Self:
        """Parse the parameter: hosts separated by commas, `project` for its buckets, `*` for any.

        A host may have a path prefix.
        """
        entries = {entry.strip() for entry in text.split(",")}
        buckets = {bucket.format(project=project) for bucket in _BUCKETS if PROJECT in entries}
        paths: dict[str, list[str]] = defaultdict(list)
        for prefix in (entries | buckets) - {"", ANY, PROJECT}:
            host, slash, path = prefix.partition("/")
            paths[host.lower().removesuffix(":443")].append(slash + path)
        return cls(paths, ANY in entries)

    def allow(self, url: str) -> bool:
        """Return whether the photo at the web address `url` may be shown."""
        if self.any_host:
            return True
        parts = urlsplit(url)
        paths = self.paths.get(host_of(url), ())  # another port is another server
        # A browser resolves `..` before it sends the request, even as `%2e%2e`.
        is_direct = {".", ".."}.isdisjoint(unquote(parts.path).split("/"))
        return parts.scheme == "https" and is_direct and parts.path.startswith(tuple(paths))
