"""The addresses of a receiver's name, within its delivery's deadline.

Each look-up waits in a thread of its own: a silent name server holds up the deliveries to its own
names and no others. The system's `getaddrinfo` cannot be interrupted: its thread would be left
behind for ten seconds and more.
"""

import functools
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Final, Self, TypeAlias

import dns.exception
import dns.name
import dns.rdatatype
import dns.resolver

from functions.recent import Recent
from functions.webhooks.sender.connections import SocketAddress

Resolver: TypeAlias = Callable[[str, int, float], Sequence[SocketAddress]]
"""The addresses of a host and port, found in some seconds at most.

Raises TimeoutError where that is too short, and socket.gaierror where there are none.
"""

KEPT_SECONDS: Final = 60.0
"""How long an answer is used again at most; its time to live may be shorter."""

_KEPT: Final = 10_000
_HOSTS: Final = "/etc/hosts"
_LOOPBACK: Final = "127.0.0.1"


class SystemResolver:
    """Looks names up as the system is set up: `/etc/hosts`, then its name servers.

    A name is complete as it stands; the system's search domains are its own names'. IPv6 is asked
    for where a name has no IPv4: Google's functions speak IPv4 only, unless a network of one's own
    is attached. One instance serves all threads.
    """

    def __init__(
        self,
        name_servers: dns.resolver.Resolver,
        hosts: Mapping[str, Sequence[str]],
        monotonic: Callable[[], float],
    ) -> None:
        """Ask `name_servers` for what `hosts` does not have; `monotonic` gives seconds."""
        self._name_servers = name_servers
        self._hosts = hosts
        self._monotonic = monotonic
        self._kept: Recent[str, Sequence[str]] = Recent(
            seconds=KEPT_SECONDS, at_most=_KEPT, monotonic=monotonic
        )

    @classmethod
    def of_system(cls, monotonic: Callable[[], float]) -> Self:
        """With the settings of this machine as they are now."""
        try:
            name_servers = dns.resolver.Resolver()
        except dns.resolver.NoResolverConfiguration:
            name_servers = dns.resolver.Resolver(configure=False)
            name_servers.nameservers = [_LOOPBACK]  # as resolv.conf(5) says
        try:
            with open(_HOSTS, encoding="utf-8", errors="replace") as lines:  # noqa: PTH123 - a path
                hosts = read_hosts(lines)
        except OSError:
            hosts = {}
        return cls(name_servers, hosts, monotonic)

    def __call__(self, host: str, port: int, seconds: float) -> Sequence[SocketAddress]:
        """See `Resolver`."""
        found = _literal(host) or self._of_hosts(host) or self._kept.get(host)
        return [_address(text, port) for text in found or self._look_up(host, seconds)]

    def _of_hosts(self, host: str) -> Sequence[str]:
        name = host.removesuffix(".")
        # RFC 6761, 6.3: such a name never leaves the machine.
        is_local = name == "localhost" or name.endswith(".localhost")
        return self._hosts.get(name, [_LOOPBACK] if is_local else [])

    def _look_up(self, host: str, seconds: float) -> Sequence[str]:
        ends = self._monotonic() + seconds
        try:
            name = dns.name.from_text(host)
            answer = self._ask(name, dns.rdatatype.A, ends)
            if answer.rrset is None:
                answer = self._ask(name, dns.rdatatype.AAAA, ends)
        except dns.exception.Timeout:
            raise TimeoutError from None
        except dns.exception.DNSException as error:
            raise socket.gaierror(socket.EAI_NONAME, str(type(error).__name__)) from None
        found = [str(record) for record in answer.rrset or ()]
        if not found:
            raise socket.gaierror(socket.EAI_NODATA, "no address")
        lives = min(answer.chaining_result.minimum_ttl, KEPT_SECONDS)
        self._kept.put(host, value=found, since=self._monotonic() - (KEPT_SECONDS - lives))
        return found

    def _ask(
        self, name: dns.name.Name, kind: dns.rdatatype.RdataType, ends: float
    ) -> dns.resolver.Answer:
        left = ends - self._monotonic()
        if left <= 0:
            raise TimeoutError
        return self._name_servers.resolve(
            name, kind, lifetime=left, search=False, raise_on_no_answer=False
        )


def read_hosts(lines: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The addresses of each name, of lines as hosts(5) describes them."""
    hosts: dict[str, list[str]] = {}
    for line in lines:
        address, *names = line.partition("#")[0].split() or [""]
        with suppress(ValueError):
            ip_address(address.partition("%")[0])
            for name in names:
                hosts.setdefault(name.lower(), []).append(address)
    return hosts


@functools.lru_cache(_KEPT)
def _literal(host: str) -> Sequence[str]:
    """The address that `host` is itself, however it is spelt: `0x7f.1` is one, too."""
    with suppress(ValueError):
        return [str(ip_address(host))]
    with suppress(OSError):
        return [socket.inet_ntoa(socket.inet_aton(host))]
    return []


def _address(ip: str, port: int) -> SocketAddress:
    return (socket.AF_INET6, (ip, port, 0, 0)) if ":" in ip else (socket.AF_INET, (ip, port))
