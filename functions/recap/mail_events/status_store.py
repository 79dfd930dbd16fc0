"""Delivery statuses of mails in Firestore: `recaps/{recapId}/outcomes/mails`, beside the ledger."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Final

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.documents import Documents
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.mail.tracking import DeliveryStatus, Tally
from functions.recap.mail_events import entries
from functions.recap.mail_events.ports import StoredStatuses
from functions.recap.ports import RecapKey
from functions.records import ChangedMeanwhileError, Version

_CHANGED: Final = (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound)


class StatusStore:
    """See `ports.DeliveryStatuses`; every method is one round trip."""

    def __init__(self, client: firestore.Client, documents: Documents) -> None:
        """`documents` reads; `client` writes, because only it can increment a field."""
        self._client = client
        self._documents = documents

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredStatuses:
        """See `ports.DeliveryStatuses`."""
        numbers = sorted(batches)
        paths = [f"{_recap(key)}/batches/{number}" for number in numbers]
        found, *ledger = self._documents.get_all([_statuses(key), *paths])
        return StoredStatuses(
            {
                number: frozenset(batch.fields["recipients"])
                for number, batch in zip(numbers, ledger, strict=True)
                if batch
            },
            entries.read(found.fields["entries"]) if found else {},
            found.version if found else None,
        )

    def save(
        self,
        key: RecapKey,
        statuses: Mapping[str, DeliveryStatus],
        change: Tally,
        version: Version | None,
    ) -> None:
        """See `ports.DeliveryStatuses`."""
        commit = self._client.batch()
        reference = self._client.document(_statuses(key))
        fields = {"entries": entries.written(statuses)}
        if version is None:
            commit.create(reference, fields)
        else:
            option = self._client.write_option(last_update_time=version)
            commit.update(reference, fields, option=option)
        # An update fails where the recap is gone, so that nothing is written under a deleted event.
        commit.update(
            self._client.document(_recap(key)),
            {name: firestore.Increment(count) for name, count in asdict(change).items()},
        )
        try:
            commit.commit(retry=RETRY, timeout=CALL_SECONDS)
        except _CHANGED as changed:
            raise ChangedMeanwhileError from changed


def _recap(key: RecapKey) -> str:
    return f"events/{key.event_id}/recaps/{key.recap_id}"


def _statuses(key: RecapKey) -> str:
    return f"{_recap(key)}/outcomes/mails"
