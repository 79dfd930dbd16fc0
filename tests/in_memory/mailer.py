"""An email provider in memory. Its responses have the format of SendGrid."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from emulator.provider_models.sendgrid import NO_ANSWER, Answer
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, SendOutcome, Unknown
from functions.mail.sendgrid import KEY_NAME, current_key, refusal
from functions.ports import SecretReader
from tests.in_memory.adapters import InMemorySecrets
from tests.in_memory.through import ServiceError, Through, at_once

_WITHOUT_RESET: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class InMemoryMailer:
    """A `Mailer` whose requests `answer` answers in the format of SendGrid."""

    key_name = KEY_NAME
    recipients_per_request = 2

    answer: Callable[[EmailMessage], Answer]
    """Returns the answer to a request."""
    through: Through = at_once
    secrets: SecretReader = field(default_factory=InMemorySecrets)

    def check(self) -> None:
        """Raise an error if the key is missing."""
        current_key(self.secrets)

    def send(self, message: EmailMessage) -> SendOutcome:
        """Send a request, and return its outcome."""
        try:
            answer = self.through("mailer.send", lambda: self.answer(message), retried=False)
        except ServiceError:
            answer = NO_ANSWER
        if answer == NO_ANSWER:
            return Unknown("no answer")
        if answer.status == HTTPStatus.ACCEPTED:
            return Accepted("made-up")
        return refusal(answer.status, answer.headers, answer.body, now=_WITHOUT_RESET)
