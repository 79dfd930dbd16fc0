"""Admission of calls: rate limits by person, link or client address, and verified links.

A handler checks the arguments first, because that costs nothing. It calls a use case only after the
call was admitted (design 3.3).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import flask

from functions.call.errors import CallError
from functions.gcp.callables import Call, StaffCall
from functions.links.link import Link
from functions.ports import Clock, SecretReader
from functions.rate_limit import RateLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Counts the calls of staff and of link bearers, and verifies links.

    Attributes:
        rate_limits: The rate limits of this process.
        secrets: The keys that sign links.
        trusted_hops: Number of the operator's own proxies in front of Google's front end
            (design 3.8).
        staff_calls_an_hour: Maximum calls of one function by one person per hour.
    """

    rate_limits: RateLimits
    secrets: SecretReader
    clock: Clock
    trusted_hops: int
    staff_calls_an_hour: int

    def count_staff_call(self, call: StaffCall, times: int = 1) -> None:
        """Count a call with valid arguments.

        The limit per person, function and hour is `times` `STAFF_CALLS_AN_HOUR` (spec 8).

        Raises:
            CallError: `resource-exhausted` over the limit.
            Exception: The call could not be counted.
        """
        at_most = times * self.staff_calls_an_hour
        refusal = f"You have reached the hourly limit of {at_most} calls of {call.function}"
        person = f"user {call.caller.uid}"
        self.rate_limits.keyed().require(call.function, person, at_most, refusal=refusal)

    def admit(self, call: Call, token: str, link: Link) -> tuple[str, ...]:
        """Count the call by its client's address and return the IDs in `token`.

        `TokenKeys.verify` describes the IDs.

        Raises:
            CallError: `resource-exhausted` over the rate limit, or the link is invalid.
            WeakKeyError: A version of the key of `link` is too short.
            Exception: Secret Manager is unavailable.
        """
        self._count(call, link)
        return link.verify(self.secrets, token, self.clock.now())

    def verify(self, call: Call, token: str, link: Link) -> tuple[str, ...]:
        """Return the IDs in `token`, and count only a call whose token is invalid.

        Many people share the address of a network or of an email provider, and each of them may
        change their own preferences.

        Raises:
            CallError, WeakKeyError, Exception: See `admit`.
        """
        try:
            return link.verify(self.secrets, token, self.clock.now())
        except CallError:
            self._count(call, link)
            raise

    def count_change(self, call: Call, link: Link, ids: Sequence[str]) -> None:
        """Count a change by the link whose token has these IDs, to limit the writes by one link.

        Raises:
            CallError: `resource-exhausted` over the rate limit.
        """
        limit, bearer = self.rate_limits.keyed(link.key), f"link {' '.join(ids)}"
        limit.require(call.function, bearer, refusal="There were too many changes by this link")

    def _count(self, call: Call, link: Link) -> None:
        client = self._client(call.request)
        self.rate_limits.keyed(link.key).require(call.function, client, link.calls_an_hour)

    def _client(self, request: flask.Request) -> str:
        forwarded_for = request.headers.get("X-Forwarded-For", "")
        peer = request.remote_addr or ""
        return client_address(forwarded_for, peer, trusted_hops=self.trusted_hops)


def client_address(forwarded_for: str, peer: str, *, trusted_hops: int) -> str:
    """Return the client's IPv4 address or IPv6 /64, as one canonical text (design 3.8).

    `forwarded_for` is the header `X-Forwarded-For`. It has text from the client, followed by the
    address that each proxy saw, the operator's own proxies last. Therefore the entries are counted
    from the right, and the last `trusted_hops` entries are skipped. If the chosen entry is not an
    address, the next entry to the right is used, which is more trustworthy. If no entry is an
    address, `peer` is used, the other end of the connection.
    """
    entries = forwarded_for.split(",")
    start = max(0, len(entries) - 1 - max(0, trusted_hops))
    for entry in (*entries[start:], peer):
        address = _parsed(entry.strip())
        if address is not None:
            return _network(address)
    return "unknown"


_WITH_PORT: Final = re.compile(r"\[(?P<v6>[^\]]*)\](?::\d+)?|(?P<v4>[\d.]+):\d+")


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port["v6"] or with_port["v4"] or ""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


_IPV6_PREFIX_BYTES: Final = 8
"""Length of a /64 prefix. A customer can use every address in a /64."""


def _network(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    prefix = address.packed[:_IPV6_PREFIX_BYTES]
    return f"{IPv6Address(prefix.ljust(len(address.packed), bytes(1)))}/64"
