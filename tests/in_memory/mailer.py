"""A mail service in memory, whose answers are read as SendGrid's are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, SendOutcome, Unknown
from functions.mail.sendgrid import BYTES_PER_RECIPIENT, KEY_NAME, refusal
from tests.in_memory.through import ServiceError, Through, at_once

_NO_RESET_IS_TOLD: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class InMemoryMailer:
    """See `provider.BulkMailer`; answers are read as SendGrid's are."""

    key_name = KEY_NAME
    recipients_per_request = 2
    bytes_per_recipient = BYTES_PER_RECIPIENT

    answer: Callable[[EmailMessage], tuple[int, Mapping[str, str], bytes]]
    """Gives status, headers and body, or raises where the connection breaks."""
    through: Through = at_once

    def send(self, message: EmailMessage) -> SendOutcome:
        """See `provider.Mailer`."""
        try:
            status, headers, body = self.through(
                "mailer.send", lambda: self.answer(message), retried=False
            )
        except ServiceError:
            return Unknown("no answer")
        if status == 202:
            return Accepted("made-up")
        return refusal(status, headers, body, now=_NO_RESET_IS_TOLD)
