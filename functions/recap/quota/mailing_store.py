"""The recap mails of tenants in Firestore: `recapMails/{tenant}` (design 4)."""

from dataclasses import dataclass
from datetime import datetime

from functions.firestore.model import Documents, Version, write_as_read
from functions.recap.quota.mailings import PERIOD, tenant_key


@dataclass(frozen=True, slots=True)
class MailingStore:
    """The recap mails of the last 24 hours: one record per tenant, one round trip per method."""

    documents: Documents

    def load(self, tenant_id: str) -> tuple[bytes, Version | None]:
        """The tenant's entries and their version, which is None before the first record."""
        found = self.documents.get(_path(tenant_id))
        return (found.fields["entries"], found.version) if found else (b"", None)

    def save(self, tenant_id: str, version: Version | None, entries: bytes, now: datetime) -> None:
        """Replace the entries of that `version`; the record may be deleted when all are too old.

        Raises:
            ChangedMeanwhileError: the record was written meanwhile.
        """
        fields = {"entries": entries, "expireAt": now + PERIOD}
        self.documents.commit(write_as_read(_path(tenant_id), fields, version))


def _path(tenant_id: str) -> str:
    return f"recapMails/{tenant_key(tenant_id)}"
