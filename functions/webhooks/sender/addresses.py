"""Where a webhook may be sent to: to public addresses, and to no port of others (design 3.18)."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

# Nothing else of IPv6 is given out (RFC 4291, 2.4): not the addresses that carry another one for a
# translator, not the local ones, and not what some later standard may use for something else.
_IPV6_UNICAST: Final = IPv6Network("2000::/3")

# `is_global` of CPython follows a registry of some years ago, and has no opinion on addresses that
# carry another one inside them; a translator would turn those into private ones.
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
        "2002::/16",  # 6to4, carries an IPv4 address (RFC 3056)
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
"""Ports that browsers refuse, such as that of mail."""

_KEPT: Final = 10_000


@lru_cache(_KEPT)
def is_public(address: str) -> bool:
    """Whether `address`, in text as the resolver gives it, is one of the public internet."""
    ip = _unmapped(address)
    return (
        ip.is_global
        and not ip.is_multicast
        and (ip.version == 4 or ip in _IPV6_UNICAST)  # noqa: PLR2004 - the IP version
        and not any(ip in network for network in _DENIED if network.version == ip.version)
    )


@lru_cache(_KEPT)
def is_public_or_loopback(address: str) -> bool:
    """Whether `address` is a public one, or this machine itself, as in the local suite."""
    return is_public(address) or _unmapped(address).is_loopback


def _unmapped(address: str) -> IPv4Address | IPv6Address:
    # A scope ("fe80::1%eth0") is the resolver's addition and says nothing on the address.
    ip = ip_address(address.partition("%")[0])
    return (ip.version == 6 and ip.ipv4_mapped) or ip  # noqa: PLR2004 - the IP version
