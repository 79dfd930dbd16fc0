"""The receiver's HTTPS server, with the requests that it got."""

import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.message import Message
from http import HTTPStatus
from pathlib import Path

from emulator.receiver.answers import Answer, Script, always
from emulator.receiver.request import Request, describe
from emulator.receiver.signature import signature_problem
from emulator.server import HttpRequest, HttpResponse, StandIn


class Receiver(StandIn):
    """A running receiver. Also a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(
        self,
        certificate: Path,
        *,
        port: int = 0,
        scripts: Mapping[str, Script] | None = None,
        secret_of: Callable[[str], str | None] | None = None,
        on_request: Callable[[Request], None] | None = None,
    ) -> None:
        """Start listening.

        Args:
            certificate: File with the private key and certificate chain.
            port: 0 means any free port.
            scripts: Scripts by path. A path without a script answers 404.
            secret_of: Returns an event's webhook secret. Without it, no signature is verified.
            on_request: Called with each request, in the request's thread.

        Raises:
            OSError: The port is in use.
        """
        self._scripts = dict(scripts or {})
        self._secret_of = secret_of
        self._on_request = on_request
        self._requests: list[Request] = []
        self._attempts: dict[tuple[str, str], int] = {}
        self._changed = threading.Condition()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._closing = threading.Event()
        super().__init__(self._respond, port=port, context=context)

    def close(self) -> None:
        """Stop listening and cut every connection, including those of delayed responses."""
        self._closing.set()
        super().close()

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"https://localhost:{self.port}{path}"

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, oldest first."""
        with self._changed:
            return tuple(self._requests)

    def to(self, path: str) -> tuple[Request, ...]:
        """Return every request to one path so far, oldest first."""
        return tuple(request for request in self.requests if request.path == path)

    @property
    def connections(self) -> int:
        """Number of connections so far that completed the TLS handshake."""
        return self._server.accepted

    def forget(self) -> None:
        """Remove every request and every count of attempts."""
        with self._changed:
            self._requests.clear()
            self._attempts.clear()

    def wait_for(
        self,
        predicate: Callable[[Sequence[Request]], bool],
        timeout: float,
    ) -> tuple[Request, ...]:
        """Wait until `predicate` accepts the requests so far, and return them.

        Args:
            predicate: Called with every request so far, oldest first.
            timeout: Seconds.

        Raises:
            TimeoutError: `predicate` still rejects them. The text lists the requests.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(tuple(self._requests)), timeout):
                seen = "\n".join(f"  {describe(request)}" for request in self._requests)
                raise TimeoutError(f"requests after {timeout} s:\n{seen or '  none'}")
            return tuple(self._requests)

    def _respond(self, received: HttpRequest) -> HttpResponse | None:
        answer = self._receive(received)
        if answer.delay and self._closing.wait(answer.delay):
            return None
        return answer.status, answer.headers, b""

    def _receive(self, received: HttpRequest) -> Answer:
        """Record a request and return the script's answer."""
        method, path, headers, body = received
        problem = self._problem(headers, body)
        key = (path, str(headers.get("Wall-Delivery-Id", "")))
        with self._changed:
            attempt = self._attempts[key] = self._attempts.get(key, 0) + 1
            script = self._scripts.get(path.partition("?")[0], always(HTTPStatus.NOT_FOUND))
            answer = script(attempt)
            request = Request(
                method=method,
                path=path,
                headers=headers,
                body=body,
                at=datetime.now(UTC),
                monotonic=time.monotonic(),
                attempt=attempt,
                problem=problem,
                status=int(answer.status),
            )
            self._requests.append(request)
            self._changed.notify_all()
        if self._on_request:
            self._on_request(request)
        return answer

    def _problem(self, headers: Message, body: bytes) -> str | None:
        if self._secret_of is None:
            return None
        secret = self._secret_of(str(headers.get("Wall-Event-Id", "")))
        if secret is None:
            return "the event has no secret"
        return signature_problem(headers.get("Wall-Signature"), body, secret, time.time())
