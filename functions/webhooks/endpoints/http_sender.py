"""One signed POST to a receiver that may mean harm.

Total deadline, public addresses only, no redirects, no body, a head of a bounded length, and
connections kept alive for some minutes.

The socket is made here, because nothing above it can promise that the address connected to is the
one that was checked, or that a deadline holds in total.
"""

import ssl
from collections.abc import Callable, Mapping
from typing import Final

from functions.webhooks.endpoints import addresses
from functions.webhooks.endpoints.answer_head import Answer
from functions.webhooks.endpoints.connections import Connection, connect, time_left
from functions.webhooks.endpoints.endpoint_url import EndpointUrl
from functions.webhooks.endpoints.failures import FAILURES, reason
from functions.webhooks.endpoints.idle_connections import IdleConnections
from functions.webhooks.endpoints.resolver import Resolver
from functions.webhooks.ports import Response, SendError

TIMEOUT_SECONDS: Final = 5.0
"""From the look-up of the name to the last header of the answer (spec 8)."""


class HttpSender:
    """Posts to receivers; one instance serves all threads of the process."""

    def __init__(
        self,
        tls: ssl.SSLContext,
        *,
        resolve: Resolver,
        monotonic: Callable[[], float],
        allow_loopback: bool = False,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Make a sender.

        Args:
            tls: which certificates are trusted; shared, because parsing a CA bundle costs more
                than a delivery.
            resolve: the addresses of a host and port.
            monotonic: seconds that only grow.
            allow_loopback: also send to this machine itself, for tests.
            timeout_seconds: the total deadline of one POST.
        """
        tls.options |= ssl.OP_NO_RENEGOTIATION  # work that only the other side decides on
        self._tls = tls
        self._resolve = resolve
        self._monotonic = monotonic
        self._allow_loopback = allow_loopback
        self._timeout_seconds = timeout_seconds
        self._idle = IdleConnections(monotonic)

    def post(self, to: EndpointUrl, headers: Mapping[str, str], body: bytes) -> Response:
        """POST `body` once and wait for the head of the answer.

        Raises:
            SendError: no HTTP status came back in time, or the address is not public.
        """
        deadline = self._monotonic() + self._timeout_seconds
        receiver = (to.host, to.port)
        connection = None
        try:
            connection = self._idle.take(receiver) or self._connect(to, deadline)
            connection.deadline = deadline
            connection.send(_head(to, headers, len(body)) + body)
            answer = Answer(connection)
            status = answer.status()
        except FAILURES as error:
            if connection:
                connection.close()
            raise SendError(reason(error, self._timeout_seconds)) from error
        if answer.discard(self._monotonic):
            self._idle.put(receiver, connection)
        else:
            connection.close()
        return Response(status)

    def close(self) -> None:
        """Close the idle connections."""
        self._idle.close()

    def _connect(self, to: EndpointUrl, deadline: float) -> Connection:
        found = self._resolve(to.host, to.port, time_left(deadline, self._monotonic))
        for _, address in found:
            self._check(address[0])
        plain = connect(found, deadline, self._monotonic)
        return Connection(plain, self._tls, to.host, deadline, self._monotonic)

    def _check(self, address: str) -> None:
        if addresses.is_public(address):
            return
        if self._allow_loopback and addresses.is_loopback(address):
            return
        raise SendError("the host's address is not a public one")


def _head(to: EndpointUrl, headers: Mapping[str, str], body_bytes: int) -> bytes:
    lines = [f"POST {to.path} HTTP/1.1", f"Host: {to.authority}", f"Content-Length: {body_bytes}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
