"""How the mailbox can be told to fail."""

from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum
from http import HTTPStatus

from emulator.neighbours.sendgrid import Answer, Problem, refused


class FaultKind(StrEnum):
    """How a request goes wrong.

    `STATUS` answers with a status and takes nothing, `SLOW` takes the mails and answers late,
    `DROP` takes the mails and cuts the connection instead of answering, `BAD_ADDRESS` refuses
    addresses that the rules would let pass.
    """

    STATUS = "status"
    SLOW = "slow"
    DROP = "drop"
    BAD_ADDRESS = "bad-address"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to the next requests.

    Attributes:
        kind: What.
        status: The HTTP status, for `STATUS`.
        seconds: For `SLOW` how late, for status 429 how long until the limit is reset.
        times: How many requests it happens to; 0 means all of them until `heal`.
        after: How many requests go well before.
        addresses: Those that are refused, for `BAD_ADDRESS`.
        message: For `STATUS`, what the answer says; the status's own words where it is empty.
        field: For `STATUS`, what of the request the answer points to.
    """

    kind: FaultKind
    status: int = 0
    seconds: float = 0.0
    times: int = 1
    after: int = 0
    addresses: tuple[str, ...] = ()
    message: str = ""
    field: str | None = None

    def answer(self, now: float) -> Answer:
        """What a request is answered with, for `STATUS`; `now` in Unix seconds."""
        named = [Problem(self.message, self.field)] if self.message else []
        resets = int(now + self.seconds) if self.status == HTTPStatus.TOO_MANY_REQUESTS else None
        return refused(self.status, *named, resets_at=resets)


def status(code: int, *, times: int = 1, after: int = 0) -> Fault:
    """Answer with an HTTP status and take nothing."""
    return Fault(FaultKind.STATUS, status=code, times=times, after=after)


def wrong_key(*, times: int = 1) -> Fault:
    """Answer as to a key that SendGrid does not know (any more)."""
    message = "The provided authorization grant is invalid, expired, or revoked"
    return Fault(FaultKind.STATUS, status=401, message=message, times=times)


def unverified_sender(*, times: int = 1) -> Fault:
    """Answer as to a sender that SendGrid has not been shown to be one's own."""
    message = "The from address does not match a verified Sender Identity. Mail cannot be sent "
    message += "until this error is resolved."
    return Fault(FaultKind.STATUS, status=403, message=message, field="from", times=times)


def credits_exceeded(*, times: int = 1) -> Fault:
    """Answer as where the plan is used up."""
    return Fault(FaultKind.STATUS, status=401, message="Maximum credits exceeded", times=times)


def too_many_requests(reset_seconds: float = 1.0, *, times: int = 1, after: int = 0) -> Fault:
    """Answer 429 with `X-RateLimit-Reset`."""
    return Fault(FaultKind.STATUS, status=429, seconds=reset_seconds, times=times, after=after)


def slow(seconds: float, *, times: int = 0) -> Fault:
    """Answer late."""
    return Fault(FaultKind.SLOW, seconds=seconds, times=times)


def drop(*, times: int = 1, after: int = 0) -> Fault:
    """Take the mails and cut the connection."""
    return Fault(FaultKind.DROP, times=times, after=after)


def bad_address(*addresses: str) -> Fault:
    """Refuse some addresses, until `heal`."""
    return Fault(FaultKind.BAD_ADDRESS, addresses=addresses, times=0)


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
