"""Design 3.18: internal addresses are never connected to, in any spelling or by DNS."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address
from typing import Final

import pytest

from functions.webhooks.sender.http_sender import HttpSender
from functions.webhooks.sender.resolver import SystemResolver
from functions.webhooks.worker import SendError, Source
from tests.unit.clock import Clock
from tests.unit.webhooks.name_server import answering
from tests.unit.webhooks.tls_receivers import sending

INTERNAL: Final = (
    *("127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1", "192.0.0.192"),  # noqa: S104 - tested
)
SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "dotted": str,
    "trailing dot": "{}.".format,
    "decimal": lambda ip: str(int(IPv4Address(ip))),
    "hexadecimal": lambda ip: hex(int(IPv4Address(ip))),
    "octal": lambda ip: f"0{int(IPv4Address(ip)):o}",
    "octal bytes": lambda ip: ".".join(f"0{int(byte):o}" for byte in ip.split(".")),
    "hexadecimal bytes": lambda ip: ".".join(hex(int(byte)) for byte in ip.split(".")),
    "two parts": lambda ip: f"{ip.split('.')[0]}.{int(IPv4Address(ip)) % 2**24}",
    "three parts": lambda ip: f"{ip.rsplit('.', 2)[0]}.{int(IPv4Address(ip)) % 2**16}",
    "full width": lambda ip: ip.translate({ord("0") + n: 0xFF10 + n for n in range(10)}),
    "ideographic dots": lambda ip: ip.replace(".", "\u3002"),
    "mapped": "[::ffff:{}]".format,
    "mapped, hexadecimal": lambda ip: f"[::ffff:{_groups(ip)}]",
    "compatible": "[::{}]".format,
    "translated": "[::ffff:0:{}]".format,
    "NAT64": "[64:ff9b::{}]".format,
    "local NAT64": "[64:ff9b:1::{}]".format,
    "6to4": lambda ip: f"[2002:{_groups(ip)}::1]",
    "Teredo": lambda ip: f"[2001:0:{_groups(ip)}::1]",
    "with a zone": "[fe80::{}%25eth0]".format,
    "a name of it": "internal-{}.example.com".format,
    "an alias of it": "alias-{}.example.com".format,
    "with a public one": "mixed-{}.example.com".format,
}


def _groups(ip: str) -> str:
    number = int(IPv4Address(ip))
    return f"{number >> 16:x}:{number & 0xFFFF:x}"


@pytest.fixture(scope="module")
def sender() -> Iterator[HttpSender]:
    """Return a sender whose name server has names for each address."""
    names = {ip: f"internal-{ip}.example.com" for ip in INTERNAL}
    records = {name: f"60 IN A {ip}" for ip, name in names.items()}
    records |= {f"alias-{ip}.example.com": f"60 IN CNAME {names[ip]}." for ip in INTERNAL}
    records |= {f"mixed-{ip}.example.com": f"60 IN A 8.8.8.8\n60 IN A {ip}" for ip in INTERNAL}
    with answering(records) as name_server:
        resolver = SystemResolver(Clock().process, name_server.settings)
        with sending(allow_loopback=False, resolve=resolver.resolve) as sender:
            yield sender


@pytest.mark.parametrize("ip", INTERNAL)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_internal_address_is_connected_to(sender: HttpSender, spelling: str, ip: str) -> None:
    """Reject the URL, or the address before a connection."""
    with pytest.raises(SendError) as refused:
        sender.post(f"https://{SPELLINGS[spelling](ip)}/", {}, b"", Source("t1", "e1"))
    assert str(refused.value) in (
        "the host's address is not a public one",
        "the host name does not resolve",
    )
