"""The outcome of one request to any email provider.

Accepted       the provider has the emails
BadAddresses   the provider has none of the emails, because of these recipients
Later          the provider has none of the emails, and may accept them in a while
Refused        the provider has none of the emails, and will not accept them
Unknown        the provider may have the emails: the request must never be repeated
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
    """The setting that `error` is about, if any, and who can fix it, for an organizer."""
    if isinstance(error, MisconfiguredError):
        return error.setting, f"The operator of the service has to correct a setting: {error}."
    return None, "Try again."


class Cause(StrEnum):
    """Why the mail provider refuses mails, where it is known who can fix it.

    KEY       the operator: another API key, or the right to send for this key
    SENDER    the operator: verify the sender's address
    CREDITS   the operator: enlarge the plan, which is used up
    BUSY      nobody: the provider is busy or out of reach
    """

    KEY = "key"
    SENDER = "sender"
    CREDITS = "credits"
    BUSY = "busy"

    def who_can_fix(self, key_name: str) -> str:
        """Sentences that tell an organizer who can fix it; `key_name` names the key's secret."""
        return _WHO_CAN_FIX[self].format(key_name=key_name)


_WHO_CAN_FIX = {
    Cause.KEY: (
        "The mail service does not accept this service's key. The operator has to set {key_name} "
        "to a key with the right to send mail; try again after that."
    ),
    Cause.SENDER: (
        "The mail service does not know the sender. The operator has to verify the address in "
        "MAIL_FROM at the mail service; try again after that."
    ),
    Cause.CREDITS: (
        "The plan at the mail service is used up. The operator has to enlarge the plan, or wait "
        "until it is renewed; try again after that."
    ),
    Cause.BUSY: "The mail service is busy or out of reach; try again in a few minutes.",
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider has the mails; they are not yet delivered."""

    message_id: str


@dataclass(frozen=True, slots=True)
class BadAddresses:
    """The whole request is refused for the addresses of the recipients with these indices."""

    indices: frozenset[int]


@dataclass(frozen=True, slots=True)
class Later:
    """The provider is busy or in trouble, and may name a pause of `seconds`."""

    reason: str
    seconds: float | None
    cause: ClassVar = Cause.BUSY


@dataclass(frozen=True, slots=True)
class Refused:
    """The request is refused; `cause` where it is known who can fix it."""

    reason: str
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """There was no answer, or an answer that does not say."""

    reason: str
    cause: ClassVar[Cause | None] = None


SendOutcome: TypeAlias = Accepted | BadAddresses | Later | Refused | Unknown
