"""Calls of the deployed functions over plain HTTP, as `curl` makes them."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any, Final

ONE_CLICK: Final = b"List-Unsubscribe=One-Click"
"""The form that mail programs send (RFC 8058)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """HTTP status and JSON body of an answer."""

    status: int
    body: dict[str, Any]

    @property
    def result(self) -> Any:
        """Result of the callable."""
        return self.body["result"]

    @property
    def error(self) -> tuple[str, str]:
        """Status and message of a callable's error, for example `("NOT_FOUND", "…")`."""
        return self.body["error"]["status"], self.body["error"]["message"]


def url(function: str) -> str:
    """Return the URL of `function` in the suite."""
    return f"http://127.0.0.1:5001/{os.environ['GCLOUD_PROJECT']}/us-central1/{function}"


def call(
    function: str,
    data: object,
    *,
    id_token: str | None = None,
    headers: dict[str, str] | None = None,
    at: str | None = None,
) -> Answer:
    """POST `{"data": data}` to the callable `function`, or to the one at the address `at`."""
    return post(
        function,
        json.dumps({"data": data}).encode(),
        {"Content-Type": "application/json"}
        | ({"Authorization": f"Bearer {id_token}"} if id_token else {})
        | (headers or {}),
        at=at,
    )


def post(function: str, body: bytes, headers: dict[str, str], *, at: str | None = None) -> Answer:
    """POST `body` as it is."""
    status, text, _ = fetch(at or url(function), body, headers)
    return Answer(status, json.loads(text))


def click(token: str, headers: dict[str, str], body: bytes = ONE_CLICK) -> tuple[int, str]:
    """POST to the unsubscribe link like an email program, and return status and text."""
    return fetch(f"{url('unsubscribe')}?token={urllib.parse.quote(token)}", body, headers)[:2]


def fetch(
    address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, **how: Any
) -> tuple[int, str, Message]:
    """Send a request and return status, text and headers. A `body` is sent as a POST."""
    request = urllib.request.Request(address, body, dict(headers or {}), **how)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - loopback
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode(), refused.headers
