"""The webhook settings in Firestore: `events/{eventId}/settings/webhooks` (design 4)."""

from collections.abc import Callable, Iterable

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.documents import Documents
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.gcp.firestore import client as shared_client
from functions.records import ChangedMeanwhileError
from functions.webhooks.settings.webhook_settings import DisabledUrl, WebhookSettings, key


class SettingsStore:
    """See `ports.Settings`; the service writes `disabled`, and nothing else."""

    def __init__(
        self, documents: Documents, client: Callable[[], firestore.Client] = shared_client
    ) -> None:
        """`client` gives the library's, for the write, which is rare."""
        self._documents = documents
        self._client = client

    def load(self, event_id: str) -> WebhookSettings:
        """See `ports.Settings`."""
        found = self._documents.get(_path(event_id))
        if found is None:
            return WebhookSettings()
        return WebhookSettings.read(found.fields, written_at=found.written, version=found.version)

    def disable(
        self, event_id: str, given_up: Iterable[DisabledUrl], found: WebhookSettings
    ) -> None:
        """See `ports.Settings`."""
        client = self._client()
        try:
            client.document(_path(event_id)).update(
                {f"disabled.{key(entry.url)}": entry.fields for entry in given_up},
                option=client.write_option(last_update_time=found.version),
                retry=RETRY,
                timeout=CALL_SECONDS,
            )
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise ChangedMeanwhileError from changed


def _path(event_id: str) -> str:
    return f"events/{event_id}/settings/webhooks"
