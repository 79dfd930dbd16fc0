"""The webhook secret of each event: `events/{eventId}/secrets/webhooks` (spec 2.1)."""

import secrets
from base64 import b64encode
from typing import Final

from functions.documents.documents import Documents
from functions.documents.write import Put, write_as_read
from functions.webhooks.signing.ports import StoredSecret
from functions.webhooks.signing.signature import PREFIX
from functions.webhooks.signing.webhook_secret import FIELDS, WebhookSecret

_SECRET_BYTES: Final = 32


def new_secret() -> str:
    """A fresh secret: `whsec_` and 32 random bytes in base64, as Standard Webhooks have it."""
    return PREFIX + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


class SecretStore:
    """See `ports.SecretRecords`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def load(self, event_id: str) -> StoredSecret | None:
        """See `ports.SecretRecords`."""
        found = self._documents.get(_path(event_id), FIELDS)
        return StoredSecret(WebhookSecret.read(found.fields), found.version) if found else None

    def replace(self, event_id: str, found: StoredSecret | None, secret: WebhookSecret) -> None:
        """See `ports.SecretRecords`; what else the document holds stays."""
        fields, version = secret.fields, found.version if found else None
        gone = [name for name in FIELDS if name not in fields]
        self._documents.commit(write_as_read(_path(event_id), fields, version, delete=gone))

    def put(self, event_id: str, secret: WebhookSecret) -> None:
        """See `ports.SecretRecords`."""
        self._documents.commit(Put(_path(event_id), secret.fields))


def _path(event_id: str) -> str:
    return f"events/{event_id}/secrets/webhooks"
