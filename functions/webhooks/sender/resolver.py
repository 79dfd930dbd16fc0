"""DNS lookups of receivers within the deadline of a delivery.

A name server that does not answer delays only deliveries to its own names. The system's
`getaddrinfo` cannot be interrupted and would block a thread for more than ten seconds.
"""

import functools
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from itertools import islice
from typing import Any, Final

import dns.exception
import dns.message
import dns.name
import dns.nameserver
import dns.rdatatype
import dns.resolver

from functions import cache, ports

KEPT_SECONDS: Final = 60.0
"""Maximum seconds for which an answer is cached. Its time to live may be shorter."""

UDP_BYTES: Final = 1232
"""Maximum bytes of a name server's answer over UDP. A longer answer uses TCP."""

ADDRESSES: Final = 64
"""Maximum number of addresses to read for a name. Other addresses are never used."""


class SystemResolver:
    """Resolver that queries the name servers of the system. Shared by all threads.

    Every name is absolute: the system's search domains are not used. IPv6 is queried only if a name
    has no IPv4 address, because Google's functions have only IPv4 without a network of their own.
    """

    def __init__(
        self, clock: ports.Clock, name_servers: dns.resolver.Resolver | None = None
    ) -> None:
        """Create a resolver that queries `name_servers`, by default the system's."""
        self._name_servers = name_servers or dns.resolver.Resolver()
        self._name_servers.use_edns(0, payload=UDP_BYTES)
        self._name_servers.nameservers = [
            _NameServer(str(address), self._name_servers.port)
            for address in self._name_servers.nameservers
        ]
        self._clock = clock
        self._kept: cache.TtlCache[str, Sequence[str]] = cache.TtlCache(clock, seconds=KEPT_SECONDS)

    def resolve(self, host: str, seconds: float) -> Sequence[str]:
        """Return the IP addresses of `host`.

        Raises:
            TimeoutError: The lookup took longer than `seconds`.
            socket.gaierror: The host has no address.
        """
        return self._kept.get(host) or _literal(host) or self._look_up(host, seconds)

    def _look_up(self, host: str, seconds: float) -> Sequence[str]:
        ends = self._clock.monotonic() + seconds
        ask = functools.partial(self._name_servers.resolve, search=False, raise_on_no_answer=False)
        try:
            name = dns.name.from_text(host)
            answer = ask(name, dns.rdatatype.A, lifetime=seconds)
            if answer.rrset is None:
                answer = ask(name, dns.rdatatype.AAAA, lifetime=ends - self._clock.monotonic())
        except dns.exception.Timeout:
            raise TimeoutError from None
        except dns.exception.DNSException as error:
            raise socket.gaierror(socket.EAI_NONAME, str(type(error).__name__)) from None
        addresses = [str(record) for record in islice(answer.rrset or (), ADDRESSES)]
        if not addresses:
            raise socket.gaierror(socket.EAI_NODATA, "no address")
        lives = min(answer.chaining_result.minimum_ttl, KEPT_SECONDS)
        self._kept.put(
            host, value=addresses, since=self._clock.monotonic() - (KEPT_SECONDS - lives)
        )
        return addresses


class _NameServer(dns.nameserver.Do53Nameserver):
    """Name server that parses only the first records over TCP, because each record costs 25 µs."""

    def query(  # type: ignore[override] # as the resolver calls it
        self, request: Any, *, timeout: float, max_size: bool, **how: Any
    ) -> Any:
        if not max_size:
            return super().query(request, timeout=timeout, max_size=False, **how)
        try:
            with socket.create_connection((self.address, self.port), timeout) as sock:
                sock.sendall(request.to_wire(prepend_length=True))
                received = sock.makefile("rb")
                wire = received.read(int.from_bytes(received.read(2), "big"))
        except TimeoutError as late:
            raise dns.exception.Timeout from late
        # Reduce the header's counts: fewer answers, no authority or additional records.
        answers = min(int.from_bytes(wire[6:8], "big"), ADDRESSES)
        first = wire[:6] + answers.to_bytes(2, "big") + bytes(4) + wire[12:]
        return dns.message.from_wire(first, ignore_trailing=True)


def _literal(host: str) -> Sequence[str]:
    """Return the address if `host` is an IP address, in any spelling, such as `0x7f.1`."""
    if host == "localhost" or host.endswith(".localhost"):  # never leaves the machine (RFC 6761)
        return ["127.0.0.1"]
    with suppress(ValueError):
        return [str(ip_address(host))]
    with suppress(OSError):
        return [socket.inet_ntoa(socket.inet_aton(host))]
    return []
