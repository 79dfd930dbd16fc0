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
from functions.recap.quota.complaints import (
    Complaints,
    RecapComplaints,
    Stop,
    StoredStop,
    stop_path,
)


@dataclass(frozen=True, slots=True)
class ComplaintStore:
    """Complaints about recaps, and the stops; every method but `recaps` is one round trip."""

    documents: Documents

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """The tenant and the start of a recap; None where they are not recorded."""
        found = self.documents.get(key.path)
        if not found or not {"tenantId", "startedAt"} <= found.fields.keys():
            return None
        return found.fields["tenantId"], found.fields["startedAt"]

    def recaps(self, tenant_id: str, since: datetime, until: datetime) -> list[RecapComplaints]:
        """The tenant's recaps that began at `since` or later, and before `until`."""
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
                select=["sent"],
            )
        )
        outcomes = self.documents.get_all(
            [f"{recap.path}/outcomes/mails" for recap in recaps], fields=["complaints"]
        )
        return [
            RecapComplaints(
                recap.path.split("/")[1],
                recap.fields["startedAt"],
                recap.fields.get("sent", 0),
                outcome.fields.get("complaints", {}) if outcome else {},
            )
            for recap, outcome in zip(recaps, outcomes, strict=True)
        ]

    def find(self, tenant_id: str, event_id: str) -> list[StoredStop | None]:
        """The stop of the event, and that of the tenant; each pardoned or not, or None."""
        paths = [stop_path(tenant_id, event_id), stop_path(tenant_id)]
        return [
            StoredStop(_stop(found.fields), found.version) if found else None
            for found in self.documents.get_all(paths)
        ]

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """Replace the stop in `version`; None: create the first stop. An operator's pardon stays.

        Raises:
            ChangedMeanwhileError: the stop has another version.
        """
        fields = {
            "tenantId": tenant_id,
            "eventId": stop.event_id,
            "since": stop.since,
            "day": stop.day.isoformat(),
            "complained": stop.complaints.complained,
            "sent": stop.complaints.sent,
        }
        path = stop_path(tenant_id, stop.event_id)
        self.documents.commit(write_as_read(path, fields, version))


def _stop(fields: Mapping[str, Any]) -> Stop:
    return Stop(
        since=fields["since"],
        day=date.fromisoformat(fields["day"]),
        complaints=Complaints(fields["complained"], fields["sent"]),
        pardoned_at=fields.get("pardonedAt"),
        event_id=fields.get("eventId"),
    )
