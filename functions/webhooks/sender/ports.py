"""A POST to a receiver, as the worker asks for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from functions.webhooks.deliveries.endpoint_url import EndpointUrl

Resolver: TypeAlias = Callable[[str, float], Sequence[str]]
"""The IP addresses of a host, found in some seconds at most.

Raises TimeoutError where that is too short, and socket.gaierror where there are none.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """Whose POST it is."""

    tenant_id: str
    event_id: str


class SendError(Exception):
    """No HTTP status came back; the message says why, for the delivery's log.

    `detail` says more, for the service's own log alone.
    """

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Response:
    """The receiver's answer: its HTTP status, which alone decides anything.

    `excerpt` is the beginning of the body of an answer that acknowledges nothing, for people.
    """

    status: int
    excerpt: str | None = None


class Sender(Protocol):
    """Posts to receivers."""

    def post(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, source: Source
    ) -> Response:
        """POST `body` of the source once and wait five seconds at most for the answer's head.

        Raises:
            HostLimitError: the POST has to come later.
            SendError: no HTTP status came back in time, or nothing may be sent there.
        """
