"""The webhook settings in Firestore: `events/{eventId}/settings/webhooks` (design 4)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from functions.firestore.model import Document, Documents, Update
from functions.webhooks.settings.webhook_settings import Subscription, WebhookSettings


@dataclass(frozen=True, slots=True)
class SettingsStore:
    """Reads the settings, and writes `disabled`; every method is one call."""

    documents: Documents

    def load(self, event_id: str) -> WebhookSettings:
        """The settings as they are now."""
        return _read(self.documents.get(_path(event_id)))

    def load_all(self, event_ids: Collection[str]) -> Mapping[str, WebhookSettings]:
        """The settings of each event."""
        found = self.documents.get_all([_path(event_id) for event_id in event_ids])
        return dict(zip(event_ids, map(_read, found), strict=True))

    def disable(
        self,
        event_id: str,
        endpoint: Subscription,
        reason: str,
        at: datetime,
        found: WebhookSettings,
    ) -> None:
        """Disable an endpoint, unless the settings were written since they were `found`.

        Raises:
            ChangedMeanwhileError: the settings were written since.
        """
        entry = {"url": endpoint.url, "reason": reason, "at": at}
        disabled = {("disabled", endpoint.id): entry}
        self.documents.commit(Update(_path(event_id), disabled, version=found.version))


def _read(found: Document | None) -> WebhookSettings:
    if found is None:
        return WebhookSettings()
    return WebhookSettings.read(found.fields, written_at=found.written, version=found.version)


def _path(event_id: str) -> str:
    return f"events/{event_id}/settings/webhooks"
