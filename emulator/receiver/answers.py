"""Scripts that choose the receiver's responses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to one request.

    Attributes:
        status: The HTTP status.
        delay: Seconds before the response.
        headers: Further headers, for example a redirect's Location.
    """

    status: int = HTTPStatus.OK
    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)


# Chooses the answer to the n-th request (from 1) of one delivery to one path.
Script = Callable[[int], Answer]


def always(status: int = HTTPStatus.OK) -> Script:
    """Answer every request with `status`."""
    return lambda _attempt: Answer(status)


def fails(times: int, status: int = HTTPStatus.INTERNAL_SERVER_ERROR) -> Script:
    """Fail the first `times` requests of each delivery, then answer 200."""
    return lambda attempt: Answer(status if attempt <= times else HTTPStatus.OK)


def slow(seconds: float) -> Script:
    """Answer 200 after `seconds`."""
    return lambda _attempt: Answer(delay=seconds)
