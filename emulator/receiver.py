"""A webhook receiver for this machine: HTTPS, scripted answers, verified signatures.

It stands where a customer's server stands, and so knows the specification's receiver side only;
it shares no code with the service that signs.

    with Receiver(certificates.SERVER, secret_of=lambda event_id: secret) as receiver:
        receiver.script("/flaky", fails(2))
        ...  # have the service call receiver.url("/flaky")
        receiver.wait_for(lambda seen: any(r.verified for r in seen), timeout=10)
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message
    from pathlib import Path
    from types import TracebackType

HOST = "127.0.0.1"
# Seconds by which a signature's time may differ from now (spec 5, receiver side, step 2).
SIGNATURE_TOLERANCE = 300
# Seconds that a connection may be idle between two requests, or a handshake may take.
IDLE_TIMEOUT = 60.0
# Bytes; nothing that the service sends comes near.
MAX_BODY = 10_000_000

_UNIX_SECONDS = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver answers to one request.

    Attributes:
        status: The HTTP status.
        delay: Seconds of silence before the answer.
        headers: Further headers, for example a redirect's Location.
        drip: Seconds between two bytes of the status line and headers; 0 sends all at once.
    """

    status: int = HTTPStatus.OK
    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    drip: float = 0.0


# Chooses the answer to the n-th request (from 1) of one delivery to one path.
Script = Callable[[int], Answer]


def always(status: int = HTTPStatus.OK) -> Script:
    """Answer every request alike."""
    return lambda _attempt: Answer(status)


def fails(times: int, status: int = HTTPStatus.INTERNAL_SERVER_ERROR) -> Script:
    """Fail the first requests of each delivery, then recover."""
    return lambda attempt: Answer(status if attempt <= times else HTTPStatus.OK)


def slow(seconds: float, status: int = HTTPStatus.OK) -> Script:
    """Answer late."""
    return lambda _attempt: Answer(status, delay=seconds)


def drips(seconds: float) -> Script:
    """Answer byte by byte, so that every single read is in time and the whole never ends."""
    return lambda _attempt: Answer(drip=seconds)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived.

    Attributes:
        method: The HTTP method; the service uses POST only.
        path: The path with its query.
        headers: Looked up without regard to case.
        body: The raw bytes, which the signature covers.
        at: When the body was complete, by the wall clock.
        monotonic: The same in seconds of the monotonic clock, for measuring distances.
        attempt: The how-manieth request of this delivery to this path it is, from 1.
        problem: Why the signature was refused; empty when it was verified, and None when the
            receiver knows no secrets.
        status: The status that it is answered with.
    """

    method: str
    path: str
    headers: Message
    body: bytes
    at: datetime
    monotonic: float
    attempt: int
    problem: str | None
    status: int

    @property
    def verified(self) -> bool:
        """Tell whether the signature was checked and is right."""
        return self.problem == ""

    @property
    def event_type(self) -> str:
        """Return the event type, as the header has it."""
        return str(self.headers.get("Wall-Event-Type", ""))

    @property
    def event_id(self) -> str:
        """Return the event's id, as the header has it."""
        return str(self.headers.get("Wall-Event-Id", ""))

    @property
    def delivery_id(self) -> str:
        """Return the delivery's id, as the header has it."""
        return str(self.headers.get("Wall-Delivery-Id", ""))

    def json(self) -> dict[str, Any]:
        """Return the body, parsed.

        Raises:
            ValueError: It is no JSON object.
        """
        parsed = json.loads(self.body)
        if not isinstance(parsed, dict):
            raise ValueError("the body is no JSON object")  # noqa: TRY004 - json's own error
        return parsed


def signature_problem(header: str | None, body: bytes, secret: str, now: float) -> str:
    """Check `Wall-Signature` as a receiver must (spec 5, receiver side).

    Args:
        header: The header's value, None where there is none.
        body: The raw request body.
        secret: The event's webhook secret.
        now: Seconds since the epoch.

    Returns:
        Why the request is to be rejected; empty when it is genuine.
    """
    parts = dict(part.strip().partition("=")[::2] for part in (header or "").split(","))
    timestamp, given = parts.get("t"), parts.get("v1")
    if not timestamp or not given:
        return "t or v1 is missing"
    if not _UNIX_SECONDS.fullmatch(timestamp):
        return "t is not a number of seconds"
    if abs(now - int(timestamp)) > SIGNATURE_TOLERANCE:
        return f"t is more than {SIGNATURE_TOLERANCE} seconds away"
    signed = timestamp.encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    # As bytes: compare_digest refuses text beyond ASCII.
    if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace")):
        return "v1 does not match"
    return ""


