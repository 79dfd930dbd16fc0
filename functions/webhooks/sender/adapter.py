"""The adapter of `requests` that posts to a receiver's checked addresses and to no others.

A watch ends each connection at its deadline. A time-out of a socket would begin anew with each
read, and OpenSSL reads records without data for as long as they come.
"""

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from urllib3 import HTTPSConnectionPool
from urllib3.connection import HTTPSConnection
from urllib3.util.connection import create_connection

from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender.answers import FAILURES, Answer

OPEN_AT_MOST: Final = 512
"""Open connections of a process; beyond that number, the longest idle one is closed."""

IDLE_SECONDS: Final = 60.0
_POOLS: Final = 512
_PLACES: Final = 80
"""Idle connections to one receiver: as many as an instance has threads."""
_ADDRESSES_TRIED: Final = 8  # of thousands each would get no time to answer
_TICK_SECONDS: Final = 0.1
_LET_GO_SECONDS: Final = 0.5  # before its end an idle connection serves no more

# urllib3 logs paths, which may hold keys.
logging.getLogger("urllib3").setLevel(logging.CRITICAL)


class NoAnswerError(Exception):
    """No status came; the cause says why. urllib3 and `requests` pass the error on as it is."""


class NotConnectedError(NoAnswerError):
    """The receiver has not even shown its certificate."""


class PinnedAdapter(HTTPAdapter):
    """Pools connections by name, port and checked addresses; serves all threads of a process."""

    def __init__(self, tls: ssl.SSLContext, monotonic: Callable[[], float]) -> None:
        """Trust what `tls` trusts; `monotonic` gives seconds that only grow."""
        super().__init__()
        tls.options |= ssl.OP_NO_RENEGOTIATION  # work that only the other side decides on
        self.tls = tls
        self.monotonic = monotonic
        self.open: set[PinnedConnection] = set()
        self.closed = threading.Event()
        self._pool_of = lru_cache(_POOLS)(partial(_Pool, maxsize=_PLACES, adapter=self))
        self._finding_pool = threading.Lock()  # the first POSTs to a receiver share its pool
        threading.Thread(target=self._watch, name="sender", daemon=True).start()

    def prepared(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, found: frozenset[str]
    ) -> Any:
        """A POST of `body` to one of the addresses `found`, for `send`.

        A session would add cookies, redirects, the environment's proxies and passwords, and 150 µs.
        """
        request: Any = PreparedRequest()
        request.method, request.url, request.body = "POST", to.path, body
        # A plain dict: one that folds case costs 30 µs.
        request.headers = {"Host": to.authority, "Content-Length": str(len(body)), **headers}
        with self._finding_pool:
            request.pool = self._pool_of(to.host, to.port, addresses=found)
        return request

    def get_connection_with_tls_context(self, request: Any, *_: Any, **__: Any) -> Any:
        """The pool of the request's receiver."""
        return request.pool

    def cert_verify(self, *_: Any) -> None:
        """Leave trust to the TLS context."""

    def request_url(self, request: Any, _: Any) -> str:
        """The path; there is no proxy."""
        return str(request.url)

    def build_response(self, _: Any, resp: Any) -> Any:
        """The answer as it is, without cookies or an encoding."""
        return resp

    def _watch(self) -> None:
        is_closed = False
        while not is_closed:
            is_closed = self.closed.wait(_TICK_SECONDS)
            for connection in self.open.copy():
                if is_closed or connection.deadline <= self.monotonic():
                    connection.end()


class PinnedConnection(HTTPSConnection):
    """A connection to one of the `addresses`, with a certificate for the host."""

    sock: Any
    timeout: Any  # seconds that are left of the POST, as urllib3 counts them
    is_idle = False
    deadline = 0.0  # of the POST, or of the idle connection

    def __init__(self, *, addresses: frozenset[str], adapter: PinnedAdapter, **how: Any) -> None:
        super().__init__(**how)
        # The order of a set is a process's own, so that instances spread over the addresses.
        self._addresses = list(addresses)[:_ADDRESSES_TRIED]
        self._adapter = adapter

    @property
    def is_connected(self) -> bool:
        """Whether an idle connection may serve the next request."""
        self.is_idle = False
        return self._seconds_left() > _LET_GO_SECONDS and super().is_connected

    def connect(self) -> None:
        """Connect and shake hands, or raise NotConnectedError."""
        self.end_after(self.timeout)
        try:
            plain = self._new_conn()
            # Unlike a read, a handshake keeps to the time-out as a whole.
            plain.settimeout(self._seconds_left())
            self.sock = self._adapter.tls.wrap_socket(plain, server_hostname=self.host)
        except FAILURES as error:
            raise NotConnectedError from error
        self.sock.settimeout(None)
        self._adapter.open.add(self)
        self.is_verified = True

    def _new_conn(self) -> socket.socket:
        """Connect to the first address that accepts; each gets an equal share of the time left."""
        for others, address in reversed(list(enumerate(self._addresses))):
            share = self._seconds_left() / (others + 1)
            try:
                return create_connection((address, self.port), share, None, self.socket_options)
            except OSError:
                if not others:
                    raise
        raise socket.gaierror("no address")

    def request(self, method: str, url: str, **how: Any) -> None:  # type: ignore[override]
        """Keep the request for one write of head and body: two cost a hundred microseconds."""
        fields = (f"{name}: {value}" for name, value in how["headers"].items())
        head = "\r\n".join([f"{method} {url} HTTP/1.1", *fields, "", ""])
        self._unsent = head.encode("ascii") + how["body"]

    def getresponse(self) -> Any:
        """Send the request and wait for the head of its answer, or raise NoAnswerError."""
        self.end_after(self.timeout)
        answer = Answer(self.sock)
        try:
            with suppress(BrokenPipeError):  # the answer may have come before
                self.sock.sendall(self._unsent)
            answer.begin()
        except FAILURES as error:
            raise NoAnswerError from error
        return answer

    def rest(self) -> None:
        """Wait for the next request, in place of the longest idle connection if too many do."""
        self.end_after(IDLE_SECONDS)
        self.is_idle = True
        if len(self._adapter.open) > OPEN_AT_MOST:
            idle = [found for found in self._adapter.open.copy() if found.is_idle]
            min(idle, key=lambda found: found.deadline).end_after(_LET_GO_SECONDS)

    def end_after(self, seconds: float) -> None:
        """Have the watch end the connection in some seconds."""
        self.deadline = self._adapter.monotonic() + seconds

    def end(self) -> None:
        """Close the connection, or have the thread that reads from it close it."""
        with suppress(OSError):
            if self.is_idle:
                self.close()
            elif sock := self.sock:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # TCP: TLS is being read

    def close(self) -> None:
        """Close the connection."""
        self._adapter.open.discard(self)
        super().close()

    def _seconds_left(self) -> float:
        return max(self.deadline - self._adapter.monotonic(), 0.001)


class _Pool(HTTPSConnectionPool):
    ConnectionCls = PinnedConnection  # type: ignore[assignment]
