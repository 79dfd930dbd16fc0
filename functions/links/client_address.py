"""The network address under which a client's calls are counted (design 3.8, spec 8)."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

_IPV6_PREFIX_BYTES: Final = 8
"""A customer has a /64, and can use every address in it."""

_WITH_PORT: Final = re.compile(r"\[(?P<v6>[^\]]*)\](?::\d+)?|(?P<v4>[\d.]+):\d+")


def client_address(forwarded_for: str, peer: str, *, trusted_hops: int) -> str:
    """The client's IPv4 address or IPv6 /64, as one canonical text.

    `forwarded_for` is the header `X-Forwarded-For`: text from the client, followed by the address
    that each proxy saw, our own proxies last. So it is read from the right, past `trusted_hops` of
    our proxies. Where that entry is not an address, the next entry to the right counts, which is
    more trustworthy, and finally `peer`, the other end of the connection.
    """
    entries = forwarded_for.split(",")
    start = max(0, len(entries) - 1 - max(0, trusted_hops))
    for entry in (*entries[start:], peer):
        address = _parsed(entry.strip())
        if address is not None:
            return _network(address)
    return "unknown"


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port["v6"] or with_port["v4"] or ""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _network(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    prefix = address.packed[:_IPV6_PREFIX_BYTES]
    return f"{IPv6Address(prefix.ljust(len(address.packed), bytes(1)))}/64"
