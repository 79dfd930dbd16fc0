"""How the mailbox can be told to fail."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from emulator.provider_models.sendgrid import Answer, Problem, refused


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to the next requests, whose mails are taken where nothing refuses them.

    Attributes:
        refusal: What a request is answered with at a Unix time, and nothing of it is taken.
        seconds: How late the answer comes.
        is_cut: Whether the connection is cut in the place of an answer.
        addresses: Those that are refused although the rules would let them pass.
        times: How many requests it happens to; 0 means all of them until `heal`.
        after: How many requests go well before.
    """

    refusal: Callable[[float], Answer] | None = None
    seconds: float = 0.0
    is_cut: bool = False
    addresses: tuple[str, ...] = ()
    times: int = 1
    after: int = 0


def status(code: int, *named: Problem, times: int = 1, after: int = 0) -> Fault:
    """Answer with an HTTP status and take nothing."""
    return Fault(lambda _: refused(code, *named), times=times, after=after)


def wrong_key() -> Fault:
    """Answer as to a key that SendGrid does not know (any more)."""
    message = "The provided authorization grant is invalid, expired, or revoked"
    return status(401, Problem(message, None))


def unverified_sender() -> Fault:
    """Answer as to a sender that SendGrid has not been shown to be one's own."""
    message = "The from address does not match a verified Sender Identity. Mail cannot be sent "
    message += "until this error is resolved."
    return status(403, Problem(message, "from"))


def credits_exceeded() -> Fault:
    """Answer as where the plan is used up."""
    return status(401, Problem("Maximum credits exceeded", None))


def too_many_requests(reset_seconds: float = 1.0, *, times: int = 1, after: int = 0) -> Fault:
    """Answer 429 with `X-RateLimit-Reset`."""

    def refuse(now: float) -> Answer:
        return refused(429, resets_at=int(now + reset_seconds))

    return Fault(refuse, times=times, after=after)


def slow(seconds: float, *, times: int = 0) -> Fault:
    """Answer late."""
    return Fault(seconds=seconds, times=times)


def drop(*, times: int = 1, after: int = 0) -> Fault:
    """Take the mails and cut the connection."""
    return Fault(is_cut=True, times=times, after=after)


def bad_address(*addresses: str) -> Fault:
    """Refuse some addresses, until `heal`."""
    return Fault(addresses=addresses, times=0)


class FaultQueue:
    """The faults that are still to happen, one after the other. Its user locks it."""

    def __init__(self) -> None:
        self._faults: deque[Fault] = deque()

    def add(self, *faults: Fault) -> None:
        """Have some more happen."""
        self._faults.extend(faults)

    def clear(self) -> None:
        """Forget them all."""
        self._faults.clear()

    def next(self) -> Fault | None:
        """Return what happens to the next request, None where it goes well."""
        if not self._faults:
            return None
        fault = self._faults[0]
        if fault.after:
            self._faults[0] = replace(fault, after=fault.after - 1)
            return None
        if fault.times == 1:
            self._faults.popleft()
        elif fault.times:
            self._faults[0] = replace(fault, times=fault.times - 1)
        return fault
