"""Delivery statuses of mails in Firestore: `recaps/{recapId}/outcomes/mails`, beside the ledger."""

from collections.abc import Collection, Mapping
from dataclasses import asdict

from functions.documents.document import Version
from functions.documents.documents import Documents
from functions.documents.write import Update, write_as_read
from functions.mail.tracking import DeliveryStatus, Tally
from functions.recap.mail_events import entries
from functions.recap.mail_events.ports import StoredStatuses
from functions.recap.ports import RecapKey


class StatusStore:
    """See `ports.DeliveryStatuses`; every method is one round trip."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredStatuses:
        """See `ports.DeliveryStatuses`."""
        numbers = sorted(batches)
        paths = [f"{key.path}/batches/{number}" for number in numbers]
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
        fields = {"entries": entries.written(statuses)}
        self._documents.commit(
            write_as_read(_statuses(key), fields, version),
            # An update fails where the recap is gone: nothing is written under a deleted event.
            Update(key.path, add=asdict(change)),
        )


def _statuses(key: RecapKey) -> str:
    return f"{key.path}/outcomes/mails"
