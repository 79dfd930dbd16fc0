"""Complaints in Firestore: summed over the recaps; stops are `recapStops/{tenant}` (design 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from functions.documents.document import Version
from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.documents.write import write_as_read
from functions.recap.ledger.lock import RecapKey
from functions.recap.quota.complaints import Complaints, Stop, StoredStop, stop_path


@dataclass(frozen=True, slots=True)
class ComplaintStore:
    """The complaints about tenants' recaps, and the stops; every method is one round trip."""

    documents: Documents

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """The tenant and the start of a recap; None where they are not recorded."""
        found = self.documents.get(key.path)
        if not found or not {"tenantId", "startedAt"} <= found.fields.keys():
            return None
        return found.fields["tenantId"], found.fields["startedAt"]

    def count(self, tenant_id: str, since: datetime, until: datetime) -> Complaints:
        """The sum over the tenant's recaps that began at `since` or later, and before `until`."""
        recaps = self.documents.find(
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
        """The tenant's stop, pardoned or not, if any."""
        found = self.documents.get(stop_path(tenant_id))
        return StoredStop(_stop(found.fields), found.version) if found else None

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """Replace the stop in `version`; None: create the first stop. An operator's pardon stays.

        Raises:
            ChangedMeanwhileError: the stop has another version.
        """
        fields = {
            "tenantId": tenant_id,
            "since": stop.since,
            "day": stop.day.isoformat(),
            "complained": stop.complaints.complained,
            "sent": stop.complaints.sent,
        }
        self.documents.commit(write_as_read(stop_path(tenant_id), fields, version))


def _stop(fields: Mapping[str, Any]) -> Stop:
    return Stop(
        since=fields["since"],
        day=date.fromisoformat(fields["day"]),
        complaints=Complaints(fields["complained"], fields["sent"]),
        pardoned_at=fields.get("pardonedAt"),
    )
