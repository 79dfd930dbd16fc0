"""Checks after each complaint whether the tenant's recaps of that day had too many (spec 8)."""

from collections.abc import Callable, Sequence
from datetime import datetime

from functions import log
from functions.documents.refusals import ChangedMeanwhileError
from functions.recap.ledger.lock import RecapKey
from functions.recap.quota.complaint_store import ComplaintStore
from functions.recap.quota.complaints import LIMITS, Level, Limit, Stop, day_of, stop_path


class ComplaintWatch:
    """Reports complaints to the operator, and stops tenants with too many.

    Every result follows from the records, so a look may be repeated.
    """

    def __init__(
        self,
        records: ComplaintStore,
        now: Callable[[], datetime],
        limits: Sequence[Limit] = LIMITS,
    ) -> None:
        """`now` is aware."""
        self._records = records
        self._now = now
        self._limits = limits

    def look(self, key: RecapKey) -> None:
        """Check the day of a recap after new complaints were recorded.

        Recaps that began before an operator's pardon no longer count.
        """
        begun = self._records.begun(key)
        if begun is None:
            return
        tenant_id, began_at = begun
        begin, end = day_of(began_at)
        while True:
            found = self._records.find(tenant_id)
            pardoned_at = found.stop.pardoned_at if found else None
            since = max(begin, pardoned_at) if pardoned_at else begin
            if began_at < since:
                return
            counted = self._records.count(tenant_id, since, end)
            level = counted.level(self._limits)
            if level is None:
                return
            if level is Level.STOP and not (found and found.stop.holds):
                stop = Stop(
                    since=self._now(),
                    day=begin.date(),
                    complaints=counted,
                    pardoned_at=pardoned_at,
                )
                try:
                    self._records.put(tenant_id, stop, found.version if found else None)
                except ChangedMeanwhileError:
                    continue  # another look has stopped the tenant, or an operator has pardoned
            log.warning(
                "recap.complaints",
                tenantId=tenant_id,
                day=begin.date().isoformat(),
                level=level,
                complained=counted.complained,
                sent=counted.sent,
                stop=stop_path(tenant_id),
            )
            return
