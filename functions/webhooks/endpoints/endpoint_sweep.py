"""Sweep over failing endpoints: determine and carry out the next action of each record.

    due records, round-robin by tenant ▸ latest deliveries ▸ next action ▸ carry it out ▸ the record

Checks are independent: an error in one check does not delay others, and the next sweep repeats the
check. If a sweep runs out of time, round-robin ensures that one tenant's endpoints do not delay
other tenants.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Final

from functions import log, ports
from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.deliveries.delivery import Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.endpoints.endpoint_store import EndpointStore, check_endpoint
from functions.webhooks.endpoints.failing_endpoint import (
    FAILING_FOR,
    FAILURES_TO_DISABLE,
    RECOVERED_BACK,
    EndpointCheck,
    FailingEndpoint,
    NextAction,
    notice_task,
)
from functions.webhooks.webhook_settings import SettingsStore, WebhookSettings

REASON: Final = (
    f"{FAILURES_TO_DISABLE} or more consecutive deliveries failed over more than"
    f" {FAILING_FOR.days} days"
)

SWEEP_SECONDS: Final = 150.0
"""Seconds after which a sweep starts no further check. The next sweep continues."""

PAGES_OF_A_CHECK: Final = 10
"""Maximum pages of deliveries to read in one check, before it is the next endpoint's turn."""

_AT_A_TIME: Final = 100
"""Number of checks for which one call reads the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSweep:
    """Use case: check failing endpoints. Only one sweep runs at a time."""

    endpoints: EndpointStore
    settings: SettingsStore
    redelivery: Redelivery
    task_queue: ports.TaskQueue
    in_parallel: ports.ParallelMap
    clock: ports.Clock
    page: int
    """Number of deliveries per page."""

    def sweep(self) -> int:
        """Check the due endpoints until the time is over, and return the number of checks.

        An endpoint with more deliveries to resend returns to the end of the line.
        """
        began = self.clock.now()  # settings are read later
        until = self.clock.monotonic() + SWEEP_SECONDS
        known: dict[str, WebhookSettings] = {}

        def check(record: FailingEndpoint) -> FailingEndpoint | None:
            try:
                return self._apply(record, known[record.event_id], began)
            except Exception as error:  # noqa: BLE001 - the next sweep tries again
                host = host_of(record.url)
                log.fault("endpoint.not-swept", error, eventId=record.event_id, host=host)
                return None

        due, checked = deque(tenants_in_turn(self.endpoints.due(self.clock.now()))), 0
        while due:
            if self.clock.monotonic() > until:
                log.warning("endpoints.not-swept-yet", left=len(due))
                break
            records = [due.popleft() for _ in range(min(len(due), _AT_A_TIME))]
            if unknown := {record.event_id for record in records} - known.keys():
                known |= self.settings.load_all(unknown)
            unfinished = list(filter(None, self.in_parallel(check, records)))
            due += unfinished
            for record in unfinished:  # read the settings again: an admin may end the recovery
                known.pop(record.event_id, None)
            checked += len(records)
        return checked

    def _apply(
        self, record: FailingEndpoint, settings: WebhookSettings, read_at: datetime
    ) -> FailingEndpoint | None:
        """Carry out the next action of an endpoint.

        The `settings` were read at `read_at` or later.

        Returns:
            The record if there are more deliveries to resend, else None.
        """
        check = check_endpoint(record, settings, self.redelivery.deliveries, self.clock.now())
        if check is None:
            self.endpoints.forget(record)
            return None
        if check.next_action is NextAction.RESEND:
            check = replace(check, record=self._resent(check, read_at))
        record, endpoint, now, next_action = (
            check.record,
            check.endpoint,
            check.now,
            check.next_action,
        )
        if next_action is NextAction.FORGET:
            self.endpoints.forget(record)
            return None
        with suppress(ChangedMeanwhileError):  # the next sweep checks again
            if next_action is NextAction.DISABLE:
                self.settings.disable(record.event_id, endpoint, REASON, now, settings)
                host = host_of(endpoint.url)
                log.error("webhook.disabled", eventId=record.event_id, host=host, reason=REASON)
            saved = self.endpoints.save(record.waiting(endpoint, now))
            record = replace(record, version=saved.version)  # keeps `resent_until` of this check
        if next_action in (NextAction.NOTIFY, NextAction.NOTIFY_OF_RECOVERY):
            self.task_queue.enqueue(notice_task(record.event_id, now))
        return record if next_action is NextAction.RESEND else None

    def _resent(self, check: EndpointCheck, read_at: datetime) -> FailingEndpoint:
        """Redeliver failures from before the last acknowledgement, oldest first.

        The call redelivers some pages, records its progress in `resent_until`, and the next check
        continues. A delivery is redelivered automatically only once, after its first round. Thus a
        crash repeats no redelivery, and deliveries that organizers resent are skipped.
        """
        record, endpoint = check.record, check.endpoint
        until = check.latest.acknowledged_at or check.now
        earliest = until - RECOVERED_BACK
        failed = EndedWithin(
            since=max(record.resent_until or earliest, earliest),
            until=until,
            outcomes=(Outcome.FAILED,),
            endpoints=(record.id,),
        )

        def begin(delivery: Delivery) -> bool:
            return self.redelivery.begin(delivery, endpoint, read_at)

        after, resent = None, 0
        for _ in range(PAGES_OF_A_CHECK):
            deliveries = self.redelivery.deliveries.ended(record.event_id, failed, after, self.page)
            first_round = [entry for entry in deliveries if not entry.test and not entry.round]
            resent += sum(self.in_parallel(begin, first_round))
            after = deliveries[-1].cursor if len(deliveries) == self.page else None
            if after is None:
                break
        if resent:
            host = host_of(endpoint.url)
            log.info("webhook.recovered", eventId=record.event_id, host=host, resent=resent)
        return replace(record, resent_until=after.at if after else until)


def tenants_in_turn(records: Iterable[FailingEndpoint]) -> Iterator[FailingEndpoint]:
    """Yield the records round-robin by tenant, and keep the order of each tenant's records."""
    per_tenant: dict[str, list[FailingEndpoint]] = defaultdict(list)
    for record in records:
        per_tenant[record.tenant_id].append(record)
    for turn in zip_longest(*per_tenant.values()):
        yield from (record for record in turn if record is not None)
