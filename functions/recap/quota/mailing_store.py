"""The recap mails of tenants in Firestore: `recapMails/{tenant}` (design 4)."""

from dataclasses import dataclass
from datetime import datetime

from functions.documents.documents import Documents
from functions.documents.write import write_as_read
from functions.recap.quota.mailings import PERIOD, Mailed, tenant_key


@dataclass(frozen=True, slots=True)
class MailingStore:
    """The recap mails of the last 24 hours: one record per tenant, one round trip per method."""

    documents: Documents

    def load(self, tenant_id: str) -> Mailed:
        """The record of the tenant."""
        found = self.documents.get(_path(tenant_id))
        return Mailed(found.fields["entries"], found.version) if found else Mailed(b"", None)

    def save(self, tenant_id: str, mailed: Mailed, entries: bytes, now: datetime) -> None:
        """Write `entries` into the record `mailed`, which may be deleted when all are too old.

        Raises:
            ChangedMeanwhileError: the record was written meanwhile.
        """
        fields = {"entries": entries, "expireAt": now + PERIOD}
        self.documents.commit(write_as_read(_path(tenant_id), fields, mailed.version))


def _path(tenant_id: str) -> str:
    return f"recapMails/{tenant_key(tenant_id)}"
