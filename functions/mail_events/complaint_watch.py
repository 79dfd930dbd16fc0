"""Checks after each complaint whether the recaps of that day had too many (spec 8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from functions import log
from functions.documents.refusals import ChangedMeanwhileError
from functions.recap.ledger.lock import RecapKey
from functions.recap.quota.complaint_store import ComplaintStore
from functions.recap.quota.complaints import (
    LIMITS,
    SEVERAL,
    Complaints,
    Level,
    Limit,
    RecapComplaints,
    Stop,
    StoredStop,
    beside_the_worst,
    day_of,
    stop_path,
)


@dataclass(frozen=True, slots=True)
class ComplaintWatch:
    """Reports complaints to the operator, and stops events and tenants with too many.

    Every result follows from the records, so a check may be repeated. `now` is aware.
    """

    records: ComplaintStore
    now: Callable[[], datetime]
    limits: Sequence[Limit] = LIMITS

    def look(self, key: RecapKey) -> None:
        """Check the day of a recap after new complaints were recorded.

        Recaps that began before an operator's pardon no longer count.
        """
        begun = self.records.begun(key)
        if begun is None:
            return
        tenant_id, began_at = begun
        begin, end = day_of(began_at)
        while True:
            of_event, of_tenant = self.records.find(tenant_id, key.event_id)
            recaps = self.records.recaps(tenant_id, begin, end)
            try:
                if not self._look(tenant_id, key.event_id, of_event, recaps, began_at):
                    self._look(tenant_id, None, of_tenant, recaps, began_at)
            except ChangedMeanwhileError:
                continue  # another look has stopped them, or an operator has pardoned
            return

    def _look(
        self,
        tenant_id: str,
        event_id: str | None,
        found: StoredStop | None,
        recaps: Sequence[RecapComplaints],
        began_at: datetime,
    ) -> bool:
        """Check the recaps of an event, or all recaps of the tenant; whether that is enough.

        Raises:
            ChangedMeanwhileError: the stop was written meanwhile.
        """
        pardoned_at = found.stop.pardoned_at if found else None
        if pardoned_at and began_at < pardoned_at:
            return event_id is not None
        recaps = [recap for recap in recaps if not pardoned_at or recap.began_at >= pardoned_at]
        if event_id:
            recaps = [recap for recap in recaps if recap.event_id == event_id]
        counted = Complaints.of(recaps)
        level = counted.level(self.limits)
        if event_id is None and level is Level.STOP and beside_the_worst(recaps) < SEVERAL:
            level = Level.WARNING
        if level is None or (event_id and level is not Level.STOP):
            return False
        is_new = level is Level.STOP and not (found and found.stop.holds)
        if is_new:
            stop = Stop(
                since=self.now(),
                day=day_of(began_at)[0].date(),
                complaints=counted,
                pardoned_at=pardoned_at,
                event_id=event_id,
            )
            self.records.put(tenant_id, stop, found.version if found else None)
        log.warning(
            "recap.complaints",
            tenantId=tenant_id,
            day=day_of(began_at)[0].date().isoformat(),
            level=level,
            complained=counted.complained,
            sent=counted.sent,
            eventId=event_id,
            stop=stop_path(tenant_id, event_id),
        )
        return is_new
