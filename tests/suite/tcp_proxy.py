"""A TCP proxy on loopback whose connections a test may cut."""

import contextlib
import socket
import threading
from typing import Self


class TcpProxy:
    """Forwards TCP connections to `target`. Also a context manager."""

    def __init__(self, target: str) -> None:
        """Listen on a free port. `target` is `host:port`."""
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._changed = threading.Condition()
        self._is_cut = False
        self._refused = 0
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    @property
    def address(self) -> str:
        """The `host:port` for clients."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self._reset()

    def cut(self) -> None:
        """Drop all current and new connections."""
        with self._changed:
            self._is_cut = True
        self._reset()

    def restore(self) -> None:
        """Let connections through again."""
        with self._changed:
            self._is_cut = False

    def wait_for_refused(self, count: int, timeout: float) -> None:
        """Wait until `count` connections were dropped while the proxy was cut.

        Raises:
            TimeoutError: There were fewer after `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._refused >= count, timeout):
                raise TimeoutError(f"{self._refused} connections in {timeout} s")

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            with self._changed:
                if self._is_cut:
                    self._refused += 1
                    self._changed.notify_all()
                    return
            with socket.create_connection(self._target) as server:
                with self._changed:
                    self._open |= {client, server}
                back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
                back.start()
                self._pump(client, server)
                back.join()
                with self._changed:
                    self._open -= {client, server}

    def _reset(self) -> None:
        with self._changed:
            connections, self._open = self._open, set()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(65536):
                sink.sendall(chunk)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
