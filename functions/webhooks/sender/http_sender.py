"""One signed POST to a receiver that may mean harm."""

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, Protocol

from urllib3 import Timeout

from functions.outside import Clock, Recent
from functions.webhooks.deliveries.delivery import ACKNOWLEDGING
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender.adapter import ANSWER_BYTES, HEAD_LINES, NoAnswerError, PinnedAdapter
from functions.webhooks.sender.sender import (
    OF_A_TENANT,
    OF_AN_EVENT,
    HostLimits,
    Response,
    SendError,
    Source,
)

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


EXCERPT_BYTES: Final = 1024
"""Bytes kept of the body of an answer that is not 2xx, for the delivery's log."""

# Control characters: none is visible, and some move the text. Line ends and tabs stay.
_CONTROLS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})


def excerpt(body: bytes) -> str | None:
    """Text of at most `EXCERPT_BYTES`, or None if no text is left.

    Bytes that are not UTF-8 are replaced, control characters left out.
    """
    text = body.decode(errors="replace").translate(_CONTROLS)
    return text.encode()[:EXCERPT_BYTES].decode(errors="ignore").strip() or None


TIMEOUT_SECONDS: Final = 5.0
"""From the look-up of the name to the last header of the answer (spec 8)."""

_HEAD: Final = f"{ANSWER_BYTES // 1024} KB or {HEAD_LINES} lines"
_REASONS: Final[Sequence[tuple[type[BaseException], str]]] = (
    (TimeoutError, "no answer within {seconds:g} s"),
    (socket.gaierror, "the host name does not resolve"),
    (ssl.SSLCertVerificationError, "the certificate is not valid: {error.verify_message}"),
    (ssl.SSLError, "the TLS handshake failed"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionError, "the connection was closed before the answer"),
    (OSError, "the host cannot be reached"),
    (http.client.LineTooLong, f"the answer's head is longer than {_HEAD}"),
    (BaseException, "the answer is not HTTP"),
)
"""Why no answer came, in words that hold nothing of the request or the answer."""


class Resolver(Protocol):
    """Looks names up; one instance serves all threads."""

    def resolve(self, host: str, seconds: float) -> Sequence[str]:
        """The IP addresses of `host`, or an OSError after `seconds` at most."""


@dataclass(eq=False, kw_only=True)
class HttpSender:
    """Posts to receivers; one instance serves all threads of the process."""

    adapter: PinnedAdapter
    resolver: Resolver
    clock: Clock
    is_allowed: Callable[[str], bool] = is_public
    """Whether an address may be connected to."""
    timeout_seconds: float = TIMEOUT_SECONDS
    of_events: HostLimits = field(default_factory=lambda: HostLimits(OF_AN_EVENT))
    of_tenants: HostLimits = field(default_factory=lambda: HostLimits(OF_A_TENANT))

    def __post_init__(self) -> None:
        """Remember for a day which receivers have answered which events; none has yet."""
        self._answered: Recent[tuple[str, str, int], bool] = Recent(self.clock, seconds=86_400.0)

    def post(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, source: Source
    ) -> Response:
        """See `Sender`.

        A receiver that has not answered this event before could be anybody's machine. Until it
        has shown its certificate, the error gives no reason; only its cause does.
        """
        if to.port in BAD_PORTS:
            raise SendError("the URL's port is another service's and never connected to")
        ends = self.clock.monotonic() + self.timeout_seconds
        receiver = (source.event_id, to.host, to.port)
        with self.of_events.under_way((source.event_id, to.host)):
            try:
                found = frozenset(self.resolver.resolve(to.host, self.timeout_seconds))
                if not all(map(self.is_allowed, found)):
                    raise SendError("the host's address is not a public one")
                # Each address of the name counts: which one answers, only a connection shows.
                with self.of_tenants.under_way(*((source.tenant_id, each) for each in found)):
                    request = self.adapter.prepared(to, headers, body, found, source.tenant_id)
                    timeout: Any = Timeout(total=ends - self.clock.monotonic())
                    answer: Any = self.adapter.send(request, timeout=timeout)
                    acknowledges = answer.status in ACKNOWLEDGING
                    body = answer.finish(is_wanted=not acknowledges)
            except (NoAnswerError, OSError, ValueError) as error:
                cause = (
                    TimeoutError() if self.clock.monotonic() >= ends else error.__cause__ or error
                )
                why = next(text for kind, text in _REASONS if isinstance(cause, kind))
                why = why.format(error=cause, seconds=self.timeout_seconds)
                is_told = type(error) is NoAnswerError or isinstance(cause, socket.gaierror)
                if is_told or self._answered.get(receiver):
                    raise SendError(why) from error
                raise SendError(
                    "the receiver could not be reached: it has to answer HTTPS with a valid"
                    f" certificate within {self.timeout_seconds:g} s"
                ) from SendError(why)
        self._answered.put(receiver, value=True)
        return Response(answer.status, None if acknowledges else excerpt(body))
