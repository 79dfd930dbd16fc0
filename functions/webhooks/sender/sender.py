"""A POST to a receiver, and how many POSTs a process makes to a machine at a time.

A tenant may have many events, spellings of a host and names below a wildcard, all of which lead to
somebody else's machine.
"""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

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


class Sender(Protocol):
    """Posts to receivers; one instance serves all threads."""

    def post(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, source: Source
    ) -> Response:
        """POST `body` once, and wait at most five seconds for the answer's head.

        Raises:
            HostLimitError: the POST has to come later.
            SendError: no HTTP status came back in time, or nothing may be sent there.
        """


OF_AN_EVENT: Final = 40
"""Concurrent POSTs of one event to one host, per process: two messages at 20 URLs."""

OF_A_TENANT: Final = 80
"""Concurrent POSTs of one tenant to one address, per process: two such events."""


class HostLimitError(Exception):
    """The event or its tenant has as many POSTs under way there as it may; nothing was sent."""


class HostLimits:
    """Gives turns; one instance serves all threads."""

    def __init__(self, at_a_time: int) -> None:
        """`at_a_time` is how many POSTs may be under way under one key."""
        self._at_a_time = at_a_time
        self._under_way: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def under_way(self, *keys: Hashable) -> Iterator[None]:
        """One POST that counts under each of the different `keys`.

        Raises:
            HostLimitError: as many are under way already, under one of them.
        """
        with self._lock:
            if any(self._under_way[key] >= self._at_a_time for key in keys):
                raise HostLimitError
            for key in keys:
                self._under_way[key] += 1
        try:
            yield
        finally:
            with self._lock:
                for key in keys:
                    self._under_way[key] -= 1
                    if not self._under_way[key]:
                        del self._under_way[key]
