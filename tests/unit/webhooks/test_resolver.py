"""Design 3.18: the lookup of receivers' names, tested with a name server on loopback."""

import socket
from collections.abc import Mapping, Sequence
from typing import Any

import dns.name
import dns.rdata
import dns.rdatatype
import pytest

from functions.webhooks.sender.resolver import SystemResolver
from tests.unit.clock import Clock
from tests.unit.webhooks.name_server import NameServer, answering

SECONDS = 60.0


def resolver(server: NameServer, clock: Clock | None = None) -> SystemResolver:
    """Return a resolver that asks `server`."""
    return SystemResolver((clock or Clock()).process, server.settings)


def ips(found: SystemResolver, host: str) -> Sequence[str]:
    """Return the addresses of `host`."""
    return found.resolve(host, SECONDS)


@pytest.mark.parametrize(
    ("records", "expected", "questions"),
    [
        ({"a.example.com": "60 IN A 192.0.2.1"}, ["192.0.2.1"], ["A"]),
        (
            {"a.example.com": "60 IN A 192.0.2.1\n60 IN A 192.0.2.2"},
            ["192.0.2.1", "192.0.2.2"],
            ["A"],
        ),
        ({"a.example.com": "60 IN A 192.0.2.1;60 IN AAAA 2001:db8::1"}, ["192.0.2.1"], ["A"]),
        ({"a.example.com": "60 IN AAAA 2001:db8::1"}, ["2001:db8::1"], ["A", "AAAA"]),
        (
            {"a.example.com": "60 IN CNAME b.example.com.", "b.example.com": "9 IN A 192.0.2.3"},
            ["192.0.2.3"],
            ["A"],
        ),
    ],
    ids=["one", "several", "IPv4 is enough", "only IPv6", "an alias"],
)
def test_a_name_has_its_ipv4_addresses_or_else_its_ipv6_addresses(
    records: Mapping[str, str], expected: list[str], questions: list[str]
) -> None:
    """Follow aliases, and ask for IPv6 only if there is no IPv4 address."""
    with answering(records) as server:
        assert sorted(ips(resolver(server), "a.example.com")) == expected
    assert server.questions == [("a.example.com", kind) for kind in questions]


@pytest.mark.parametrize("host", ["nobody.example.com", "mail-only.example.com", "a" * 64, "a..b"])
def test_a_name_without_addresses_raises_an_error(host: str) -> None:
    """The name may be missing, have no address or be malformed."""
    with (
        answering({"mail-only.example.com": "60 IN MX 10"}) as server,
        pytest.raises(socket.gaierror),
    ):
        resolver(server).resolve(host, SECONDS)


def test_search_domains_are_ignored() -> None:
    """With the system's search domains, `db` would be a host of the internal network."""
    with answering({"db.internal.example.com": "60 IN A 10.0.0.1"}) as server:
        server.settings.search = [dns.name.from_text("internal.example.com")]
        server.settings.use_search_by_default = True
        with pytest.raises(socket.gaierror):
            resolver(server).resolve("db", SECONDS)
    assert server.questions == [("db", "A")]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", ["127.0.0.1"]),
        ("a.localhost", ["127.0.0.1"]),
        ("192.0.2.1", ["192.0.2.1"]),
        ("2001:db8::1", ["2001:db8::1"]),
        ("2130706433", ["127.0.0.1"]),
        ("0x7f.1", ["127.0.0.1"]),
        ("017700000001", ["127.0.0.1"]),
    ],
)
def test_localhost_and_addresses_need_no_name_server(host: str, expected: list[str]) -> None:
    """See RFC 6761, section 6.3, for localhost. Addresses can have any spelling."""
    with answering({}) as server:
        assert ips(resolver(server), host) == expected
    assert server.questions == []


@pytest.mark.parametrize(
    ("ttl", "asked_at", "questions"),
    [
        (0, (0, 0), [1, 2]),
        (10, (0, 9.9, 10), [1, 1, 2]),
        (60, (0, 59.9, 60), [1, 1, 2]),
        (86400, (0, 59.9, 60), [1, 1, 2]),
    ],
)
def test_an_answer_is_cached_for_its_time_to_live(
    ttl: int, asked_at: Sequence[float], questions: list[int]
) -> None:
    """Cache for at most a minute, so that a change of the name is found."""
    clock, asked = Clock(), []
    with answering({"a.example.com": f"{ttl} IN A 192.0.2.1"}) as server:
        asks = resolver(server, clock=clock)
        for clock.now in asked_at:
            assert ips(asks, "a.example.com") == ["192.0.2.1"]
            asked.append(len(server.questions))
    assert asked == questions


def test_a_failure_is_not_cached() -> None:
    """A new name is found at once."""
    records: dict[str, str] = {}
    with answering(records) as server:
        asks = resolver(server)
        with pytest.raises(socket.gaierror):
            asks.resolve("a.example.com", SECONDS)
        records["a.example.com"] = "60 IN A 192.0.2.1"
        assert ips(asks, "a.example.com") == ["192.0.2.1"]


def addresses(count: int) -> str:
    """Return the records of a name with `count` addresses."""
    return "\n".join(f"60 IN A 192.0.{number // 256}.{number % 256}" for number in range(count))


@pytest.mark.parametrize(
    ("count", "found", "questions"),
    [(60, 60, ["A"]), (100, 64, ["A", "TCP"]), (4000, 64, ["A", "TCP"])],
)
def test_at_most_64_addresses_of_a_name_are_parsed(
    monkeypatch: pytest.MonkeyPatch, count: int, found: int, questions: list[str]
) -> None:
    """Ask by TCP for an answer that is too large for a datagram."""
    parsed = 0
    parse = dns.rdata.from_wire_parser

    def counting(of_class: Any, kind: Any, *rest: Any) -> dns.rdata.Rdata:
        nonlocal parsed
        parsed += kind == dns.rdatatype.A
        return parse(of_class, kind, *rest)

    with answering({"many.example.com": addresses(count)}) as server:
        monkeypatch.setattr(dns.rdata, "from_wire_parser", counting)
        assert len(resolver(server).resolve("many.example.com", SECONDS)) == found
    assert [kind for _, kind in server.questions] == questions
    assert parsed == found
