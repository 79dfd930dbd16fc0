"""What the service asks of a mail provider."""

from typing import Protocol

from functions.mail.message import EmailMessage
from functions.mail.outcome import SendOutcome


class Mailer(Protocol):
    """Sends messages; one instance serves all threads."""

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
