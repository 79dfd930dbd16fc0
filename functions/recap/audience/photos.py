"""Approved photos, the pictures that a mail shows of them, and the hosts that these may be on.

A guest can write any address into a photo. The server of a picture learns who looks at it and when,
and may serve another picture than the approved one; so the project has to trust the host
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
"""Longer side of a picture that counts as small: a mail may show any number of them."""

MAIL_BYTES: Final = 100_000
"""Size of both parts of a mail together: Gmail cuts a mail off after 102 KB."""

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
"""The fields that are read of a photo; a long list of photos costs less without the rest."""

_URL_CHARACTERS: Final = 2048
"""Every mail client and browser accepts a URL of this length."""

_ENCODED: Final = re.compile(r"[^!#-;=?-\[\]_a-z~]")
"""Everything but printable ASCII, and the ASCII characters that a URL cannot contain."""

_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
"""The host and port of a link, as the rules have them."""

_RESIZED: Final = re.compile(r"_([0-9]{1,5})x([0-9]{1,5})(\.[A-Za-z]{3,4})?")
"""The end of a name such as `name_400x400.webp`, given by the extension Resize Images:
https://extensions.dev/extensions/firebase/storage-resize-images"""


class Picture(NamedTuple):
    """A photo in a mail: the shown picture, which is `small` or the original, and its link.

    Without `is_shown` there is only the link, as email programs don't show the format.
    """

    thumb: str
    url: str
    small: bool = True
    is_shown: bool = True


class Problem(StrEnum):
    """Why an email has no picture of an approved photo."""

    HOST = "host"
    NO_LINK = "no link"
    TOO_LONG = "too long"
    FORMAT = "format"


_NOT_SHOWN: Final = re.compile(r"\.(?:heic|heif|mov|mp4|m4v|avi|webm|tiff?|dng|pdf)", re.IGNORECASE)
"""The end of a file name whose format email programs don't show."""


def picture_of(photo: Photo, hosts: "PhotoHosts") -> Picture | None:
    """The photo's picture; None where `hosts` allow no address of the photo."""
    url, thumb = (link if link and hosts.allow(link) else None for link in _addresses(photo))
    leads_to = url or thumb
    if leads_to is None:
        return None
    shown = next((link for link in (thumb, url) if link and _is_image(link)), None)
    if shown is None:
        return Picture(leads_to, leads_to, is_shown=False)
    return Picture(shown, leads_to, small=shown == thumb or is_resized(shown))


def problem_of(photo: Photo, picture: Picture | None) -> Problem | None:
    """Return why an email shows no picture of the photo with that `picture`."""
    if picture:
        return None if picture.is_shown else Problem.FORMAT
    if hosts_of(photo):
        return Problem.HOST
    is_too_long = len(photo.url or "") > _URL_CHARACTERS
    return Problem.TOO_LONG if is_too_long else Problem.NO_LINK


def _is_image(url: str) -> bool:
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    return _NOT_SHOWN.fullmatch(name[name.rfind(".") :] if "." in name else "") is None


def hosts_of(photo: Photo) -> list[str]:
    """The hosts of the photo's picture and of its small one."""
    return [host_of(link) for link in _addresses(photo) if link]


def host_of(url: str) -> str:
    """The host of a web address, with the port if it is another than that of https."""
    return urlsplit(url).netloc.lower().removesuffix(":443")


def _addresses(photo: Photo) -> tuple[str | None, str | None]:
    return web_address(photo.url), web_address(photo.thumb_url)


class Newest:
    """The newest pictures of many: at most `at_most`, and at most `room` bytes of a mail.

    The limit in bytes keeps long addresses from taking more memory than short ones.
    """

    __slots__ = ("_at_most", "_bytes", "_heap", "_room")

    def __init__(self, room: int, at_most: int) -> None:
        self._room = room
        self._at_most = at_most
        self._bytes = 0
        self._heap: list[tuple[tuple[bool, datetime], str, Picture]] = []

    def add(self, photo_id: str, rank: tuple[bool, datetime], picture: Picture) -> None:
        """Keep the picture while pictures of a higher rank leave room for it."""
        heapq.heappush(self._heap, (rank, photo_id, picture))
        self._bytes += _bytes(picture)
        self.limit(self._room, self._at_most)

    def limit(self, room: int, at_most: int) -> None:
        """Keep no more than that from now on."""
        self._room, self._at_most = room, at_most
        while len(self._heap) > at_most or (len(self._heap) > 1 and self._bytes > room):
            self._bytes -= _bytes(heapq.heappop(self._heap)[2])

    @property
    def memory(self) -> int:
        """Bytes of memory that the pictures take, about."""
        return self._bytes + _OBJECTS_BYTES * len(self._heap)

    def pictures(self) -> list[Picture]:
        """The pictures, highest rank first."""
        return [picture for _, _, picture in sorted(self._heap, reverse=True)]


_OBJECTS_BYTES: Final = 400
"""Bytes of memory that a kept picture takes beside its addresses."""


def _bytes(picture: Picture) -> int:
    """The least that the picture takes in a mail: a link in both parts."""
    return len(picture.url) + max(len(picture.thumb), len(picture.url))


def is_resized(url: str) -> bool:
    """Whether the file name in `url` is that of a small picture."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    found = _RESIZED.search(name)
    return (
        found is not None
        and found.end() == len(name)
        and max(int(found[1]), int(found[2])) <= SMALL_PIXELS
    )


def web_address(value: object) -> str | None:
    """Return the http or https address `value` as a browser would request it, else None.

    Spaces at the ends are dropped, and characters that a URL cannot contain are percent-encoded.
    An address with a user name is refused: `https://bank.example@evil.example` misleads readers.
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
        ValueError: it is no host name.
    """
    import idna  # noqa: PLC0415 - a cold start

    name, colon, port = netloc.partition(":")
    return idna.encode(name, uts46=True).decode() + colon + port


def _percent_encoded(character: re.Match[str]) -> str:
    return quote(character[0].encode(errors="replace"), safe="")


LOGO_CHARACTERS: Final = 2_000


def logo_address(value: object) -> str | None:
    """`value` if it is an https address that can be the logo of a mail, else None."""
    url = web_address(value) or ""
    return (
        url
        if url == value and len(url) <= LOGO_CHARACTERS and urlsplit(url).scheme == "https"
        else None
    )


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
    """Decides which photo addresses may stand in a mail.

    `paths` are the beginnings of paths that each host may have.
    """

    paths: Mapping[str, Sequence[str]]
    any_host: bool

    @classmethod
    def read(cls, text: str, project: str) -> Self:
        """Read the parameter: hosts with commas between; `project` for its buckets, `*` for any.

        A host may have the beginning of a path.
        """
        entries = {entry.strip() for entry in text.split(",")}
        buckets = {bucket.format(project=project) for bucket in _BUCKETS if PROJECT in entries}
        paths: dict[str, list[str]] = defaultdict(list)
        for prefix in (entries | buckets) - {"", ANY, PROJECT}:
            host, slash, path = prefix.partition("/")
            paths[host.lower().removesuffix(":443")].append(slash + path)
        return cls(paths, ANY in entries)

    def allow(self, url: str) -> bool:
        """Whether the photo at the web address `url` may be shown."""
        if self.any_host:
            return True
        parts = urlsplit(url)
        paths = self.paths.get(host_of(url), ())  # with another port it is another server
        # A browser resolves `..` before it sends the request, even as `%2e%2e`.
        is_direct = {".", ".."}.isdisjoint(unquote(parts.path).split("/"))
        return parts.scheme == "https" and is_direct and parts.path.startswith(tuple(paths))
