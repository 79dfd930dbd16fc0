"""The recap mails of tenants in Firestore: `recapMails/{tenant}` (design 4)."""

from datetime import datetime

from functions.documents.documents import Documents
from functions.documents.write import write_as_read
from functions.recap.mailings import tenant_key
from functions.recap.ports import Mailed


class MailingStore:
    """See `ports.Mailings`; each method is one round trip."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def load(self, tenant_id: str) -> Mailed:
        """See `Mailings`."""
        found = self._documents.get(_path(tenant_id))
        return Mailed(found.fields["entries"], found.version) if found else Mailed(b"", None)

    def save(self, tenant_id: str, mailed: Mailed, expire_at: datetime) -> None:
        """See `Mailings`."""
        fields = {"entries": mailed.entries, "expireAt": expire_at}
        self._documents.commit(write_as_read(_path(tenant_id), fields, mailed.version))


def _path(tenant_id: str) -> str:
    return f"recapMails/{tenant_key(tenant_id)}"
