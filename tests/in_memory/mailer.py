"""A mail service in memory, whose answers are read as SendGrid's are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from emulator.provider_models.sendgrid import NO_ANSWER, Answer
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, SendOutcome, Unknown
from functions.mail.sendgrid import BYTES_PER_RECIPIENT, KEY_NAME, current_key, refusal
from functions.ports import SecretReader
from tests.in_memory.adapters import InMemorySecrets
from tests.in_memory.through import ServiceError, Through, at_once

_NO_RESET_IS_TOLD: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class InMemoryMailer:
    """See `message.Mailer`; answers are read as SendGrid's are."""

    key_name = KEY_NAME
    recipients_per_request = 2
    bytes_per_recipient = BYTES_PER_RECIPIENT

    answer: Callable[[EmailMessage], Answer]
    """Gives the answer to a request."""
    through: Through = at_once
    secrets: SecretReader = field(default_factory=InMemorySecrets)

    def check(self) -> None:
        """See `message.Mailer`."""
        current_key(self.secrets)

    def send(self, message: EmailMessage) -> SendOutcome:
        """See `message.Mailer`."""
        try:
            answer = self.through("mailer.send", lambda: self.answer(message), retried=False)
        except ServiceError:
            answer = NO_ANSWER
        if answer == NO_ANSWER:
            return Unknown("no answer")
        if answer.status == HTTPStatus.ACCEPTED:
            return Accepted("made-up")
        return refusal(answer.status, answer.headers, answer.body, now=_NO_RESET_IS_TOLD)
