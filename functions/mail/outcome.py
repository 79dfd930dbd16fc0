"""What became of one request to the mail service.

Accepted       it has the mails
BadAddresses   it has none of them, because of these recipients
Later          it has none of them, and may take them in a while
Refused        it has none of them, and will not
Unknown        it may have them: the request must not be made again
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Cause(StrEnum):
    """Why the mail service takes no mails, where it is known who can change that.

    The operator, by another `KEY` or one with the right to send, by verifying the `SENDER`, or by
    a larger plan where its `CREDITS` are used up; time, where it is `BUSY` or out of reach.
    """

    KEY = "key"
    SENDER = "sender"
    CREDITS = "credits"
    BUSY = "busy"

    @property
    def turn(self) -> str:
        """Sentences that tell an organizer whose turn it is."""
        return _TURNS[self]


_TURNS = {
    Cause.KEY: (
        "The mail service does not accept the key of this service. Whoever operates it has to set "
        "SENDGRID_API_KEY to a key with the right to send mail; try again after that."
    ),
    Cause.SENDER: (
        "The mail service does not know the sender. Whoever operates this service has to verify "
        "the address in MAIL_FROM there; try again after that."
    ),
    Cause.CREDITS: (
        "The plan at the mail service is used up. Whoever operates this service has to enlarge "
        "it, or wait until it is renewed; try again after that."
    ),
    Cause.BUSY: "The mail service is busy or out of reach; try again in a few minutes.",
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """Taken, which is not yet delivered."""

    message_id: str


@dataclass(frozen=True, slots=True)
class BadAddresses:
    """Refused as a whole for the addresses of the recipients with these indices."""

    indices: frozenset[int]


@dataclass(frozen=True, slots=True)
class Later:
    """Not taken; `seconds` says when to ask again, where the mail service does."""

    reason: str
    seconds: float | None

    @property
    def cause(self) -> Cause:
        """Like that of `Refused`."""
        return Cause.BUSY


@dataclass(frozen=True, slots=True)
class Refused:
    """Not taken; `cause` where it is known who can change that."""

    reason: str
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer, or none that says."""

    reason: str


Outcome: TypeAlias = Accepted | BadAddresses | Later | Refused | Unknown
