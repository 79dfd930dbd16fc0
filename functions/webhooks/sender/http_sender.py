"""One signed POST to a receiver that may mean harm.

Total deadline, public addresses only, no redirects, a head of a bounded length and
no more of the body than a record keeps, connections kept alive for some minutes, and a share of
each host for each event, of each address for each tenant.

The socket is made here, because nothing above it can promise that the address connected to is the
one that was checked, or that a deadline holds in total.
"""

import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from functions.recent import Recent
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender import addresses
from functions.webhooks.sender.answer_head import Answer
from functions.webhooks.sender.connections import Connection, SocketAddress, connect, time_left
from functions.webhooks.sender.failures import FAILURES, Failure, reason
from functions.webhooks.sender.host_limits import OF_A_TENANT, OF_AN_EVENT, HostLimits
from functions.webhooks.sender.idle_connections import IdleConnections
from functions.webhooks.sender.ports import HostLimitError, Response, SendError, Source

if TYPE_CHECKING:
    from functions.webhooks.sender.resolver import Resolver

TIMEOUT_SECONDS: Final = 5.0
"""From the look-up of the name to the last header of the answer (spec 8)."""

# Which events have had an answer from which receivers, as far as this process remembers.
_ANSWERED_SECONDS: Final = 86_400.0
_ANSWERED: Final = 10_000


class HttpSender:
    """Posts to receivers; one instance serves all threads of the process."""

    def __init__(
        self,
        tls: ssl.SSLContext,
        *,
        resolve: "Resolver",
        monotonic: Callable[[], float],
        allow_loopback: bool = False,
        timeout_seconds: float = TIMEOUT_SECONDS,
        of_an_event: int = OF_AN_EVENT,
        of_a_tenant: int = OF_A_TENANT,
    ) -> None:
        """Make a sender.

        Args:
            tls: which certificates are trusted; shared, because parsing a CA bundle costs more
                than a delivery.
            resolve: the addresses of a host and port.
            monotonic: seconds that only grow.
            allow_loopback: also send to this machine itself, for tests.
            timeout_seconds: the total deadline of one POST.
            of_an_event: how many POSTs of one event may be under way to one host,
            of_a_tenant: and of one tenant to one address.
        """
        tls.options |= ssl.OP_NO_RENEGOTIATION  # work that only the other side decides on
        self._tls = tls
        self._resolve = resolve
        self._monotonic = monotonic
        self._allow_loopback = allow_loopback
        self._timeout_seconds = timeout_seconds
        self._idle = IdleConnections(monotonic)
        self._of_events = HostLimits(of_an_event)
        self._of_tenants = HostLimits(of_a_tenant)
        self._answered: Recent[tuple[str, str, int], bool] = Recent(
            seconds=_ANSWERED_SECONDS, at_most=_ANSWERED, monotonic=monotonic
        )

    def post(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, source: Source
    ) -> Response:
        """POST `body` of the source once and wait for the head of the answer.

        A receiver that has not answered this event before could be anybody's machine. Until it
        has shown its certificate, the error gives no cause; only its `detail` does.

        Raises:
            HostLimitError: so many POSTs of the event are under way to the host, or of the tenant
                to one of its addresses.
            SendError: no HTTP status came back in time, or nothing may be sent there.
        """
        with self._of_events.under_way((source.event_id, to.host)):
            response = self._response(to, _head(to, headers, len(body)) + body, source)
        answered = (source.event_id, to.host, to.port)
        if not self._answered.get(answered):
            self._answered.put(answered, value=True)
        return response

    def close(self) -> None:
        """Close the idle connections."""
        self._idle.close()

    def _response(self, to: EndpointUrl, request: bytes, source: Source) -> Response:
        deadline = self._monotonic() + self._timeout_seconds
        receiver = (to.host, to.port)
        connection = self._idle.take(receiver)
        found: Sequence[SocketAddress] = []
        if connection is None:
            try:
                found = self._resolved(to, deadline)
            except FAILURES as error:
                raise self._unreached(error, to, source.event_id) from error
        # Each address of the name counts: which of them answers, only a connection shows.
        places = connection.places if connection else frozenset(one[0] for _, one in found)
        try:
            with self._of_tenants.under_way(*((source.tenant_id, place) for place in places)):
                if connection is None:
                    connection = self._connect(to, found, deadline, source)
                connection.places = places
                return self._exchange(connection, request, deadline, receiver)
        except HostLimitError:
            if connection:
                self._idle.put(receiver, connection)
            raise

    def _exchange(
        self, connection: Connection, request: bytes, deadline: float, receiver: tuple[str, int]
    ) -> Response:
        connection.deadline = deadline
        try:
            connection.send(request)
            answer = Answer(connection)
            status = answer.status()
        except FAILURES as error:
            connection.close()
            raise SendError(reason(error, self._timeout_seconds)) from error
        response = Response(status)
        if answer.discard(self._monotonic, excerpt=not response.acknowledges):
            self._idle.put(receiver, connection)
        else:
            connection.close()
        return response if response.acknowledges else Response(status, answer.excerpt)

    def _resolved(self, to: EndpointUrl, deadline: float) -> Sequence[SocketAddress]:
        found = self._resolve(to.host, to.port, time_left(deadline, self._monotonic))
        for _, address in found:
            self._check_address(address[0])
        return found

    def _connect(
        self, to: EndpointUrl, found: Sequence[SocketAddress], deadline: float, source: Source
    ) -> Connection:
        try:
            plain = connect(found, deadline, self._monotonic)
            return Connection(plain, self._tls, to.host, deadline, self._monotonic)
        except FAILURES as error:
            raise self._unreached(error, to, source.event_id) from error

    def _check_address(self, address: str) -> None:
        if addresses.is_public(address):
            return
        if self._allow_loopback and addresses.is_loopback(address):
            return
        raise SendError("the host's address is not a public one")

    def _unreached(self, error: Failure, to: EndpointUrl, event_id: str) -> SendError:
        why = reason(error, self._timeout_seconds)
        if isinstance(error, socket.gaierror) or self._answered.get((event_id, to.host, to.port)):
            return SendError(why)
        return SendError(
            "the receiver could not be reached: it has to answer HTTPS with a valid certificate"
            f" within {self._timeout_seconds:g} s",
            detail=why,
        )


def _head(to: EndpointUrl, headers: Mapping[str, str], body_bytes: int) -> bytes:
    lines = [f"POST {to.path} HTTP/1.1", f"Host: {to.authority}", f"Content-Length: {body_bytes}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
