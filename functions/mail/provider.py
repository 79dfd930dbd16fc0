"""What the service asks of a mail provider: a mailer, and the webhook that reports deliveries."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from functions.mail.message import EmailMessage
from functions.mail.outcome import SendOutcome
from functions.mail.tracking import TrackingEvent


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


class UnusableKeyError(ValueError):
    """A public key of the tracking webhook cannot be read."""


class TrackingWebhook(Protocol):
    """Reads the requests in which the provider reports what happened to mails."""

    @property
    def max_body_bytes(self) -> int:
        """Longest body that the provider sends."""

    @property
    def has_keys(self) -> bool:
        """Whether a key is configured; without keys no request is genuine.

        Raises:
            UnusableKeyError: a configured key cannot be read.
        """

    def is_signed(self, headers: Mapping[str, str]) -> bool:
        """Whether the headers carry a signature at all."""

    def is_plausible(self, headers: Mapping[str, str], now: datetime) -> bool:
        """Whether the signature is well formed and recent: worth reading the body for."""

    def is_genuine(self, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
        """Whether the provider signed `body` recently."""

    def events(self, body: bytes) -> Sequence[TrackingEvent] | None:
        """The tracking events in a genuine body; None where the body is no list of events."""