class Receiver:
    """A running receiver; a context manager.

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
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Start listening.

        Args:
            certificate: File with the private key and certificate chain.
            port: 0 takes any free one.
            scripts: Answers by path; a path without a script answers 404.
            secret_of: Looks up an event's webhook secret. Without it nothing is verified.
            on_request: Called, in the request's thread, with each request as it is answered.
            clock: Seconds since the epoch.

        Raises:
            OSError: The port is taken.
        """
        self._scripts = dict(scripts or {})
        self._secret_of = secret_of
        self._on_request = on_request
        self._clock = clock
        self._requests: list[Request] = []
        self._attempts: dict[tuple[str, str], int] = {}
        self._changed = threading.Condition()
        self._closing = threading.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server = _Server((HOST, port), self, context)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and cut every connection; what was received stays readable."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.cut_connections()
        self._thread.join()

    def url(self, path: str, host: str = "localhost") -> str:
        """Return the address of a path."""
        return f"https://{host}:{self.port}{path}"

    def script(self, path: str, script: Script) -> None:
        """Set what a path answers from now on."""
        with self._changed:
            self._scripts[path] = script

    @property
    def requests(self) -> tuple[Request, ...]:
        """Return every request so far, oldest first."""
        with self._changed:
            return tuple(self._requests)

    def to(self, path: str) -> tuple[Request, ...]:
        """Return every request to one path so far, oldest first."""
        return tuple(request for request in self.requests if request.path == path)

    @property
    def connections(self) -> int:
        """Return how many connections have shaken hands so far."""
        return self._server.accepted

    def forget(self) -> None:
        """Forget every request and every count of attempts."""
        with self._changed:
            self._requests.clear()
            self._attempts.clear()

    def wait_for(
        self,
        predicate: Callable[[Sequence[Request]], bool],
        timeout: float,
    ) -> tuple[Request, ...]:
        """Wait until the requests so far satisfy a predicate, and return them.

        Args:
            predicate: Given every request so far, oldest first.
            timeout: Seconds.

        Raises:
            TimeoutError: They do not in time; the text lists what arrived.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(tuple(self._requests)), timeout):
                seen = "\n".join(f"  {describe(request)}" for request in self._requests)
                raise TimeoutError(f"after {timeout} s there were only:\n{seen or '  none'}")
            return tuple(self._requests)

    def _receive(self, method: str, path: str, headers: Message, body: bytes) -> Answer:
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
                at=datetime.fromtimestamp(self._clock(), UTC),
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
        return signature_problem(headers.get("Wall-Signature"), body, secret, self._clock())


def describe(request: Request) -> str:
    """Return a request in one line."""
    verdict = {"": "signature verified", None: "not verified"}.get(
        request.problem,
        f"REJECTED: {request.problem}",
    )
    return (
        f"{request.at:%H:%M:%S}.{request.at.microsecond // 1000:03} {request.path}"
        f" {request.event_type or request.method} delivery {request.delivery_id[:8] or '?'}"
        f" attempt {request.attempt} {verdict}, answered {request.status}"
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # An outage's worth of deliveries may come at once.
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        receiver: Receiver,
        context: ssl.SSLContext,
    ) -> None:
        self.receiver = receiver
        self.context = context
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        self.accepted = 0
        super().__init__(address, _Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        # The handshake belongs here and not into accept: a silent client must hold up itself only.
        request.settimeout(IDLE_TIMEOUT)
        try:
            connection = self.context.wrap_socket(request, server_side=True)
        except OSError:
            request.close()
            return
        with self._connections_lock:
            self._connections.add(connection)
            self.accepted += 1
        try:
            super().process_request_thread(connection, client_address)
        finally:
            with self._connections_lock:
                self._connections.discard(connection)

    def cut_connections(self) -> None:
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    # On the bare socket: the TLS layer belongs to the thread that reads.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that goes away, for example at its deadline, is no news.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isdecimal():
            self.close_connection = True
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
            return
        if int(length) > MAX_BODY:
            self.close_connection = True
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        receiver = self.server.receiver
        answer = receiver._receive(self.command, self.path, self.headers, body)  # noqa: SLF001
        closing = receiver._closing  # noqa: SLF001
        if answer.delay and closing.wait(answer.delay):
            self.close_connection = True
            return
        if answer.drip:
            self._drip(answer, closing)
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    # Whatever the method: that no redirect is followed with a GET can be seen only if it is kept.
    do_GET = do_PUT = do_POST  # noqa: N815 - http.server looks them up by these names

    def _drip(self, answer: Answer, closing: threading.Event) -> None:
        self.close_connection = True
        head = f"HTTP/1.1 {answer.status:d} \r\nContent-Length: 0\r\n\r\n".encode()
        for byte in head:
            self.wfile.write(bytes([byte]))
            if closing.wait(answer.drip):
                return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: `on_request` is for whoever wants to see."""
