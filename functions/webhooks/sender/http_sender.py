"""One signed POST to a receiver that may mean harm."""

import codecs
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from functions.recent import Recent
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender import addresses
from functions.webhooks.sender.adapter import PinnedAdapter
from functions.webhooks.sender.connections import Answer, NoAnswerError, NotConnectedError
from functions.webhooks.sender.failures import reason
from functions.webhooks.sender.host_limits import OF_A_TENANT, OF_AN_EVENT, HostLimits
from functions.webhooks.sender.ports import Resolver, Response, SendError, Source

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
        resolve: Resolver,
        monotonic: Callable[[], float],
        allow_loopback: bool = False,
        timeout_seconds: float = TIMEOUT_SECONDS,
        of_an_event: int = OF_AN_EVENT,
        of_a_tenant: int = OF_A_TENANT,
    ) -> None:
        """Make a sender that trusts what `tls` trusts.

        `resolve` looks names up, `monotonic` gives seconds, `timeout_seconds` is the total deadline
        of a POST; for the limits see `HostLimits`. `allow_loopback` is for the local suite.
        """
        self._adapter = PinnedAdapter(tls, monotonic)
        self.close = self._adapter.close
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
        """See `Sender`.

        A receiver that has not answered this event before could be anybody's machine. Until it
        has shown its certificate, the error gives no cause; only its `detail` does.
        """
        deadline = self._monotonic() + self._timeout_seconds
        found: frozenset[str] = frozenset()
        with self._of_events.under_way((source.event_id, to.host)):
            try:
                found = frozenset(self._resolve(to.host, self._timeout_seconds))
                self._check_addresses(found)
                # Each address of the name counts: which one answers, only a connection shows.
                with self._of_tenants.under_way(*((source.tenant_id, each) for each in found)):
                    left = deadline - self._monotonic()
                    answer = self._adapter.post(to, headers, body, found=found, seconds=left)
                    response = _read(answer)
            except (NoAnswerError, OSError, ValueError) as error:
                is_late = self._monotonic() >= deadline
                cause = TimeoutError() if is_late else error.__cause__ or error
                if not found or isinstance(error, NotConnectedError):
                    raise self._unreached(cause, to, source.event_id) from error
                raise SendError(reason(cause, self._timeout_seconds)) from error
        self._answered.put((source.event_id, to.host, to.port), value=True)
        return response

    def _check_addresses(self, found: Iterable[str]) -> None:
        for address in found:
            is_own = self._allow_loopback and addresses.is_loopback(address)
            if not (is_own or addresses.is_public(address)):
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
