"""The life of a stand-in's server: it listens from its making until it is closed."""

import contextlib
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self, TypeAlias

HOST = "127.0.0.1"
# Seconds that a connection may be idle between two requests, or a handshake may take.
IDLE_TIMEOUT = 60.0
# Seconds after which a closing server notices.
POLL_INTERVAL = 0.05


class LocalServer(ThreadingHTTPServer):
    """A server on this machine, with or without TLS, whose connections can be cut.

    Attributes:
        accepted: How many connections have been made so far, handshake included.
    """

    daemon_threads = True
    # An outage's worth of deliveries may come at once.
    request_queue_size = 128

    def __init__(
        self,
        port: int,
        handler: type[BaseHTTPRequestHandler],
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.accepted = 0
        self._context = context
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        super().__init__((HOST, port), handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection in its thread."""
        # The handshake belongs here and not into accept: a silent client must hold up itself only.
        request.settimeout(IDLE_TIMEOUT)
        try:
            connection = self._shaken(request)
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
        """End every connection, also in the middle of a request."""
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    # On the bare socket: the TLS layer belongs to the thread that reads.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong, unless it is a client that went away, as at its deadline."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def _shaken(self, request: socket.socket) -> socket.socket:
        if self._context is None:
            return request
        return self._context.wrap_socket(request, server_side=True)


class HttpRequest(NamedTuple):
    """A request as it arrived, with its whole body."""

    method: str
    path: str
    headers: Message
    body: bytes


HttpResponse: TypeAlias = tuple[int, Mapping[str, str], bytes]
"""The status, the headers and the body of an answer."""

Answer: TypeAlias = Callable[[HttpRequest], HttpResponse | None]
"""What a request is answered with, in its own thread; with None its connection is cut."""


class StandIn:
    """What stands in for a server of the world outside; a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(
        self, answer: Answer, *, port: int = 0, context: ssl.SSLContext | None = None
    ) -> None:
        """Start listening, on a free port where `port` is 0, and with TLS where `context` is given.

        Raises:
            OSError: The port is taken.
        """
        handler = type("Handler", (_Handler,), {"answer": staticmethod(answer)})
        self._server = LocalServer(port, handler, context)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_INTERVAL,), daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and cut every connection; what was received stays readable."""
        self._server.shutdown()
        self._server.server_close()
        self._server.cut_connections()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    answer: Answer

    def respond(self) -> None:
        reply = self.answer(HttpRequest(self.command, self.path, self.headers, self._body()))
        if reply is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers, body = reply
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815 - the library names them

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def answering(answer: Answer) -> StandIn:
    """A server on a free port, which sends to each request what `answer` makes of it."""
    return StandIn(answer)
