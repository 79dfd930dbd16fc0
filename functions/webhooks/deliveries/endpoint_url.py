"""Validation of webhook URLs, ports and addresses before a request (spec 3.4, 7.3).

Requests go only to public addresses, and never to `BAD_PORTS`.
"""

import functools
import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self
from urllib.parse import quote, unquote_to_bytes, urlsplit

import idna

from functions.firestore.model import TEXT_BYTES

_HTTPS_PORT: Final = 443
# urlsplit silently drops some of these characters, so it would check a different URL.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0]")
_HOST_LENGTH: Final = 253  # maximum length of a DNS name as text (RFC 1035, 2.3.4)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))

_URLS_KEPT: Final = 1000

_UNREADABLE: Final = re.compile(r"[^a-z0-9.-]")
_NAME_CHARACTERS: Final = 60


class UnusableUrlError(ValueError):
    """The URL cannot receive deliveries. The message gives organizers the reason."""


@dataclass(frozen=True, slots=True)
class EndpointUrl:
    """A parsed HTTPS URL: `host` in the form for DNS and TLS, and `path` with the query."""

    host: str
    port: int
    path: str
    authorization: str | None = field(default=None, repr=False)
    """The `Authorization` header for the user name and password in the URL."""

    @classmethod
    @functools.lru_cache(_URLS_KEPT)
    def parse(cls, url: str) -> Self:
        """Parse `url` without its fragment.

        Raises:
            UnusableUrlError: The URL is empty, too long, malformed or not `https`.
        """
        if not url:
            raise UnusableUrlError("the URL is empty")
        if len(url.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
            raise UnusableUrlError(f"the URL has more than {TEXT_BYTES:,} bytes")
        if _UNPRINTABLE.search(url):
            raise UnusableUrlError("the URL contains white space or a control character")
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
            raise UnusableUrlError("the URL has no host")
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
    """Return the Basic authentication (RFC 7617) for the user name and password of a URL."""
    if not user_info.strip(":"):
        return None
    user, _, password = user_info.partition(":")
    both = unquote_to_bytes(user) + b":" + unquote_to_bytes(password)
    return f"Basic {b64encode(both).decode()}"


def _ascii(host: str) -> str:
    if ":" in host:  # an IPv6 literal, which urlsplit has checked
        return host
    try:
        # Python's codec is IDNA 2003, which maps "straße" to "strasse", another owner's name.
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
    except UnicodeError:  # idna.IDNAError among them
        raise UnusableUrlError("the URL's host name is not valid") from None
    bare = name.removesuffix(".")
    if len(bare) > _HOST_LENGTH or not all(_LABEL.match(label) for label in bare.split(".")):
        raise UnusableUrlError("the URL's host name is not valid")
    return bare  # the same host with or without the dot


def host_of(url: str) -> str | None:
    """Return the host of `url` for log lines, or None. The path may contain a key."""
    try:
        return EndpointUrl.parse(url).host
    except UnusableUrlError:
        return None


def name_of(url: str) -> str:
    """Return a name for `url` without its secrets: the host and four characters of a hash.

    The console shows the same names (`console/src/domain/endpoint.ts`), so an admin can find the
    URL there. 16 bits of a hash distinguish the URLs of one event and cannot confirm a guessed key.
    """
    readable = _UNREADABLE.sub("", (host_of(url) or "").lower())[:_NAME_CHARACTERS]
    digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable or 'url'}~{digest[:4]}"


# The only range of IPv6 for public unicast addresses (RFC 4291, 2.4). Excludes translated
# addresses, local addresses, and ranges that a later standard may assign.
_IPV6_UNICAST: Final = IPv6Network("2000::/3")

# CPython's `is_global` follows an old registry and accepts addresses that embed an IPv4 address,
# which a translator could turn into a private address.
# https://www.iana.org/assignments/iana-ipv4-special-registry
# https://www.iana.org/assignments/iana-ipv6-special-registry
_DENIED: Final[tuple[IPv4Network | IPv6Network, ...]] = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network (RFC 1122)
        "100.64.0.0/10",  # shared address space behind carriers' and clouds' NAT (RFC 6598)
        "192.0.0.0/24",  # protocol assignments (RFC 6890)
        "192.88.99.0/24",  # 6to4 relay anycast (RFC 7526)
        "198.18.0.0/15",  # benchmarking (RFC 2544)
        "240.0.0.0/4",  # reserved, and broadcast (RFC 1112)
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID (RFC 2928)
        "2001:db8::/32",  # documentation (RFC 3849)
        "2002::/16",  # 6to4, embeds an IPv4 address (RFC 3056)
        "3fff::/20",  # documentation (RFC 9637)
    )
)

# https://fetch.spec.whatwg.org/#port-blocking
BAD_PORTS: Final = frozenset(
    (
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601),
        *(636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000),
        *(6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    )
)
"""Ports that browsers block, for example the port of SMTP."""

_ADDRESSES_KEPT: Final = 10_000


@functools.lru_cache(_ADDRESSES_KEPT)
def is_public(address: str) -> bool:
    """Return whether `address`, as text from the resolver, is a public internet address."""
    ip = _unmapped(address)
    return (
        ip.is_global
        and not ip.is_multicast
        and (ip.version == 4 or ip in _IPV6_UNICAST)  # noqa: PLR2004 - the IP version
        and not any(ip in network for network in _DENIED if network.version == ip.version)
    )


def is_loopback(address: str) -> bool:
    """Return whether `address` is a loopback address."""
    return _unmapped(address).is_loopback


def _unmapped(address: str) -> IPv4Address | IPv6Address:
    # The resolver may append a scope ("fe80::1%eth0"), which is not part of the address.
    ip = ip_address(address.partition("%")[0])
    return (ip.version == 6 and ip.ipv4_mapped) or ip  # noqa: PLR2004 - the IP version
