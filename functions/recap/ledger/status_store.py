"""Delivery statuses of mails in Firestore: `recaps/{recapId}/outcomes/mails`, beside the ledger."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from functions.firestore.model import Documents, Update, Version, write_as_read
from functions.mail.tracking import DeliveryStatus, Tally
from functions.recap.ledger import entries
from functions.recap.ledger.lock import RecapKey


@dataclass(frozen=True, slots=True)
class StoredStatuses:
    """The recorded statuses of a recap's mails.

    Attributes:
        sent_to: Recipients of the requested batches, by batch number, from the ledger.
        statuses: The statuses by guest id.
        complaints: The mailboxes that complained, as hashes.
        version: None before the first status.
    """

    sent_to: Mapping[int, Collection[str]]
    statuses: Mapping[str, DeliveryStatus]
    complaints: frozenset[str]
    version: Version | None


@dataclass(frozen=True, slots=True)
class StatusStore:
    """The delivery statuses of recap mails; every method is one round trip."""

    documents: Documents

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredStatuses:
        """The recorded statuses of a recap; empty where the recap does not exist."""
        numbers = sorted(batches)
        paths = [f"{key.path}/batches/{number}" for number in numbers]
        found, *ledger = self.documents.get_all([_statuses(key), *paths])
        return StoredStatuses(
            {
                number: {*batch.fields["recipients"], *batch.fields.get("resent", ())}
                for number, batch in zip(numbers, ledger, strict=True)
                if batch
            },
            entries.read(found.fields["entries"]) if found else {},
            frozenset(found.fields.get("complaints", {}) if found else ()),
            found.version if found else None,
        )

    def tenant_and_sent(self, key: RecapKey) -> tuple[str, int]:
        """The tenant of a recap, and the number of its mails."""
        fields = recap.fields if (recap := self.documents.get(key.path)) else {}
        return fields.get("tenantId", ""), fields.get("sent", 0)

    def save(
        self,
        key: RecapKey,
        statuses: Mapping[str, DeliveryStatus],
        change: Tally,
        complaints: frozenset[str],
        version: Version | None,
    ) -> None:
        """Replace the statuses and add `change` to the recap's counts, in one commit.

        `complaints` are all that are known.

        Raises:
            ChangedMeanwhileError: the document has another version, or the recap is gone.
        """
        fields = {
            "entries": entries.written(statuses),
            "complaints": dict.fromkeys(complaints, True),
        }
        self.documents.commit(
            write_as_read(_statuses(key), fields, version),
            # An update fails where the recap is gone: nothing is written under a deleted event.
            Update(key.path, add=asdict(change)),
        )


def _statuses(key: RecapKey) -> str:
    return f"{key.path}/outcomes/mails"
