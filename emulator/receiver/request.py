"""A webhook request as it arrived."""

import json
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived.

    Attributes:
        method: The HTTP method. The service uses only POST.
        path: The path with its query.
        headers: The headers. Lookups ignore case.
        body: The raw bytes, which the signature covers.
        at: Time at which the body was complete.
        monotonic: The same time in seconds of the monotonic clock, to measure intervals.
        attempt: Number of this request among those of its delivery and path, from 1.
        problem: Reason for an invalid signature. Empty if the signature is valid, and None if the
            receiver has no secrets.
        status: The status of the response.
    """

    method: str
    path: str
    headers: Message
    body: bytes
    at: datetime
    monotonic: float
    attempt: int
    problem: str | None
    status: int

    @property
    def verified(self) -> bool:
        """Whether the signature was checked and is valid."""
        return self.problem == ""

    @property
    def event_type(self) -> str:
        """The header with the event type."""
        return str(self.headers.get("Wall-Event-Type", ""))

    @property
    def event_id(self) -> str:
        """The header with the event's ID."""
        return str(self.headers.get("Wall-Event-Id", ""))

    @property
    def delivery_id(self) -> str:
        """The header with the delivery's ID."""
        return str(self.headers.get("Wall-Delivery-Id", ""))

    def json(self) -> dict[str, Any]:
        """Return the parsed body.

        Raises:
            ValueError: The body is not a JSON object.
        """
        parsed = json.loads(self.body)
        if not isinstance(parsed, dict):
            raise ValueError("the body is not a JSON object")  # noqa: TRY004 - json's own error
        return parsed


def describe(request: Request) -> str:
    """Return a one-line description of a request."""
    verdict = {"": "signature verified", None: "not verified"}.get(
        request.problem,
        f"REJECTED: {request.problem}",
    )
    return (
        f"{request.at:%H:%M:%S}.{request.at.microsecond // 1000:03} {request.path}"
        f" {request.event_type or request.method} delivery {request.delivery_id[:8] or '?'}"
        f" attempt {request.attempt} {verdict}, answered {request.status}"
    )
