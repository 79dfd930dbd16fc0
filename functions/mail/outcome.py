"""The outcome of one request to any email provider.

Accepted       the provider has the emails
BadAddresses   the provider has none of the emails, because of these recipients
Later          the provider has none of the emails, and may accept them in a while
Refused        the provider has none of the emails, and will not accept them
Unknown        the provider may have the emails: the request must never be repeated
PartlyAccepted the provider has some of the emails
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias


class MisconfiguredError(Exception):
    """A parameter or secret is missing or unusable.

    `setting` is its name. The text says what the setting should be, never its value.
    """

    def __init__(self, setting: str, should_be: str) -> None:
        super().__init__(f"{setting} should be {should_be}")
        self.setting = setting


def who_can_fix(error: Exception) -> tuple[str | None, str]:
    """Return the setting that `error` names, if any, and a sentence on who can fix it."""
    if isinstance(error, MisconfiguredError):
        return error.setting, f"Ask your administrator to correct a setting: {error}."
    return None, "Try again."


class Cause(StrEnum):
    """Reason why the email provider refuses emails, if it is known who can fix it.

    KEY       the operator: another API key, or the right to send for this key
    SENDER    the operator: verify the sender's address
    CREDITS   the operator: enlarge the plan, which is used up
    BUSY      no one: the provider is busy or out of reach
    """

    KEY = "key"
    SENDER = "sender"
    CREDITS = "credits"
    BUSY = "busy"

    def who_can_fix(self, key_name: str) -> str:
        """Return a note for organizers on who can fix it. `key_name` is the name of the secret."""
        return _WHO_CAN_FIX[self].format(key_name=key_name)


_WHO_CAN_FIX = {
    Cause.KEY: (
        "The email provider rejected our key or password. Ask your administrator to update "
        "{key_name}, then try again."
    ),
    Cause.SENDER: (
        "The email provider rejected the sender. Ask your administrator to verify the address in "
        "MAIL_FROM with the provider, then try again."
    ),
    Cause.CREDITS: (
        "The email provider's sending limit has been reached. Ask your administrator to upgrade "
        "the plan or wait for it to reset."
    ),
    Cause.BUSY: "The email provider is unavailable. Try again in a few minutes.",
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider has accepted the emails. They are not yet delivered."""

    message_id: str


@dataclass(frozen=True, slots=True)
class BadAddresses:
    """The whole request is refused, because the addresses with these indices are rejected."""

    indices: frozenset[int]


@dataclass(frozen=True, slots=True)
class Later:
    """The provider is busy or failing, and may name a pause of `seconds`."""

    reason: str
    seconds: float | None
    cause: ClassVar = Cause.BUSY


@dataclass(frozen=True, slots=True)
class Refused:
    """The request is refused. `cause` is known if someone can fix it."""

    reason: str
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """There was no response, or an ambiguous response."""

    reason: str
    cause: ClassVar[Cause | None] = None


@dataclass(frozen=True, slots=True)
class PartlyAccepted:
    """The outcomes of the emails differ.

    Attributes:
        accepted: Indices of the recipients whose emails were accepted.
        unknown: Indices of the recipients whose emails may have been accepted.
        rest: The outcome of a request to the other recipients, or None without others.
    """

    accepted: frozenset[int]
    unknown: frozenset[int]
    rest: "SendOutcome | None"
    reason: ClassVar = "only some emails were accepted"
    cause: ClassVar[Cause | None] = None


SendOutcome: TypeAlias = Accepted | BadAddresses | Later | Refused | Unknown | PartlyAccepted
