"""What became of one request to the mail service.

Accepted       it has the mails
BadAddresses   it has none of them, because of these recipients
Later          it has none of them, and may take them in a while
Refused        it has none of them, and will not
Unknown        it may have them: the request must not be made again
"""

from dataclasses import dataclass
from typing import TypeAlias


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


@dataclass(frozen=True, slots=True)
class Refused:
    """Not taken."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer, or none that says."""

    reason: str


Outcome: TypeAlias = Accepted | BadAddresses | Later | Refused | Unknown
