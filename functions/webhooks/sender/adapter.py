"""The adapter of `requests` that posts to a receiver's checked addresses and to no others."""

import functools
import logging
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Final

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from urllib3 import HTTPSConnectionPool, Timeout

from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender.connections import PinnedConnection, Watch

_POOLS: Final = 512
_PLACES: Final = 80
"""Idle connections to one receiver: as many as an instance has threads."""

# urllib3 logs paths, which may hold keys.
logging.getLogger("urllib3").setLevel(logging.CRITICAL)


class PinnedAdapter(HTTPAdapter):
    """Pools connections by name, port and checked addresses; serves all threads of a process."""

    def __init__(self, tls: ssl.SSLContext, monotonic: Callable[[], float]) -> None:
        """Trust what `tls` trusts."""
        super().__init__()
        tls.options |= ssl.OP_NO_RENEGOTIATION  # work that only the other side decides on
        self._watch = Watch(monotonic)
        self._pool = functools.lru_cache(_POOLS)(
            functools.partial(_Pool, maxsize=_PLACES, timeout=1, tls=tls, watch=self._watch)
        )

    def post(
        self,
        to: EndpointUrl,
        headers: Mapping[str, str],
        body: bytes,
        *,
        found: frozenset[str],
        seconds: float,
    ) -> Any:
        """POST `body` to one of the addresses `found` and wait for the head of the answer.

        A session would add cookies, redirects, the environment's proxies and passwords, and 150 µs.
        """
        post = PreparedRequest()
        framing = {"Host": to.authority, "Content-Length": str(len(body))}
        post.method, post.url, post.body = "POST", to.path, body
        # A plain dict: one that folds case costs 30 µs.
        post.headers = framing | dict(headers)  # type: ignore[assignment]
        post.pool = self._pool(to.host, to.port, addresses=found)  # type: ignore[attr-defined]
        return self.send(post, timeout=Timeout(total=seconds))  # type: ignore[arg-type]

    def close(self) -> None:
        """Close the idle connections."""
        self._watch.closed.set()

    def get_connection_with_tls_context(self, request: Any, *_: Any, **__: Any) -> Any:
        """The pool of the request's receiver."""
        return request.pool

    def cert_verify(self, *_: Any) -> None:
        """Leave trust to the TLS context."""

    def request_url(self, request: Any, _: Any) -> str:
        """The path; there is no proxy."""
        return str(request.url)

    def build_response(self, _: Any, resp: Any) -> Any:
        """The answer as it is, without cookies or an encoding."""
        return resp


class _Pool(HTTPSConnectionPool):
    ConnectionCls = PinnedConnection  # type: ignore[assignment]
