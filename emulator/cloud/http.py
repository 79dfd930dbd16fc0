"""Calls of functions over HTTP, in one event loop."""

import asyncio
from collections.abc import Mapping
from typing import Final

import httpx

from emulator.server import HOST

NO_ANSWER: Final = 0
"""The status of a call that no answer came to."""

SUCCESSES: Final = range(200, 300)


def transport() -> httpx.AsyncHTTPTransport:
    """Makes any number of calls at a time, each on a connection of its own, and adds nothing."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(limits=limits, trust_env=False)


async def post(
    calls: httpx.AsyncHTTPTransport,
    port: int,
    headers: Mapping[str, str],
    body: bytes,
    seconds: float,
) -> int:
    """POST to a function; the status, `NO_ANSWER` where none came within so many seconds."""
    # As they came: an id in them may be in any script.
    as_bytes = httpx.Headers(headers, encoding="latin-1")
    request = httpx.Request("POST", f"http://{HOST}:{port}/", headers=as_bytes, content=body)
    try:
        async with asyncio.timeout(seconds):
            answer = await calls.handle_async_request(request)
            await answer.aread()
            return answer.status_code
    except (httpx.HTTPError, TimeoutError):
        return NO_ANSWER
