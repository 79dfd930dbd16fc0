"""HTTP requests to functions in an event loop."""

import asyncio
from collections.abc import Mapping
from typing import Final

import httpx

from emulator.server import HOST

NO_RESPONSE: Final = 0
"""The status of a request without a response."""

SUCCESSES: Final = range(200, 300)


def transport() -> httpx.AsyncHTTPTransport:
    """Return a transport with unlimited connections, one for each request."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(limits=limits, trust_env=False)


async def post(
    calls: httpx.AsyncHTTPTransport,
    port: int,
    headers: Mapping[str, str],
    body: bytes,
    seconds: float,
) -> int:
    """POST to a function. Return the status, or `NO_RESPONSE` after `seconds`."""
    # Latin-1 passes the bytes on unchanged: an ID in a header may use any script.
    as_bytes = httpx.Headers(headers, encoding="latin-1")
    request = httpx.Request("POST", f"http://{HOST}:{port}/", headers=as_bytes, content=body)
    try:
        async with asyncio.timeout(seconds):
            response = await calls.handle_async_request(request)
            await response.aread()
            return response.status_code
    except (httpx.HTTPError, TimeoutError):
        return NO_RESPONSE
