"""What became of mails: the outcome of a request to the provider, and the status of each mail.

Accepted       the provider has the mails
BadAddresses   the provider has none of the mails, because of these recipients
Later          the provider has none of the mails, and may take them in a while
Refused        the provider has none of the mails, and will not take them
Unknown        the provider may have the mails: the request must never be repeated

A provider reports events of a mail in any order and may repeat them. The facts are collected, never
replaced, so the same events give the same status in any order. A mail counts as the last of

    nothing reported ◁ dropped ◁ delivered ◁ bounced

because a later state can only be learnt after an earlier one: a server further on may return a
mail that was delivered. Complaints are counted separately.
"""

import operator
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass
from enum import IntFlag, StrEnum
from typing import ClassVar, Protocol, Self, TypeAlias

from functions.mail.message import EmailMessage, MisconfiguredError


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


SendOutcome: TypeAlias = Accepted | BadAddresses | Later | Refused | Unknown


class DeliveryStatus(IntFlag):
    """The facts that are known of one mail.

    NONE          nothing is reported yet
    DROPPED       the provider did not try to deliver the mail
    DELIVERED     the recipient's server accepted the mail
    BOUNCED       the recipient's server refused the mail or returned it
    COMPLAINED    the recipient marked the mail as spam
    UNWELCOME     the recipient unsubscribed or complained, now or earlier
    UNREACHABLE   the address accepts no mail at all
    """

    NONE = 0
    DROPPED = 1
    DELIVERED = 2
    BOUNCED = 4
    COMPLAINED = 8
    UNWELCOME = 16
    UNREACHABLE = 32

    @property
    def delivery(self) -> str | None:
        """`dropped`, `delivered` or `bounced`: what is known last; None where nothing is."""
        known = (DeliveryStatus.BOUNCED, DeliveryStatus.DELIVERED, DeliveryStatus.DROPPED)
        return next((str(fact.name).lower() for fact in known if fact in self), None)

    @property
    def trouble(self) -> str | None:
        """Why the mail did not reach its recipient, or was unwelcome; None where it was neither."""
        if DeliveryStatus.COMPLAINED in self:
            return "complained"
        return self.delivery if self.delivery != "delivered" else None


@dataclass(frozen=True, slots=True)
class TrackingEvent:
    """A report about one mail, with the labels that the mail was sent with.

    Labels come back from the provider and are not trusted: any of them may be missing or forged.
    `address` is the recipient's as it was mailed, or empty.
    """

    status: DeliveryStatus
    labels: Mapping[str, object]
    address: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of mails by status; a mail is at most one of the first three."""

    delivered: int = 0
    bounced: int = 0
    dropped: int = 0
    complained: int = 0

    @classmethod
    def of(cls, statuses: Collection[DeliveryStatus]) -> Self:
        """Count mails with these statuses."""
        by_delivery = Counter(status.delivery for status in statuses)
        return cls(
            by_delivery["delivered"],
            by_delivery["bounced"],
            by_delivery["dropped"],
            sum(DeliveryStatus.COMPLAINED in status for status in statuses),
        )

    def __sub__(self, other: Self) -> "Tally":
        return Tally(*map(operator.sub, astuple(self), astuple(other)))


class Mailer(Protocol):
    """Sends messages; one instance serves all threads."""

    def check(self) -> None:
        """Check that requests can be made.

        Raises:
            MisconfiguredError: the API key is missing or unusable.
            Exception: the API key could not be read.
        """

    def send(self, message: EmailMessage) -> SendOutcome:
        """Make one request, never repeated, and return its outcome."""


class BulkMailer(Mailer, Protocol):
    """A mailer with the limits that matter to a mail for thousands."""

    @property
    def key_name(self) -> str:
        """Name of the secret with the API key."""

    @property
    def recipients_per_request(self) -> int:
        """How many copies one message may have."""

    @property
    def bytes_per_recipient(self) -> int:
        """How many bytes may differ for each of several recipients, counted as JSON."""
