"""The webhook settings of an event, as the service writes them: `disabled`, and nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY


class SettingsChangedError(Exception):
    """The settings are no longer as they were read; nothing was written."""


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """Fields of `events/{eventId}/settings/webhooks`, and when they were last written."""

    fields: Mapping[str, Any]
    written_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """An entry of `disabled`: `key` is where it stands, `reason` is for people."""

    key: str
    url: str
    reason: str
    at: datetime


class WebhookSettings:
    """Reads and writes of the settings; every method is one round trip."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def load(self, event_id: str) -> StoredSettings | None:
        """The settings as they are now; None where there are none."""
        found = self._reference(event_id).get(retry=RETRY, timeout=CALL_SECONDS)
        return StoredSettings(found.to_dict() or {}, found.update_time) if found.exists else None

    def disable(self, event_id: str, given_up: Iterable[Disabled], found: StoredSettings) -> None:
        """Disable URLs, unless anything has been written since the settings were `found`.

        Raises:
            SettingsChangedError: something has.
        """
        entries = {
            f"disabled.{one.key}": {"url": one.url, "reason": one.reason, "at": one.at}
            for one in given_up
        }
        try:
            self._reference(event_id).update(
                entries,
                option=self._client.write_option(last_update_time=found.written_at),
                retry=RETRY,
                timeout=CALL_SECONDS,
            )
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise SettingsChangedError from changed

    def _reference(self, event_id: str) -> firestore.DocumentReference:
        return self._client.document("events", event_id, "settings", "webhooks")
