"""The webhook secret of each event: `events/{eventId}/secrets/webhooks` (spec 2.1)."""

from dataclasses import dataclass

from functions.firestore.model import Documents, write_as_read
from functions.webhooks.signing.webhook_secret import FIELDS, WebhookSecret


@dataclass(frozen=True, slots=True)
class SecretStore:
    """The secrets, one an event; every method is one call."""

    documents: Documents

    def load(self, event_id: str) -> WebhookSecret | None:
        """The secret as it is now; None without a record, empty in a record without one."""
        found = self.documents.get(_path(event_id), FIELDS)
        return WebhookSecret.read(found.fields, found.version) if found else None

    def replace(self, event_id: str, secret: WebhookSecret) -> None:
        """Write the secret over the record in its version, whose other fields stay.

        Raises:
            ChangedMeanwhileError: the record is not in that version any more.
        """
        fields = secret.fields
        gone = [name for name in FIELDS if name not in fields]
        self.documents.commit(write_as_read(_path(event_id), fields, secret.version, delete=gone))


def _path(event_id: str) -> str:
    return f"events/{event_id}/secrets/webhooks"
