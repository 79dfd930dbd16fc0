"""A mail service in memory, whose answers are read as SendGrid's are."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, SendOutcome, Unknown
from functions.mail.sendgrid import BYTES_PER_RECIPIENT, KEY_NAME, refusal
from tests.in_memory.through import ServiceError, Through, at_once

_NO_RESET_IS_TOLD: Final = datetime.fromtimestamp(0, UTC)


class InMemoryMailer:
    """See `provider.BulkMailer`; answers are read as SendGrid's are."""

    key_name = KEY_NAME
    recipients_per_request = 2
    bytes_per_recipient = BYTES_PER_RECIPIENT

    def __init__(
        self,
        answer: Callable[[EmailMessage], tuple[int, Mapping[str, str], bytes]],
        through: Through = at_once,
    ) -> None:
        """`answer` gives status, headers and body, or raises where the connection breaks."""
        self._answer = answer
        self._through = through

    def send(self, message: EmailMessage) -> SendOutcome:
        """See `provider.Mailer`."""
        try:
            status, headers, body = self._through(
                "mailer.send", lambda: self._answer(message), retried=False
            )
        except ServiceError:
            return Unknown("no answer")
        if status == 202:
            return Accepted("made-up")
        return refusal(status, headers, body, now=_NO_RESET_IS_TOLD)
