"""A POST to a receiver, as the worker asks for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from functions.webhooks.deliveries.endpoint_url import EndpointUrl


@dataclass(frozen=True, slots=True)
class Source:
    """Whose POST it is."""

    tenant_id: str
    event_id: str


class SendError(Exception):
    """No HTTP status came back; the message says why, for the delivery's log.

    Where the cause is a `SendError` as well, it says more, for the service's own log alone.
    """


@dataclass(frozen=True, slots=True)
class Response:
    """The receiver's answer: its HTTP status, which alone decides anything.

    `excerpt` is the beginning of the body of an answer that acknowledges nothing, for people.
    """

    status: int
    excerpt: str | None = None


Sender: TypeAlias = Callable[[EndpointUrl, Mapping[str, str], bytes, Source], Response]
"""POSTs a body of the source once, and waits five seconds at most for the answer's head.

Raises `HostLimitError` where the POST has to come later, and `SendError` where no HTTP status came
back in time, or nothing may be sent there.
"""
