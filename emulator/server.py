"""The life of a stand-in's server: it listens from its making until it is closed."""

import contextlib
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

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


class StandIn:
    """What stands in for a server of the world outside; a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(self, server: LocalServer) -> None:
        """Start listening."""
        self._server = server
        self.port: int = server.server_address[1]
        self._thread = threading.Thread(
            target=server.serve_forever, args=(POLL_INTERVAL,), daemon=True
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
