"""Delivery statuses of recap mails: in Firestore, and the labels by which a mail is found."""

import re
import struct
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Final, Self

from functions.arguments import is_document_id
from functions.firestore.model import Documents, Update, Version, write_as_read
from functions.mail.outcome import DeliveryStatus, Tally
from functions.recap.ledger.batch import RecapKey

# The prefix keeps the labels apart from the mail service's own fields.
_EVENT: Final = "wall_event"
_RECAP: Final = "wall_recap"
_BATCH: Final = "wall_batch"
_GUEST: Final = "wall_guest"

_FORMS: Final = {
    _RECAP: re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII),
    _BATCH: re.compile(r"[0-9]{1,6}", re.ASCII),
    _GUEST: re.compile(r"[0-9a-f]{32}", re.ASCII),
}
"""Of the labels that every mail has, beside the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLabels:
    """The identity of one mail.

    Attributes:
        event_id: The event.
        recap_id: The recap.
        batch: Number of the batch.
        guest_id: The recipient's id in the ledger, a hash of the address.
    """

    event_id: str
    recap_id: str
    batch: int
    guest_id: str

    def as_texts(self) -> dict[str, str]:
        """The labels by name."""
        return {
            _EVENT: self.event_id,
            _RECAP: self.recap_id,
            _BATCH: str(self.batch),
            _GUEST: self.guest_id,
        }

    @classmethod
    def read(cls, labels: Mapping[str, object]) -> Self | None:
        """The labels of a recap mail; None where a label is missing or malformed."""
        texts = {name: label for name, label in labels.items() if isinstance(label, str)}
        fit = all(form.fullmatch(texts.get(name, "")) for name, form in _FORMS.items())
        if not fit or not is_document_id(texts.get(_EVENT)):
            return None
        return cls(
            event_id=texts[_EVENT],
            recap_id=texts[_RECAP],
            batch=int(texts[_BATCH]),
            guest_id=texts[_GUEST],
        )


_ENTRY: Final = struct.Struct(">16sB")
"""A guest's hash, as in the ledger, and the status: 5,000 mails take 85 KB of one document, so that
a request writes one document for any number of mails of a recap. As a map they would take 205 KB,
and 10,000 entries in indexes."""


def read_entries(entries: bytes) -> dict[str, DeliveryStatus]:
    """The statuses by guest id."""
    return {guest.hex(): DeliveryStatus(facts) for guest, facts in _ENTRY.iter_unpack(entries)}


def entries_of(statuses: Mapping[str, DeliveryStatus]) -> bytes:
    """The entries for `statuses`, ordered by guest id."""
    return b"".join(
        _ENTRY.pack(bytes.fromhex(guest), int(facts)) for guest, facts in sorted(statuses.items())
    )


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
            read_entries(found.fields["entries"]) if found else {},
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
            "entries": entries_of(statuses),
            "complaints": dict.fromkeys(complaints, True),
        }
        self.documents.commit(
            write_as_read(_statuses(key), fields, version),
            # An update fails where the recap is gone: nothing is written under a deleted event.
            Update(key.path, add=asdict(change)),
        )


def _statuses(key: RecapKey) -> str:
    return f"{key.path}/outcomes/mails"
