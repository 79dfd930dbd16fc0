"""The records of the webhook secrets, as `remembered_secrets` reaches them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from functions.documents.document import Version
from functions.webhooks.signing.webhook_secret import WebhookSecret

SECRET_KEPT: Final = timedelta(minutes=1)
"""How long a process may sign with a secret without reading the record again."""


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A record of a secret as it was read, and its version; `secret` is None in an empty record."""

    secret: WebhookSecret | None
    version: Version


class SecretRecords(Protocol):
    """The records of the secrets, one an event. Every method is one round trip."""

    def load(self, event_id: str) -> StoredSecret | None:
        """The record as it is now, or None."""

    def replace(self, event_id: str, found: StoredSecret | None, secret: WebhookSecret) -> None:
        """Write `secret` in the place of the record that was `found`.

        Raises:
            ChangedMeanwhileError: the record is not as it was found.
        """

    def put(self, event_id: str, secret: WebhookSecret) -> None:
        """Write `secret` over any record."""
