"""The webhook settings in Firestore: `events/{eventId}/settings/webhooks` (design 4)."""

from collections.abc import Iterable
from dataclasses import dataclass

from functions.documents.documents import Documents
from functions.documents.write import Update
from functions.webhooks.settings.webhook_settings import DisabledUrl, WebhookSettings


@dataclass(frozen=True, slots=True)
class SettingsStore:
    """Reads the settings, and writes `disabled`; every method is one call."""

    documents: Documents

    def load(self, event_id: str) -> WebhookSettings:
        """The settings as they are now."""
        found = self.documents.get(_path(event_id))
        if found is None:
            return WebhookSettings()
        return WebhookSettings.read(found.fields, written_at=found.written, version=found.version)

    def disable(
        self, event_id: str, given_up: Iterable[DisabledUrl], found: WebhookSettings
    ) -> None:
        """Disable URLs, unless the settings were written since they were `found`.

        Raises:
            ChangedMeanwhileError: the settings were written since.
        """
        entries = {("disabled", entry.id): entry.fields for entry in given_up}
        self.documents.commit(Update(_path(event_id), entries, version=found.version))


def _path(event_id: str) -> str:
    return f"events/{event_id}/settings/webhooks"
