"""Complaints in Firestore: summed over the recaps; stops are `recapStops/{tenant}` (design 4)."""

from dataclasses import dataclass
from datetime import date, datetime

from functions.documents.document import Document
from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.documents.write import write_as_read
from functions.recap.ledger.lock import RecapKey
from functions.recap.quota.complaints import (
    Complaints,
    RecapComplaints,
    Stop,
    stop_path,
)


@dataclass(frozen=True, slots=True)
class ComplaintStore:
    """Complaints about recaps, and the stops; every method but `recaps` is one round trip."""

    documents: Documents

    def tenant_and_start(self, key: RecapKey) -> tuple[str, datetime] | None:
        """The tenant and the start of a recap; None where they are not recorded."""
        found = self.documents.get(key.path)
        if not found or not {"tenantId", "startedAt"} <= found.fields.keys():
            return None
        return found.fields["tenantId"], found.fields["startedAt"]

    def recaps(self, tenant_id: str, since: datetime, until: datetime) -> list[RecapComplaints]:
        """The tenant's recaps that started at `since` or later, and before `until`."""
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

    def find(self, tenant_id: str, event_id: str) -> list[Stop | None]:
        """The stop of the event, and that of the tenant; each pardoned or not, or None."""
        paths = [stop_path(tenant_id, event_id), stop_path(tenant_id)]
        return [_stop(found) if found else None for found in self.documents.get_all(paths)]

    def put(self, tenant_id: str, stop: Stop) -> None:
        """Create the stop, or replace that of the same version. An operator's pardon stays.

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
        self.documents.commit(write_as_read(path, fields, stop.version))


def _stop(found: Document) -> Stop:
    fields = found.fields
    return Stop(
        since=fields["since"],
        day=date.fromisoformat(fields["day"]),
        complaints=Complaints(fields["complained"], fields["sent"]),
        pardoned_at=fields.get("pardonedAt"),
        event_id=fields.get("eventId"),
        version=found.version,
    )
