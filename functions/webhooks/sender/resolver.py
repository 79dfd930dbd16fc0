"""The addresses of a receiver's name, within its delivery's deadline.

A silent name server holds up the deliveries to its own names and no others. The system's
`getaddrinfo` cannot be interrupted: its thread would be left behind for ten seconds and more.
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

from functions.cache import Recent
from functions.ports import Clock

KEPT_SECONDS: Final = 60.0
"""How long an answer is used again at most; its time to live may be shorter."""

UDP_BYTES: Final = 1232
"""Bytes of a name server's answer that come by UDP; a longer one comes by TCP."""

ADDRESSES: Final = 64
"""Addresses of a name that are looked at; further ones are never connected to."""

_KEPT: Final = 10_000


class SystemResolver:
    """Asks the name servers of the system.

    A name is complete as it stands; the system's search domains are its own names'. IPv6 is asked
    for where a name has no IPv4: Google's functions speak IPv4 only, unless a network of one's own
    is attached. One instance serves all threads.
    """

    def __init__(self, clock: Clock, name_servers: dns.resolver.Resolver | None = None) -> None:
        """Ask `name_servers`, by default those of this machine."""
        self._name_servers = name_servers or dns.resolver.Resolver()
        self._name_servers.use_edns(0, payload=UDP_BYTES)
        self._name_servers.nameservers = [
            _NameServer(str(address), self._name_servers.port)
            for address in self._name_servers.nameservers
        ]
        self._clock = clock
        self._kept: Recent[str, Sequence[str]] = Recent(clock, seconds=KEPT_SECONDS, at_most=_KEPT)

    def resolve(self, host: str, seconds: float) -> Sequence[str]:
        """The IP addresses of `host`.

        Raises TimeoutError where `seconds` are too short, and gaierror where there are none.
        """
        return _literal(host) or self._kept.get(host) or self._look_up(host, seconds)

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
    """Reads the first records of an answer over TCP: each of thousands would cost 25 µs."""

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
        # The header's counts: of answers fewer, of authorities and additional records none.
        answers = min(int.from_bytes(wire[6:8], "big"), ADDRESSES)
        first = wire[:6] + answers.to_bytes(2, "big") + bytes(4) + wire[12:]
        return dns.message.from_wire(first, ignore_trailing=True)


@functools.lru_cache(_KEPT)
def _literal(host: str) -> Sequence[str]:
    """The address that `host` is itself, however it is spelt: `0x7f.1` is one, too."""
    if host == "localhost" or host.endswith(".localhost"):  # never leaves the machine (RFC 6761)
        return ["127.0.0.1"]
    with suppress(ValueError):
        return [str(ip_address(host))]
    with suppress(OSError):
        return [socket.inet_ntoa(socket.inet_aton(host))]
    return []
