"""The local front end relays a request and its response, in any order of their ends."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import pytest

from emulator.cloud.front_end import FrontEnd
from emulator.server import HOST

_GUARD_SECONDS: Final = 60.0
_BODY: Final = b"x" * 100_000
Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _answer(writer: asyncio.StreamWriter, status: str = "400 Bad Request") -> None:
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 4\r\n\r\nwhy?".encode())
    await writer.drain()


async def _at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Respond after the head without reading the body."""
    await reader.readuntil(b"\r\n\r\n")
    await _answer(writer)


async def _after_a_part(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await reader.read(1)
    await _answer(writer)


async def _after_the_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if b"chunked" in head.lower():
        await reader.readuntil(b"0\r\n\r\n")
    else:
        assert await reader.readexactly(len(_BODY)) == _BODY
    await _answer(writer, "200 OK")


async def _exchange(serve: Serve, request: bytes) -> tuple[bytes, bytes]:
    """Send `request` and return the status line and the body of the response."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve(reader, writer)
        await done.wait()  # a connection that ends before its input is read is reset
        writer.close()

    done = asyncio.Event()
    nothing: Any = {}
    server = await asyncio.start_server(served, HOST, 0)
    with socket.create_server((HOST, 0)) as one, socket.create_server((HOST, 0)) as other:
        ports = one.getsockname()[1], other.getsockname()[1]
    front_end = FrontEnd(nothing, nothing, server.sockets[0].getsockname()[1], lambda _: None)
    await front_end.listen(*ports)
    async with asyncio.timeout(_GUARD_SECONDS):
        reader, writer = await asyncio.open_connection(HOST, ports[1])
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(4)
        writer.close()
    done.set()
    front_end.close()
    server.close()
    return head.splitlines()[0], body


def _post(head: bytes, body: bytes) -> bytes:
    return b"POST /page HTTP/1.1\r\nHost: here\r\n" + head + b"\r\n\r\n" + body


@pytest.mark.parametrize("serve", [_at_once, _after_a_part])
@pytest.mark.parametrize(
    "request_",
    [
        _post(b"Content-Length: 1000", b"x" * 10),
        _post(b"Transfer-Encoding: chunked", b"3\r\nabc\r\n"),
        _post(b"Content-Length: 20000000", _BODY),
    ],
    ids=["short", "chunked", "long"],
)
def test_a_response_that_comes_before_the_requests_end_is_relayed(
    serve: Serve, request_: bytes
) -> None:
    """The client sends the rest of the body only after the response."""
    status, body = asyncio.run(_exchange(serve, request_))
    assert (status, body) == (b"HTTP/1.1 400 Bad Request", b"why?")


@pytest.mark.parametrize(
    "request_",
    [
        _post(b"Content-Length: %d" % len(_BODY), _BODY),
        _post(b"Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\n\r\n"),
    ],
    ids=["whole", "chunked"],
)
def test_a_whole_request_is_relayed(request_: bytes) -> None:
    """The server must get every byte."""
    status, _ = asyncio.run(_exchange(_after_the_body, request_))
    assert status == b"HTTP/1.1 200 OK"
