"""The webhook settings of an event, as the service writes them: `disabled`, and nothing else."""

from collections.abc import Callable, Iterable

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.gcp.firestore import client as shared_client
from functions.webhooks.messages import subscriptions
from functions.webhooks.ports import DisabledUrl, SettingsChangedError, StoredSettings


class SettingsStore:
    """See `ports.Settings`."""

    def __init__(self, client: Callable[[], firestore.Client] = shared_client) -> None:
        """`client` gives the library's, when it is needed: seldom."""
        self._client = client

    def load(self, event_id: str) -> StoredSettings | None:
        """See `ports.Settings`."""
        found = self._reference(event_id).get(retry=RETRY, timeout=CALL_SECONDS)
        return StoredSettings(found.to_dict() or {}, found.update_time) if found.exists else None

    def disable(
        self, event_id: str, given_up: Iterable[DisabledUrl], found: StoredSettings
    ) -> None:
        """See `ports.Settings`."""
        entries = {
            f"disabled.{subscriptions.key(one.url)}": {
                "url": one.url,
                "reason": one.reason,
                "at": one.at,
            }
            for one in given_up
        }
        try:
            self._reference(event_id).update(
                entries,
                option=self._client().write_option(last_update_time=found.written_at),
                retry=RETRY,
                timeout=CALL_SECONDS,
            )
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise SettingsChangedError from changed

    def _reference(self, event_id: str) -> firestore.DocumentReference:
        return self._client().document("events", event_id, "settings", "webhooks")
