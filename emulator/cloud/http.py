"""As much of HTTP/1.1 as Google's front end needs to talk to a function, for one event loop."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from emulator.server import HOST

NO_ANSWER: Final = 0
"""The status of a call that no answer came to."""

SUCCESSES: Final = range(200, 300)

_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request; names of headers in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    lines: tuple[bytes, ...]

    def forwarded_to(self, target: str) -> bytes:
        """The head for another `target`, on a connection that ends with the answer."""
        kept = [line for line in self.lines if not line.lower().startswith(b"connection:")]
        first = f"{self.method} {target} HTTP/1.1".encode()
        return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


async def read_head(reader: asyncio.StreamReader) -> Head:
    """Read the head of a request.

    Raises:
        ValueError: It is none.
        EOFError: The client went away.
    """
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise ValueError("too long") from error
    first, *lines = text.removesuffix(b"\r\n\r\n").split(b"\r\n")
    method, target, _ = first.decode("latin-1").split(" ", 2)
    pairs = (line.decode("latin-1").partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Head(method, target, headers, tuple(lines))


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes:
    """Read the body of the request that begins with `head`."""
    if head.headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(head.headers.get("content-length", "0")))
    pieces = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        pieces.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(pieces)


async def post(port: int, headers: Mapping[str, str], body: bytes, seconds: float) -> int:
    """POST to a function; the status, `NO_ANSWER` where none came within so many seconds."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    first = ["POST / HTTP/1.1", f"Host: {HOST}:{port}", "Connection: close"]
    head = "\r\n".join([*first, *lines, f"Content-Length: {len(body)}", "", ""])
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                writer.write(head.encode("latin-1") + body)
                answer = await reader.read()
                return int(answer.split(b" ", 2)[1])
            finally:
                writer.close()
    except (OSError, ValueError, IndexError):
        return NO_ANSWER


async def relay(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes, port: int
) -> None:
    """Pass a request on to a server on this machine as it comes, and the answer back.

    Raises:
        OSError: Nobody listens there.
    """
    there, to_there = await asyncio.open_connection(HOST, port)
    to_there.write(head)
    asking = asyncio.create_task(_pump(reader, to_there))
    try:
        await _pump(there, writer)
    finally:
        asking.cancel()
        to_there.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
