"""What the receiver answers, by script."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver answers to one request.

    Attributes:
        status: The HTTP status.
        delay: Seconds of silence before the answer.
        headers: Further headers, for example a redirect's Location.
    """

    status: int = HTTPStatus.OK
    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)


# Chooses the answer to the n-th request (from 1) of one delivery to one path.
Script = Callable[[int], Answer]


def always(status: int = HTTPStatus.OK) -> Script:
    """Answer every request alike."""
    return lambda _attempt: Answer(status)


def fails(times: int, status: int = HTTPStatus.INTERNAL_SERVER_ERROR) -> Script:
    """Fail the first requests of each delivery, then recover."""
    return lambda attempt: Answer(status if attempt <= times else HTTPStatus.OK)


def slow(seconds: float, status: int = HTTPStatus.OK) -> Script:
    """Answer late."""
    return lambda _attempt: Answer(status, delay=seconds)
