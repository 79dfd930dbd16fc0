"""Checks that ports are free before the service starts."""

import contextlib
import errno
import socket
from collections.abc import Iterator

import psutil

from tools.steps import SetupError

_ADVICE = (
    "End the program that uses it, and start again. "
    "Except for `test`, you can also move all ports, for example with --ports 200."
)


def check_ports(addresses: dict[str, str]) -> None:
    """Check that every port is free.

    Raises:
        SetupError: A port is in use. The text names it, its purpose and, if known, its process.
    """
    busy = [
        f"Port {port} is taken{holder}. It is needed for: {name}."
        for name, host, port in _ports(addresses)
        if (holder := _holder(host, port)) is not None
    ]
    if busy:
        raise SetupError("\n".join([*busy, _ADVICE]))


def _ports(addresses: dict[str, str]) -> Iterator[tuple[str, str, int]]:
    for name, address in addresses.items():
        host, _, port = address.rpartition(":")
        yield name, host, int(port)


def _holder(host: str, port: int) -> str | None:
    """Return a description of the process that listens on a port, or None if it is free."""
    with socket.socket() as probe:
        # As servers do, so that connections in TIME_WAIT don't count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise SetupError(f"{host}:{port} cannot be used: {error.strerror}") from error
        else:
            return None
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            address = connection.laddr
            if connection.status == psutil.CONN_LISTEN and address and address.port == port:
                return _describe(connection.pid)
    return ""


def _describe(pid: int | None) -> str:
    if pid is None:
        return ""
    with contextlib.suppress(psutil.Error):
        command = " ".join(psutil.Process(pid).cmdline())
        return f" by process {pid} ({command[:60]})"
    return f" by process {pid}"
