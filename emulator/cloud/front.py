"""Google's front end: the functions' address, and Hosting's with the rewrites to functions."""

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from emulator.cloud import http
from emulator.cloud.environment import REGION
from emulator.cloud.eventarc import PATH, Announced, Eventarc
from emulator.cloud.functions import Functions
from emulator.firebase import PROJECT
from emulator.server import HOST
from tools.places import ROOT

SILENCE: Final = "/eventarc/silenced/"
"""With an event's id: after a PUT no trigger is called for writes to that event, and after a DELETE
triggers are called for later ones."""

_BASE: Final = f"/{PROJECT}/{REGION}/"
_BACKLOG: Final = 256
_HEAD_BYTES: Final = 1024 * 1024


_Serve = Callable[[http.Head, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Front:
    """Serves the functions' address and Hosting's until it is closed."""

    def __init__(
        self,
        functions: Functions,
        eventarc: Eventarc,
        pages: int,
        on_line: Callable[[str], None],
    ) -> None:
        """Serve nothing yet.

        Args:
            functions: The deployed functions.
            eventarc: Gets what Firestore announces.
            pages: The port at which Hosting's emulator has the pages.
            on_line: Called with a line about each request that no function has answered.
        """
        self._functions = functions
        self._eventarc = eventarc
        self._pages = pages
        self._on_line = on_line
        self._rewrites = rewrites()
        self._servers: list[asyncio.Server] = []
        # The event loop alone does not keep a request whose client has gone away.
        self._open: set[asyncio.Task[None]] = set()

    async def listen(self, functions: int, hosting: int) -> None:
        """Listen on these two ports."""
        for port, serve in ((functions, self._serve_functions), (hosting, self._serve_hosting)):
            accept = functools.partial(self._accept, serve)
            self._servers.append(
                await asyncio.start_server(accept, HOST, port, backlog=_BACKLOG, limit=_HEAD_BYTES)
            )

    def close(self) -> None:
        """Stop to listen."""
        for server in self._servers:
            server.close()

    def _accept(
        self, serve: _Serve, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        request = asyncio.create_task(self._answered(serve, reader, writer))
        self._open.add(request)
        request.add_done_callback(self._open.discard)

    async def _answered(
        self, serve: _Serve, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await serve(await http.read_head(reader), reader, writer)
        except EOFError:
            _answer(writer, 500)
        except (OSError, ValueError, TimeoutError) as error:
            self._on_line(f"the front end answers 500: {error!r}\n")
            _answer(writer, 500)
        finally:
            writer.close()

    async def _serve_functions(
        self, head: http.Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if head.target.startswith(PATH):
            name = head.target.removeprefix(PATH).partition("?")[0]
            body = await http.read_body(reader, head)
            self._eventarc.announce(Announced.read(name, head.headers, body))
            _answer(writer, 200)
        elif head.target.startswith(SILENCE):
            event_id = head.target.removeprefix(SILENCE)
            change = self._eventarc.silence if head.method == "PUT" else self._eventarc.hear
            change(event_id)
            _answer(writer, 200)
        elif head.target.startswith(_BASE):
            name, _, rest = head.target.removeprefix(_BASE).partition("/")
            name, mark, query = name.partition("?")
            await self._call(name, f"/{rest}{mark}{query}", head, reader, writer)
        else:
            _answer(writer, 404)

    async def _serve_hosting(
        self, head: http.Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if name := self._rewrites.get(head.target.partition("?")[0]):
            await self._call(name, head.target, head, reader, writer)
        else:
            await http.relay(reader, writer, head.forwarded_to(head.target), self._pages)

    async def _call(
        self,
        name: str,
        target: str,
        head: http.Head,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        if name not in self._functions:
            _answer(writer, 404)
            return
        port = await self._functions.port(name)
        await http.relay(reader, writer, head.forwarded_to(target), port)


def rewrites() -> Mapping[str, str]:
    """The names of the functions by the paths at which Hosting has them."""
    hosting = json.loads((ROOT / "firebase.json").read_text())["hosting"]
    return {rewrite["source"]: rewrite["function"]["functionId"] for rewrite in hosting["rewrites"]}


def _answer(writer: asyncio.StreamWriter, status: int) -> None:
    if not writer.is_closing():
        writer.write(b"HTTP/1.1 %d -\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" % status)
