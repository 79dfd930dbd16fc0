"""HTTP servers that stand in for others: they listen from their creation until they are closed."""

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
# Maximum time of a TLS handshake, and between two requests of a connection.
IDLE_TIMEOUT_SECONDS = 60.0
# Maximum delay before a server notices that it is being closed.
POLL_INTERVAL_SECONDS = 0.05


class LocalServer(ThreadingHTTPServer):
    """An HTTP or HTTPS server on this machine that can cut its connections.

    Attributes:
        accepted: Number of connections so far that completed their handshake.
    """

    daemon_threads = True
    # After an outage, many deliveries arrive at once.
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
        # The handshake runs in this thread, so that a silent client blocks only itself.
        request.settimeout(IDLE_TIMEOUT_SECONDS)
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
        """End every connection, including those with an unfinished request."""
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    # On the bare socket: the TLS layer belongs to the thread that reads.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error, unless the client closed its connection."""
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
"""The status, headers and body of a response."""

Respond: TypeAlias = Callable[[HttpRequest], HttpResponse | None]
"""Returns the response to a request, or None to cut the connection, in the request's thread."""


class StandIn:
    """A running server that stands in for an external one. Also a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(
        self, respond: Respond, *, port: int = 0, context: ssl.SSLContext | None = None
    ) -> None:
        """Start listening, with TLS if `context` is set. Port 0 means any free port.

        Raises:
            OSError: The port is in use.
        """
        handler = type("Handler", (_Handler,), {"respond": staticmethod(respond)})
        self._server = LocalServer(port, handler, context)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_INTERVAL_SECONDS,), daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and cut every connection. Recorded requests stay available."""
        self._server.shutdown()
        self._server.server_close()
        self._server.cut_connections()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    respond: Respond

    def _serve(self) -> None:
        response = self.respond(HttpRequest(self.command, self.path, self.headers, self._body()))
        if response is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers, body = response
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the library names them

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        """Print nothing."""
