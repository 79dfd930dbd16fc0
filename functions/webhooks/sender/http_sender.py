"""HTTP client for receivers, which may be hostile.

A tenant may direct many events, spellings of a host and wildcard names to another owner's server.
Therefore the number of concurrent requests of a process to one address is limited.
"""

import http.client
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from urllib3 import Timeout

from functions import cache, ports
from functions.webhooks.deliveries.delivery import ACKNOWLEDGING
from functions.webhooks.deliveries.endpoint_url import (
    BAD_PORTS,
    EndpointUrl,
    UnusableUrlError,
    is_loopback,
    is_public,
)
from functions.webhooks.sender.adapter import ANSWER_BYTES, HEAD_LINES, NoAnswerError, PinnedAdapter
from functions.webhooks.worker import HostLimitError, Response, SendError, Source

if TYPE_CHECKING:
    from functions.webhooks.sender.resolver import SystemResolver

EXCERPT_BYTES: Final = 1024
"""Maximum bytes of the body of a response that is not 2xx, for the delivery's log."""

# Control characters except line feeds and tabs: invisible, or change the layout of the text.
_CONTROLS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})


def excerpt(body: bytes) -> str | None:
    """Return the text of `body`, at most `EXCERPT_BYTES`, or None if the text is empty.

    Invalid UTF-8 is replaced, and control characters are removed.
    """
    text = body.decode(errors="replace").translate(_CONTROLS)
    return text.encode()[:EXCERPT_BYTES].decode(errors="ignore").strip() or None


TIMEOUT_SECONDS: Final = 5.0
"""Maximum seconds from the DNS lookup to the last header of the response (spec 8)."""

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
"""Reasons for a missing response. Each text is free of data from the request and response."""


OF_AN_EVENT: Final = 40
"""Concurrent POSTs of one event to one host, per process: two messages at 20 URLs."""

OF_A_TENANT: Final = 80
"""Concurrent POSTs of one tenant to one address, per process: two such events."""


class ConcurrencyLimit:
    """Limit of concurrent requests per key. Shared by all threads."""

    def __init__(self, at_a_time: int) -> None:
        """Create a limit of `at_a_time` concurrent requests per key."""
        self._at_a_time = at_a_time
        self._in_use: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def acquire(self, *keys: Hashable) -> Iterator[None]:
        """Count one running request for each of the distinct `keys`.

        Raises:
            HostLimitError: One of the keys has reached the limit.
        """
        with self._lock:
            if any(self._in_use[key] >= self._at_a_time for key in keys):
                raise HostLimitError
            for key in keys:
                self._in_use[key] += 1
        try:
            yield
        finally:
            with self._lock:
                for key in keys:
                    self._in_use[key] -= 1
                    if not self._in_use[key]:
                        del self._in_use[key]


@dataclass(eq=False, kw_only=True)
class HttpSender:
    """HTTP client for receivers. Shared by all threads of the process."""

    adapter: PinnedAdapter
    clock: ports.Clock
    may_be_loopback: bool = False
    """Whether a receiver may have a loopback address, as in local tests."""
    timeout_seconds: float = TIMEOUT_SECONDS
    per_event: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(OF_AN_EVENT))
    per_tenant: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(OF_A_TENANT))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Create the cache of the receivers that answered an event in the last day."""
        self._answered: cache.TtlCache[tuple[str, str, int], bool] = cache.TtlCache(
            self.clock, seconds=86_400.0
        )

    @cache.lazy_property
    def resolver(self) -> "SystemResolver":
        """DNS resolver. Created on first use, because its library loads slowly."""
        from functions.webhooks.sender.resolver import SystemResolver  # noqa: PLC0415

        return SystemResolver(self.clock)

    def post(self, url: str, headers: Mapping[str, str], body: bytes, source: Source) -> Response:
        """POST `body` to `url` (see `Sender`).

        A receiver that has not answered this event in the last day may belong to anyone. Unless its
        certificate was verified, the message of a `SendError` does not have the reason of the
        failure. Only the error's cause has it.
        """
        try:
            to = EndpointUrl.parse(url)
        except UnusableUrlError as unusable:  # the rule may be newer than the delivery
            raise SendError(str(unusable)) from None
        if to.port in BAD_PORTS:
            raise SendError("the URL's port is blocked")
        ends = self.clock.monotonic() + self.timeout_seconds
        receiver = (source.event_id, to.host, to.port)
        with self.per_event.acquire((source.event_id, to.host)):
            try:
                addresses = frozenset(self.resolver.resolve(to.host, self.timeout_seconds))
                if not all(map(self._is_allowed, addresses)):
                    raise SendError("the host's address is not a public one")
                # All addresses count, because the address to connect to is not known yet.
                with self.per_tenant.acquire(*((source.tenant_id, each) for each in addresses)):
                    request = self.adapter.prepared(to, headers, body, addresses, source.tenant_id)
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
                may_report = type(error) is NoAnswerError or isinstance(cause, socket.gaierror)
                if may_report or self._answered.get(receiver):
                    raise SendError(why) from error
                raise SendError(
                    "the receiver could not be reached: it must answer HTTPS with a valid"
                    f" certificate within {self.timeout_seconds:g} s"
                ) from SendError(why)
        self._answered.put(receiver, value=True)
        return Response(answer.status, None if acknowledges else excerpt(body))

    def _is_allowed(self, address: str) -> bool:
        return is_public(address) or (self.may_be_loopback and is_loopback(address))
