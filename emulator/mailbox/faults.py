"""Faults that the mailbox can simulate."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from emulator.provider_models.sendgrid import Answer, Problem, refused


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the next requests. Without a refusal, the mailbox accepts their emails.

    Attributes:
        refusal: Returns the error response for a Unix time. No email is accepted.
        seconds: Delay of the response.
        is_cut: Whether the connection is cut instead of a response.
        addresses: Valid addresses that are rejected.
        times: Number of affected requests. 0 means all requests until `heal`.
    """

    refusal: Callable[[float], Answer] | None = None
    seconds: float = 0.0
    is_cut: bool = False
    addresses: tuple[str, ...] = ()
    times: int = 1


def status(code: int, *named: Problem, times: int = 1) -> Fault:
    """Answer with an HTTP status and accept no email."""
    return Fault(lambda _: refused(code, *named), times=times)


def wrong_key() -> Fault:
    """Answer as SendGrid does to an unknown or revoked key."""
    message = "The provided authorization grant is invalid, expired, or revoked"
    return status(401, Problem(message, None))


def unverified_sender() -> Fault:
    """Answer as SendGrid does to an unverified sender."""
    message = "The from address does not match a verified Sender Identity. Mail cannot be sent "
    message += "until this error is resolved."
    return status(403, Problem(message, "from"))


def credits_exceeded() -> Fault:
    """Answer as SendGrid does when the plan's emails are used up."""
    return status(401, Problem("Maximum credits exceeded", None))


def too_many_requests(reset_seconds: float = 1.0) -> Fault:
    """Answer 429 with `X-RateLimit-Reset`."""

    def refuse(now: float) -> Answer:
        return refused(429, resets_at=int(now + reset_seconds))

    return Fault(refuse)


def slow(seconds: float) -> Fault:
    """Delay the responses until `heal`."""
    return Fault(seconds=seconds, times=0)


def drop() -> Fault:
    """Accept the emails and cut the connection."""
    return Fault(is_cut=True)


def bad_address(*addresses: str) -> Fault:
    """Reject some addresses until `heal`."""
    return Fault(addresses=addresses, times=0)


class FaultQueue:
    """The pending faults in their order. Not thread-safe."""

    def __init__(self) -> None:
        self._faults: deque[Fault] = deque()

    def add(self, *faults: Fault) -> None:
        """Append faults."""
        self._faults.extend(faults)

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()

    def next(self) -> Fault | None:
        """Return the fault of the next request, or None if it succeeds."""
        if not self._faults:
            return None
        fault = self._faults[0]
        if fault.times == 1:
            self._faults.popleft()
        elif fault.times:
            self._faults[0] = replace(fault, times=fault.times - 1)
        return fault
