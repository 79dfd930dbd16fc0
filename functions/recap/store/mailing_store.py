"""The recap mails of tenants in Firestore: `recapMails/{tenant}` (design 4)."""

from datetime import datetime

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.recap.mailings import tenant_key
from functions.recap.ports import Mailed
from functions.records import ChangedMeanwhileError


class MailingStore:
    """See `ports.Mailings`; each method is one round trip."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def load(self, tenant_id: str) -> Mailed:
        """See `Mailings`."""
        found = self._reference(tenant_id).get(["entries"], retry=RETRY, timeout=CALL_SECONDS)
        return (
            Mailed(found.get("entries"), found.update_time) if found.exists else Mailed(b"", None)
        )

    def save(self, tenant_id: str, mailed: Mailed, expire_at: datetime) -> None:
        """See `Mailings`."""
        reference = self._reference(tenant_id)
        fields = {"entries": mailed.entries, "expireAt": expire_at}
        try:
            if mailed.version is None:
                reference.create(fields, retry=RETRY, timeout=CALL_SECONDS)
            else:
                option = self._client.write_option(last_update_time=mailed.version)
                reference.update(fields, option, retry=RETRY, timeout=CALL_SECONDS)
        except (
            exceptions.AlreadyExists,
            exceptions.FailedPrecondition,
            exceptions.NotFound,
        ) as changed:
            raise ChangedMeanwhileError from changed

    def _reference(self, tenant_id: str) -> firestore.DocumentReference:
        reference: firestore.DocumentReference = self._client.document(
            "recapMails", tenant_key(tenant_id)
        )
        return reference
