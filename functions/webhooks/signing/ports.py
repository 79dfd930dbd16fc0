"""The webhook secrets and their records, as use cases reach them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from functions.records import Version
from functions.webhooks.signing.webhook_secret import WebhookSecret

SECRET_KEPT: Final = timedelta(minutes=1)
"""How long a process may sign with a secret without reading the record again."""


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A record of a secret as it was read, and its version; `secret` is None in an empty record."""

    secret: WebhookSecret | None
    version: Version


class Secrets(Protocol):
    """The webhook secret of each event."""

    def of(self, event_id: str) -> str:
        """The secret that signs the event's deliveries now; made if the event has none (design 3).

        An announced secret that is due stands alone on record before it signs anything.
        """

    def make(self, event_id: str) -> None:
        """Make the event's secret, unless it is on record already."""

    def rotate(self, event_id: str) -> None:
        """Give the event a new secret at once, which cancels an announced secret.

        Other processes may sign with the old secret for a minute.
        """

    def announce(self, event_id: str, active_from: datetime) -> None:
        """Have a new secret take over at that time, in the place of an announced secret."""


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
