"""One signed POST to a receiver that may mean harm."""

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from urllib3 import Timeout

from functions.recent import Recent
from functions.webhooks.deliveries.delivery import ACKNOWLEDGING
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender import addresses
from functions.webhooks.sender.adapter import NoAnswerError, NotConnectedError, PinnedAdapter
from functions.webhooks.sender.answers import ANSWER_BYTES, Answer
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

# Which events have had an answer from which receivers, as far as this process remembers.
_ANSWERED_SECONDS: Final = 86_400.0
_ANSWERED: Final = 10_000

_REASONS: Final[Sequence[tuple[type[BaseException], str]]] = (
    (TimeoutError, "no answer within {seconds:g} s"),
    (socket.gaierror, "the host name does not resolve"),
    (ssl.SSLCertVerificationError, "the certificate is not valid: {error.verify_message}"),
    (ssl.SSLError, "the TLS handshake failed"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionError, "the connection was closed before the answer"),
    (OSError, "the host cannot be reached"),
    (http.client.LineTooLong, f"the answer's head is longer than {ANSWER_BYTES // 1024} KB"),
    (BaseException, "the answer is not HTTP"),
)
"""Why no answer came, in words that hold nothing of the request or the answer."""


@dataclass(eq=False, kw_only=True)
class HttpSender:
    """Posts to receivers; one instance serves all threads of the process."""

    tls: ssl.SSLContext
    """With the authorities that are trusted."""
    resolve: Resolver
    monotonic: Callable[[], float]
    allow_loopback: bool = False
    """For the local suite."""
    timeout_seconds: float = TIMEOUT_SECONDS
    of_an_event: int = OF_AN_EVENT
    of_a_tenant: int = OF_A_TENANT

    def __post_init__(self) -> None:
        """Nothing is connected yet."""
        self._adapter = PinnedAdapter(self.tls, self.monotonic)
        self.close = self._adapter.closed.set
        self._of_events = HostLimits(self.of_an_event)
        self._of_tenants = HostLimits(self.of_a_tenant)
        self._answered: Recent[tuple[str, str, int], bool] = Recent(
            seconds=_ANSWERED_SECONDS, at_most=_ANSWERED, monotonic=self.monotonic
        )

    def post(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, source: Source
    ) -> Response:
        """See `Sender`.

        A receiver that has not answered this event before could be anybody's machine. Until it
        has shown its certificate, the error gives no cause; only its `detail` does.
        """
        deadline = self.monotonic() + self.timeout_seconds
        found: frozenset[str] = frozenset()
        with self._of_events.under_way((source.event_id, to.host)):
            try:
                found = frozenset(self.resolve(to.host, self.timeout_seconds))
                if not all(map(self._is_allowed, found)):
                    raise SendError("the host's address is not a public one")
                # Each address of the name counts: which one answers, only a connection shows.
                with self._of_tenants.under_way(*((source.tenant_id, each) for each in found)):
                    request = self._adapter.prepared(to, headers, body, found)
                    timeout: Any = Timeout(total=deadline - self.monotonic())
                    answer: Any = self._adapter.send(request, timeout=timeout)
                    response = _read(answer)
            except (NoAnswerError, OSError, ValueError) as error:
                is_late = self.monotonic() >= deadline
                cause = TimeoutError() if is_late else error.__cause__ or error
                why = next(text for kind, text in _REASONS if isinstance(cause, kind))
                why = why.format(error=cause, seconds=self.timeout_seconds)
                is_told = self._answered.get((source.event_id, to.host, to.port)) or (
                    isinstance(cause, socket.gaierror)
                )
                if is_told or (found and not isinstance(error, NotConnectedError)):
                    raise SendError(why) from error
                raise SendError(
                    "the receiver could not be reached: it has to answer HTTPS with a valid"
                    f" certificate within {self.timeout_seconds:g} s",
                    detail=why,
                ) from error
        self._answered.put((source.event_id, to.host, to.port), value=True)
        return response

    def _is_allowed(self, address: str) -> bool:
        is_own = self.allow_loopback and addresses.is_loopback(address)
        return is_own or addresses.is_public(address)


def _read(answer: Answer) -> Response:
    """What a record keeps of an answer: of one that acknowledges nothing, how its body begins.

    The text is at most `EXCERPT_BYTES` of UTF-8. Bytes that are not UTF-8 are replaced, control
    characters left out. None if no text is left.
    """
    acknowledges = answer.status in ACKNOWLEDGING
    at_most = 0 if acknowledges and answer.will_close else _BODY_BYTES
    text = answer.finish(_BODY_SECONDS, at_most).decode(errors="replace").translate(_CONTROLS)
    excerpt = text.encode()[:EXCERPT_BYTES].decode(errors="ignore").strip()
    return Response(answer.status, None if acknowledges else excerpt or None)
