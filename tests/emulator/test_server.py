"""The life of a stand-in's server: what it leaves behind when it is closed."""

import socket
from http.server import BaseHTTPRequestHandler

import pytest

from emulator.server import HOST, LocalServer, StandIn

# Seconds.
LIMIT = 10.0


class Greeter(BaseHTTPRequestHandler):
    """Answers, and keeps the connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with nothing but a status."""
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_closing_cuts_connections_that_are_kept_alive_and_frees_the_port() -> None:
    """A client that keeps one cannot go on as if the server were there."""
    with StandIn(LocalServer(0, Greeter)) as server:
        client = socket.create_connection((HOST, server.port), LIMIT)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 204"

    with client:
        while client.recv(1000):
            pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, server.port), LIMIT)


def test_a_silent_client_holds_up_nobody_else() -> None:
    """Each connection has a thread of its own."""
    with (
        StandIn(LocalServer(0, Greeter)) as server,
        socket.create_connection((HOST, server.port), LIMIT),
        socket.create_connection((HOST, server.port), LIMIT) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")

        assert client.recv(12) == b"HTTP/1.1 204"
