"""A stand-in for Google's front end: the functions' address, and Hosting with its rewrites."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import httpcore
import httpx
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from emulator.cloud import http
from emulator.cloud.eventarc import PATH, AnnouncedWrite, Eventarc
from emulator.cloud.functions import Functions
from emulator.firebase import PROJECT
from emulator.server import HOST
from functions.ports import LOCATION
from tools.paths import ROOT

SILENCE: Final = "/eventarc/silenced/"
"""Path, followed by an event's ID, that stops (PUT) or resumes (DELETE) the event's triggers."""

_BASE: Final = f"/{PROJECT}/{LOCATION}/"
_BACKLOG: Final = 256
_HEAD_BYTES: Final = 1024 * 1024
_REST_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.05
"""Interval of the checks for an early response while the front end waits for the client."""
_OF_ONE_CONNECTION: Final = frozenset({b"connection", b"keep-alive", b"transfer-encoding"})


@dataclass(eq=False)
class FrontEnd:
    """Serves the addresses of the functions and of Hosting until it is closed.

    Attributes:
        functions: The deployed functions.
        eventarc: Gets the writes that Firestore announces.
        pages: Port of the Hosting emulator.
        on_line: Called with a log line for each request that no function answered.
    """

    functions: Functions
    eventarc: Eventarc
    pages: int
    on_line: Callable[[str], None]

    def __post_init__(self) -> None:
        """Read the rewrites."""
        self._rewrites = rewrites()
        self._calls = http.transport()
        self._servers: list[tuple[uvicorn.Server, asyncio.Task[None]]] = []

    async def listen(self, functions: int, hosting: int) -> None:
        """Listen on the ports for functions and Hosting."""
        for port, answer in ((functions, self._of_functions), (hosting, self._of_hosting)):
            config = uvicorn.Config(
                self._app(answer),
                http="h11",
                h11_max_incomplete_event_size=_HEAD_BYTES,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                date_header=False,
            )
            server = uvicorn.Server(config)
            sockets = [socket.create_server((HOST, port), backlog=_BACKLOG)]
            self._servers.append((server, asyncio.create_task(server.serve(sockets))))

    def close(self) -> None:
        """Stop listening."""
        for server, _ in self._servers:
            server.should_exit = server.force_exit = True

    def _app(self, answer: Callable[[Request, str], Awaitable[Response]]) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            query = scope["query_string"].decode("latin-1")
            target = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
            try:
                answered = await answer(request, target)
            except (httpx.HTTPError, ClientDisconnect, TimeoutError) as error:
                self.on_line(f"the front end answers 500: {error!r}\n")
                answered = Response(status_code=500)
            await answered(scope, receive, send)

        return app

    async def _of_functions(self, request: Request, target: str) -> Response:
        if target.startswith(PATH):
            name = target.removeprefix(PATH).partition("?")[0]
            written = AnnouncedWrite.from_emulator(
                name, dict(request.headers), await request.body()
            )
            self.eventarc.announce(written)
            return Response()
        if target.startswith(SILENCE):
            change = self.eventarc.silence if request.method == "PUT" else self.eventarc.resume
            change(target.removeprefix(SILENCE))
            return Response()
        if target.startswith(_BASE):
            name, _, rest = target.removeprefix(_BASE).partition("/")
            name, mark, query = name.partition("?")
            return await self._call(name, f"/{rest}{mark}{query}", request)
        return Response(status_code=404)

    async def _of_hosting(self, request: Request, target: str) -> Response:
        if name := self._rewrites.get(target.partition("?")[0]):
            return await self._call(name, target, request)
        return await self._relay(request, target, self.pages)

    async def _call(self, name: str, target: str, request: Request) -> Response:
        if name not in self.functions:
            return Response(status_code=404)
        return await self._relay(request, target, await self.functions.port(name))

    async def _relay(self, request: Request, target: str, port: int) -> Response:
        """Stream a request to a server on this machine, and its response to the client."""
        has_body = {"content-length", "transfer-encoding"} & set(request.headers)
        body = _Body(request)
        asked = httpx.Request(
            request.method,
            httpx.URL(scheme="http", host=HOST, port=port, raw_path=target.encode("latin-1")),
            headers=_passed_on(request.headers.raw),
            content=body.until_response() if has_body else None,
            extensions={"trace": body.trace},
        )
        return _Relayed(await self._calls.handle_async_request(asked), request)


class _Body:
    """Streams a request's body to a server, which may respond before the end of the body."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._connection: httpcore.AsyncNetworkStream | None = None

    async def trace(self, event: str, details: Mapping[str, Any]) -> None:
        """Remember the connection to the server."""
        if event == "connection.connect_tcp.complete":
            self._connection = details["return_value"]

    async def until_response(self) -> AsyncIterator[bytes]:
        """Yield the chunks of the body.

        Raises:
            httpcore.WriteError: The server has responded. httpcore then reads the response.
        """
        chunks = self._request.stream()
        while True:
            waiting = asyncio.ensure_future(anext(chunks, None))
            try:
                while not (await asyncio.wait([waiting], timeout=_POLL_SECONDS))[0]:
                    if self._connection and self._connection.get_extra_info("is_readable"):
                        raise httpcore.WriteError
            finally:
                waiting.cancel()
            chunk = waiting.result()
            if chunk is None:
                return
            yield chunk


class _Relayed(Response):
    """Streams the response of a server on this machine to the client."""

    def __init__(self, given: httpx.Response, request: Request) -> None:
        super().__init__(status_code=given.status_code)
        self.raw_headers = _passed_on(given.headers.raw)
        self._given = given
        self._request = request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, then read the rest of the request."""
        del scope, receive
        head = {"type": "http.response.start", "status": self.status_code}
        try:
            await send(head | {"headers": self.raw_headers})
            async for chunk in self._given.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await _read_rest(self._request)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self._given.aclose()


async def _read_rest(request: Request) -> None:
    """Read the rest of a body that the function did not read.

    Otherwise uvicorn resets the connection, and the client may miss the response.
    """
    # RuntimeError: the body was read completely.
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):
        async with asyncio.timeout(_REST_SECONDS):
            async for _ in request.stream():
                pass


def rewrites() -> Mapping[str, str]:
    """Return Hosting's rewrites: the function's name by path."""
    hosting = json.loads((ROOT / "firebase.json").read_text())["hosting"]
    return {rewrite["source"]: rewrite["function"]["functionId"] for rewrite in hosting["rewrites"]}


def _passed_on(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() not in _OF_ONE_CONNECTION]
