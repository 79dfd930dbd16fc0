"""One signed POST to a receiver that may mean harm.

Total deadline, public addresses only, no redirects, a head of a bounded length and
no more of the body than a record keeps, connections kept alive for some minutes, and a share of
each host for each event, of each address for each tenant.
"""

import codecs
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from functions.recent import Recent
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender import addresses
from functions.webhooks.sender.adapter import PinnedAdapter
from functions.webhooks.sender.connections import Answer, Bounds, NotConnectedError
from functions.webhooks.sender.failures import FAILURES, causes, reason
from functions.webhooks.sender.host_limits import OF_A_TENANT, OF_AN_EVENT, HostLimits
from functions.webhooks.sender.ports import Response, SendError, Source

if TYPE_CHECKING:
    from functions.webhooks.sender.resolver import Resolver

TIMEOUT_SECONDS: Final = 5.0
"""From the look-up of the name to the last header of the answer (spec 8)."""

EXCERPT_BYTES: Final = 1024
"""Bytes of a body that are kept: what a developer at the receiver needs to see why."""

# A short body is read so that its connection can serve the next delivery; a longer or slower one
# costs more than the handshake it would save.
_BODY_BYTES: Final = 4096
_BODY_SECONDS: Final = 0.1

# Nothing of them shows, and some of them move what does. Line ends and tabs stay.
_CONTROLS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})
_UTF8: Final = codecs.getincrementaldecoder("utf-8")

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
        """Make a sender that trusts what `tls` trusts.

        `resolve` looks names up, `monotonic` gives seconds, `timeout_seconds` is the total deadline
        of a POST. So many POSTs `of_an_event` may be under way to one
        host, and `of_a_tenant` to one address. `allow_loopback` is for tests.
        """
        self._adapter = PinnedAdapter(tls, monotonic)
        self._resolve = resolve
        self._monotonic = monotonic
        self._allow_loopback = allow_loopback
        self._timeout_seconds = timeout_seconds
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
            response = self._response(to, headers, body, source)
        answered = (source.event_id, to.host, to.port)
        if not self._answered.get(answered):
            self._answered.put(answered, value=True)
        return response

    def close(self) -> None:
        """Close the idle connections."""
        self._adapter.close()

    def _response(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, source: Source
    ) -> Response:
        bounds = Bounds(self._monotonic)
        bounds.begin(self._timeout_seconds)
        try:
            found = frozenset(self._resolve(to.host, to.port, bounds.seconds_left()))
        except FAILURES as error:
            raise self._unreached(error, to, source.event_id) from error
        places = {address[0] for _, address in found}
        for place in places:
            self._check_address(place)
        # Each address of the name counts: which of them answers, only a connection shows.
        with self._of_tenants.under_way(*((source.tenant_id, place) for place in places)):
            try:
                left = bounds.seconds_left()
                answer = self._adapter.post(to, headers, body, found=found, seconds=left)
            except FAILURES as error:
                chain = causes(error)
                late = self._monotonic() >= bounds.deadline
                cause = TimeoutError() if late else chain[-1]
                if any(isinstance(link, NotConnectedError) for link in chain):
                    raise self._unreached(cause, to, source.event_id) from error
                raise SendError(reason(cause, self._timeout_seconds)) from error
            return _read(answer)

    def _check_address(self, address: str) -> None:
        if addresses.is_public(address):
            return
        if self._allow_loopback and addresses.is_loopback(address):
            return
        raise SendError("the host's address is not a public one")

    def _unreached(self, error: BaseException, to: EndpointUrl, event_id: str) -> SendError:
        why = reason(error, self._timeout_seconds)
        if isinstance(error, socket.gaierror) or self._answered.get((event_id, to.host, to.port)):
            return SendError(why)
        return SendError(
            "the receiver could not be reached: it has to answer HTTPS with a valid certificate"
            f" within {self._timeout_seconds:g} s",
            detail=why,
        )


def _read(answer: Answer) -> Response:
    """What a record keeps of an answer; its connection rests where the body ends soon."""
    acknowledges = Response(answer.status).acknowledges
    at_most = 0 if acknowledges and answer.will_close else _BODY_BYTES
    body = answer.finish(_BODY_SECONDS, at_most)
    return Response(answer.status, None if acknowledges else _excerpt(body))


def _excerpt(body: bytes) -> str | None:
    """How `body` begins, as text: at most `EXCERPT_BYTES` of UTF-8.

    Bytes that are not UTF-8 are replaced, control characters left out. None if no text is left.
    """
    text = _UTF8("replace").decode(body[:EXCERPT_BYTES]).translate(_CONTROLS)
    # Bytes that are no text grow threefold.
    return text.encode()[:EXCERPT_BYTES].decode(errors="ignore").strip() or None
