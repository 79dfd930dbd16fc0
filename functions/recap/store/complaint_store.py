"""Complaints in Firestore: summed over the recaps; stops are `recapStops/{tenant}` (design 4)."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.recap.complaints import Complaints, Stop, stop_path
from functions.recap.ports import RecapKey, StoredStop
from functions.records import ChangedMeanwhileError, Version

_CHANGED: Final = (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound)


class ComplaintStore:
    """See `ports.ComplaintRecords`; every method is one round trip."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """See `ComplaintRecords`."""
        found = self._client.document("events", key.event_id, "recaps", key.recap_id).get(
            ["tenantId", "startedAt"], retry=RETRY, timeout=CALL_SECONDS
        )
        fields = found.to_dict() or {}
        if not {"tenantId", "startedAt"} <= fields.keys():
            return None
        return fields["tenantId"], fields["startedAt"]

    def count(self, tenant_id: str, since: datetime, until: datetime) -> Complaints:
        """See `ComplaintRecords`."""
        found = (
            self._client.collection_group("recaps")
            .where(filter=FieldFilter("tenantId", "==", tenant_id))
            .where(filter=FieldFilter("startedAt", ">=", since))
            .where(filter=FieldFilter("startedAt", "<", until))
            .select(["complained", "sent"])
            .get(retry=RETRY, timeout=CALL_SECONDS)
        )
        counts = [recap.to_dict() or {} for recap in found]
        return Complaints(
            sum(fields.get("complained", 0) for fields in counts),
            sum(fields.get("sent", 0) for fields in counts),
        )

    def find(self, tenant_id: str) -> StoredStop | None:
        """See `ComplaintRecords`."""
        found = self._stop(tenant_id).get(retry=RETRY, timeout=CALL_SECONDS)
        return StoredStop(_stop(found.to_dict() or {}), found.update_time) if found.exists else None

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """See `ComplaintRecords`; an operator's pardon stays."""
        fields = {
            "tenantId": tenant_id,
            "since": stop.since,
            "day": stop.day.isoformat(),
            "complained": stop.complaints.complained,
            "sent": stop.complaints.sent,
        }
        commit = self._client.batch()
        if version is None:
            commit.create(self._stop(tenant_id), fields)
        else:
            option = self._client.write_option(last_update_time=version)
            commit.update(self._stop(tenant_id), fields, option=option)
        try:
            commit.commit(retry=RETRY, timeout=CALL_SECONDS)
        except _CHANGED as changed:
            raise ChangedMeanwhileError from changed

    def _stop(self, tenant_id: str) -> firestore.DocumentReference:
        return self._client.document(stop_path(tenant_id))


def _stop(fields: Mapping[str, Any]) -> Stop:
    return Stop(
        since=fields["since"],
        day=date.fromisoformat(fields["day"]),
        complaints=Complaints(fields["complained"], fields["sent"]),
        pardoned_at=fields.get("pardonedAt"),
    )
