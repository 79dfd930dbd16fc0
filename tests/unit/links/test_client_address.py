"""Spec 8 and design 3.8: the client address by which calls are counted."""

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
        # An invalid entry: the next one to the right counts.
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
        # One customer with many addresses.
        ("2001:db8:1:2::3", 0, "2001:db8:1:2::/64"),
        ("2001:DB8:1:2:ffff:ffff:ffff:ffff", 0, "2001:db8:1:2::/64"),
        ("2001:db8:1:3::3", 0, "2001:db8:1:3::/64"),
        ("fe80::1%eth0", 0, "fe80::/64"),
        ("::ffff:203.0.113.7", 0, "203.0.113.7"),
        ("::ffff:cb00:7107", 0, "203.0.113.7"),
        ("::1", 0, "::/64"),
    ],
)
def test_the_client_is_the_last_entry_before_the_trusted_proxies(
    forwarded_for: str, hops: int, expected: str
) -> None:
    """IPv6 addresses count by /64 (design 3.8)."""
    assert client_address(forwarded_for, PEER, trusted_hops=hops) == expected


@given(st.text(), st.ip_addresses())
def test_a_clients_own_entries_do_not_count(written: str, seen: IPv4Address | IPv6Address) -> None:
    """The address that Google's front end appended counts."""
    expected = client_address(str(seen), PEER, trusted_hops=0)
    assert client_address(f"{written},{seen}", PEER, trusted_hops=0) == expected


@given(st.text(), st.text(), st.integers(-2, 5))
def test_any_header_gives_an_address(header: str, peer: str, hops: int) -> None:
    """No header raises an error."""
    assert client_address(header, peer, trusted_hops=hops)
