"""Whom the tenants have mailed lately, in Firestore: `recapMails/{tenant and day}` (design 4)."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.recap.mailings import PERIOD
from functions.recap.ports import MailedDay, TakenElsewhereError

_KEPT: Final = timedelta(days=1) + PERIOD
"""A day counts until 24 hours after its end."""


class MailingStore:
    """Reads and writes of days; each method is one round trip."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def load(self, tenant_id: str, days: Sequence[date]) -> list[MailedDay]:
        """See `Mailings`."""
        references = {self._reference(tenant_id, one).path: one for one in days}
        found = self._client.get_all(
            [self._client.document(path) for path in references],
            ["entries"],
            retry=RETRY,
            timeout=CALL_SECONDS,
        )
        read = {
            one.reference.path: MailedDay(
                references[one.reference.path], one.get("entries"), one.update_time
            )
            for one in found
            if one.exists
        }
        return [read.get(path, MailedDay(day, b"", None)) for path, day in references.items()]

    def save(self, tenant_id: str, days: Sequence[MailedDay]) -> None:
        """See `Mailings`."""
        commit = self._client.batch()
        for one in days:
            reference = self._reference(tenant_id, one.day)
            begin = datetime.combine(one.day, time(), UTC)
            fields = {"entries": one.entries, "expireAt": begin + _KEPT}
            if one.version is None:
                commit.create(reference, fields)
            else:
                option = self._client.write_option(last_update_time=one.version)
                commit.update(reference, fields, option=option)
        try:
            commit.commit(retry=RETRY, timeout=CALL_SECONDS)
        except (
            exceptions.AlreadyExists,
            exceptions.FailedPrecondition,
            exceptions.NotFound,
        ) as changed:
            raise TakenElsewhereError from changed

    def _reference(self, tenant_id: str, day: date) -> firestore.DocumentReference:
        # A tenant's id may be anything that a claim can hold, also what no document can be called.
        tenant = hashlib.sha256(tenant_id.encode()).hexdigest()[:32]
        reference: firestore.DocumentReference = self._client.document(
            "recapMails", f"{tenant}-{day.isoformat()}"
        )
        return reference
