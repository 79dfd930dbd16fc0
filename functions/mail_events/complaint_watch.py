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

    def check_day(self, key: RecapKey) -> None:
        """Check the day of a recap after new complaints were recorded.

        Recaps that started before an operator's pardon no longer count.
        """
        tenant_id, started_at = self.records.tenant_and_start(key) or ("", None)
        if started_at is None:
            return
        while True:
            of_event, of_tenant = self.records.find(tenant_id, key.event_id)
            recaps = self.records.recaps(tenant_id, *day_of(started_at))
            about_event = [recap for recap in recaps if recap.event_id == key.event_id]
            try:
                if not self._check_recaps(
                    tenant_id, key.event_id, of_event, about_event, started_at
                ):
                    self._check_recaps(tenant_id, None, of_tenant, recaps, started_at)
            except ChangedMeanwhileError:
                continue  # another check has stopped them, or an operator has pardoned
            return

    def _check_recaps(
        self,
        tenant_id: str,
        event_id: str | None,
        stop: Stop | None,
        recaps: Sequence[RecapComplaints],
        started_at: datetime,
    ) -> bool:
        """Check the recaps of an event, or all recaps of the tenant; whether that is enough.

        Raises:
            ChangedMeanwhileError: the stop was written meanwhile.
        """
        pardoned_at = stop.pardoned_at if stop else None
        if pardoned_at and started_at < pardoned_at:
            return event_id is not None
        recaps = [recap for recap in recaps if not pardoned_at or recap.started_at >= pardoned_at]
        counted = Complaints.of(recaps)
        level = counted.level(self.limits)
        if event_id is None and level is Level.STOP and beside_the_worst(recaps) < SEVERAL:
            level = Level.WARNING
        if level is None or (event_id and level is not Level.STOP):
            return False
        day = day_of(started_at)[0].date()
        is_new = level is Level.STOP and not (stop and stop.holds)
        if is_new:
            found = Stop(
                since=self.now(),
                day=day,
                complaints=counted,
                pardoned_at=pardoned_at,
                event_id=event_id,
                version=stop.version if stop else None,
            )
            self.records.put(tenant_id, found)
        log.warning(
            "recap.complaints",
            tenantId=tenant_id,
            day=day.isoformat(),
            level=level,
            complained=counted.complained,
            sent=counted.sent,
            eventId=event_id,
            stop=stop_path(tenant_id, event_id),
        )
        return is_new
