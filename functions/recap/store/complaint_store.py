"""Complaints in Firestore: summed over the recaps; stops are `recapStops/{tenant}` (design 4)."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from functions.documents.document import Version
from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.documents.write import write_as_read
from functions.recap.complaints import Complaints, Stop, stop_path
from functions.recap.ports import RecapKey, StoredStop


class ComplaintStore:
    """See `ports.ComplaintRecords`; every method is one round trip."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """See `ComplaintRecords`."""
        found = self._documents.get(key.path)
        if not found or not {"tenantId", "startedAt"} <= found.fields.keys():
            return None
        return found.fields["tenantId"], found.fields["startedAt"]

    def count(self, tenant_id: str, since: datetime, until: datetime) -> Complaints:
        """See `ComplaintRecords`."""
        recaps = self._documents.find(
            Query(
                collection="recaps",
                group=True,
                where=[
                    ("tenantId", "==", tenant_id),
                    ("startedAt", ">=", since),
                    ("startedAt", "<", until),
                ],
                order=["startedAt"],
                select=["complained", "sent"],
            )
        )
        return Complaints(
            sum(recap.fields.get("complained", 0) for recap in recaps),
            sum(recap.fields.get("sent", 0) for recap in recaps),
        )

    def find(self, tenant_id: str) -> StoredStop | None:
        """See `ComplaintRecords`."""
        found = self._documents.get(stop_path(tenant_id))
        return StoredStop(_stop(found.fields), found.version) if found else None

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """See `ComplaintRecords`; an operator's pardon stays."""
        fields = {
            "tenantId": tenant_id,
            "since": stop.since,
            "day": stop.day.isoformat(),
            "complained": stop.complaints.complained,
            "sent": stop.complaints.sent,
        }
        self._documents.commit(write_as_read(stop_path(tenant_id), fields, version))


def _stop(fields: Mapping[str, Any]) -> Stop:
    return Stop(
        since=fields["since"],
        day=date.fromisoformat(fields["day"]),
        complaints=Complaints(fields["complained"], fields["sent"]),
        pardoned_at=fields.get("pardonedAt"),
    )
