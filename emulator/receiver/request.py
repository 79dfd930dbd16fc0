"""A webhook as it arrived."""

import json
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived.

    Attributes:
        method: The HTTP method; the service uses POST only.
        path: The path with its query.
        headers: Looked up without regard to case.
        body: The raw bytes, which the signature covers.
        at: When the body was complete, by the wall clock.
        monotonic: The same in seconds of the monotonic clock, for measuring distances.
        attempt: The how-manieth request of this delivery to this path it is, from 1.
        problem: Why the signature was refused; empty when it was verified, and None when the
            receiver knows no secrets.
        status: The status that it is answered with.
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
        """Tell whether the signature was checked and is right."""
        return self.problem == ""

    @property
    def event_type(self) -> str:
        """Return the event type, as the header has it."""
        return str(self.headers.get("Wall-Event-Type", ""))

    @property
    def event_id(self) -> str:
        """Return the event's id, as the header has it."""
        return str(self.headers.get("Wall-Event-Id", ""))

    @property
    def delivery_id(self) -> str:
        """Return the delivery's id, as the header has it."""
        return str(self.headers.get("Wall-Delivery-Id", ""))

    def json(self) -> dict[str, Any]:
        """Return the body, parsed.

        Raises:
            ValueError: It is no JSON object.
        """
        parsed = json.loads(self.body)
        if not isinstance(parsed, dict):
            raise ValueError("the body is no JSON object")  # noqa: TRY004 - json's own error
        return parsed


def describe(request: Request) -> str:
    """Return a request in one line."""
    verdict = {"": "signature verified", None: "not verified"}.get(
        request.problem,
        f"REJECTED: {request.problem}",
    )
    return (
        f"{request.at:%H:%M:%S}.{request.at.microsecond // 1000:03} {request.path}"
        f" {request.event_type or request.method} delivery {request.delivery_id[:8] or '?'}"
        f" attempt {request.attempt} {verdict}, answered {request.status}"
    )
