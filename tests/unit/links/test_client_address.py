"""Spec 8 and design 3.8: whose calls are counted together."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.admission import client_address

PEER = "169.254.1.1"


@pytest.mark.parametrize(
    ("forwarded_for", "hops", "expected"),
    [
        ("", 0, PEER),
        ("203.0.113.7", 0, "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7", 0, "203.0.113.7"),
        ("198.51.100.1,203.0.113.7 ", 0, "203.0.113.7"),
        ("6.6.6.6, 203.0.113.7, 10.0.0.1", 1, "203.0.113.7"),
        ("6.6.6.6, 203.0.113.7, 10.0.0.2, 10.0.0.1", 2, "203.0.113.7"),
        # Fewer entries than hops: the request did not come through the proxies.
        ("203.0.113.7", 1, "203.0.113.7"),
        ("203.0.113.7, 203.0.113.8", 5, "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7", -1, "203.0.113.7"),
        # No address: the nearer entry counts.
        ("garbage", 0, PEER),
        ("203.0.113.7, garbage", 0, PEER),
        ("203.0.113.7, unknown, 10.0.0.1", 1, "10.0.0.1"),
        ("203.0.113.7,", 0, PEER),
        ("1.2.3.4.5", 0, PEER),
        ("0x7f000001", 0, PEER),
        ("203.0.113.07", 0, PEER),
        # With a port.
        ("203.0.113.7:4711", 0, "203.0.113.7"),
        ("[2001:db8:1:2::3]:443", 0, "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::3]", 0, "2001:db8:1:2::/64"),
        # One customer, many addresses.
        ("2001:db8:1:2::3", 0, "2001:db8:1:2::/64"),
        ("2001:DB8:1:2:ffff:ffff:ffff:ffff", 0, "2001:db8:1:2::/64"),
        ("2001:db8:1:3::3", 0, "2001:db8:1:3::/64"),
        ("fe80::1%eth0", 0, "fe80::/64"),
        ("::ffff:203.0.113.7", 0, "203.0.113.7"),
        ("::ffff:cb00:7107", 0, "203.0.113.7"),
        ("::1", 0, "::/64"),
    ],
)
def test_client(forwarded_for: str, hops: int, expected: str) -> None:
    """The client is the right-most entry past our own proxies; IPv6 counts by /64."""
    assert client_address(forwarded_for, PEER, trusted_hops=hops) == expected


@given(st.text(), st.ip_addresses())
def test_nothing_in_front_helps(written: str, seen: IPv4Address | IPv6Address) -> None:
    """Any header of a client is counted as the address that our front end saw."""
    alone = client_address(str(seen), PEER, trusted_hops=0)
    assert client_address(f"{written},{seen}", PEER, trusted_hops=0) == alone


@given(st.text(), st.text(), st.integers(-2, 5))
def test_any_header(header: str, peer: str, hops: int) -> None:
    """Any header, however odd, gives an address and no error."""
    assert client_address(header, peer, trusted_hops=hops)
