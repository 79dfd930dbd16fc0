"""Where a webhook may go: the check of a configured URL before anything is sent (spec 3.4, 7.3)."""

import functools
import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import quote, unquote_to_bytes, urlsplit

import idna

from functions.firestore.model import TEXT_BYTES

_HTTPS_PORT: Final = 443
# urlsplit drops some of these silently and so would check another URL than the one configured.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0]")
_HOST_LENGTH: Final = 253  # of a name in DNS (RFC 1035, 2.3.4), as text
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))

_KEPT: Final = 1000

_UNREADABLE: Final = re.compile(r"[^a-z0-9.-]")
_NAME_CHARACTERS: Final = 60


class UnusableUrlError(ValueError):
    """A configured URL that no delivery can go to; the message is the reason, for people."""


@dataclass(frozen=True, slots=True)
class EndpointUrl:
    """An HTTPS URL, taken apart: `host` as it goes into DNS and TLS, `path` with its query."""

    host: str
    port: int
    path: str
    authorization: str | None = field(default=None, repr=False)
    """The `Authorization` header of its user name and password."""

    @classmethod
    @functools.lru_cache(_KEPT)
    def parse(cls, url: str) -> Self:
        """Take `url` apart; a fragment stays at home.

        Raises:
            UnusableUrlError: it is empty, too long, unparseable or not `https`.
        """
        if not url:
            raise UnusableUrlError("the URL is empty")
        if len(url.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
            raise UnusableUrlError(f"the URL has more than {TEXT_BYTES:,} bytes")
        if _UNPRINTABLE.search(url):
            raise UnusableUrlError("the URL holds white space or a control character")
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise UnusableUrlError("the URL cannot be parsed") from None
        if parts.scheme != "https":
            raise UnusableUrlError("the URL does not start with https://")
        if "\\" in parts.netloc:  # which browsers read as a slash
            raise UnusableUrlError("the URL cannot be parsed")
        if not host:
            raise UnusableUrlError("the URL names no host")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(
            host=_ascii(host),
            port=_HTTPS_PORT if port is None else port,
            path=quote(path, safe=_ASCII),
            authorization=_basic(parts.netloc.rpartition("@")[0]),
        )

    @property
    def authority(self) -> str:
        """Value of the `Host` header (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _HTTPS_PORT else f"{host}:{self.port}"


def _basic(user_info: str) -> str | None:
    """Basic authentication (RFC 7617) with the user name and password of a URL."""
    if not user_info.strip(":"):
        return None
    user, _, password = user_info.partition(":")
    both = unquote_to_bytes(user) + b":" + unquote_to_bytes(password)
    return f"Basic {b64encode(both).decode()}"


def _ascii(host: str) -> str:
    if ":" in host:  # an IPv6 literal, which urlsplit has checked
        return host
    try:
        # The codec of Python has the names of 2003, where "straße" is another's "strasse".
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
    except UnicodeError:  # idna.IDNAError among them
        raise UnusableUrlError("the URL's host name is not valid") from None
    bare = name.removesuffix(".")
    if len(bare) > _HOST_LENGTH or not all(_LABEL.match(label) for label in bare.split(".")):
        raise UnusableUrlError("the URL's host name is not valid")
    return bare  # with or without the dot, it is one host


def host_of(url: str) -> str | None:
    """Host of `url` for a log line, None where it has none; never the path: it may hold a key."""
    try:
        return EndpointUrl.parse(url).host
    except UnusableUrlError:
        return None


def name_of(url: str) -> str:
    """The name of `url` for people who may not read its keys: its host and four characters.

    The console gives the same names (`console/src/domain/endpoint.ts`), so that an admin finds the
    URL there. 16 bits of a hash tell the URLs of one event apart, and confirm no guess of a key.
    """
    readable = _UNREADABLE.sub("", (host_of(url) or "").lower())[:_NAME_CHARACTERS]
    digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable or 'url'}~{digest[:4]}"
