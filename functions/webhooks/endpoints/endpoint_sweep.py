"""One sweep over the endpoints that fail: what follows from each record is carried out.

    due records, tenants in turn ▸ latest deliveries ▸ what follows ▸ carry it out ▸ the record

Each check is independent: an error there keeps no other endpoint waiting, and the next sweep tries
again. Where the time of a sweep is not enough, each tenant has had its turns: the endpoints of one
tenant keep nobody else waiting.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Final

from functions import log
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock, InParallel, TaskQueue
from functions.webhooks.deliveries.delivery import Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.endpoints.endpoint_store import EndpointStore, check_endpoint
from functions.webhooks.endpoints.failing_endpoint import (
    FAILING_FOR,
    FAILURES_TO_DISABLE,
    RECOVERED_BACK,
    Check,
    FailingEndpoint,
    Step,
    notice_task,
)
from functions.webhooks.webhook_settings import SettingsStore, WebhookSettings

REASON: Final = (
    f"{FAILURES_TO_DISABLE} deliveries in a row or more have failed, for more than"
    f" {FAILING_FOR.days} days"
)

SWEEP_SECONDS: Final = 150.0
"""After that time no further check begins; the next sweep goes on."""

PAGES_OF_A_CHECK: Final = 10
"""Pages of deliveries that are read for one endpoint before all others had their turn."""

_AT_A_TIME: Final = 100
"""Checks whose settings are read with one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSweep:
    """Carries out what follows from the records; one sweep runs at a time."""

    endpoints: EndpointStore
    settings: SettingsStore
    deliveries: DeliveryStore
    redelivery: Redelivery
    task_queue: TaskQueue
    in_parallel: InParallel
    clock: Clock
    page: int
    """Deliveries that are read at a time."""

    def sweep(self) -> int:
        """Check the endpoints that are due, as far as the time goes; the number of checks.

        An endpoint with more to send again is checked again, behind all others.
        """
        began = self.clock.now()  # no settings are read earlier
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
            for record in unfinished:  # perhaps an admin ends the recovery meanwhile
                known.pop(record.event_id, None)
            checked += len(records)
        return checked

    def _apply(
        self, record: FailingEndpoint, settings: WebhookSettings, read_at: datetime
    ) -> FailingEndpoint | None:
        """Carry out what follows; the record where more is to be sent again, else None.

        The `settings` were read at `read_at`, or later.
        """
        check = check_endpoint(record, settings, self.deliveries, self.clock.now())
        if check is None:
            self.endpoints.forget(record)
            return None
        if check.step is Step.SEND_AGAIN:
            check = replace(check, record=self._resent(check, read_at))
        record, endpoint, now, step = check.record, check.endpoint, check.now, check.step
        if step is Step.FORGET:
            self.endpoints.forget(record)
            return None
        with suppress(ChangedMeanwhileError):  # the next sweep checks again
            if step is Step.DISABLE:
                self.settings.disable(record.event_id, endpoint, REASON, now, settings)
                host = host_of(endpoint.url)
                log.error("webhook.disabled", eventId=record.event_id, host=host, reason=REASON)
            saved = self.endpoints.save(record.waiting(endpoint, now))
            record = replace(record, version=saved.version)  # which looks at nothing twice
        if step in (Step.NOTIFY, Step.NOTIFY_OF_RECOVERY):
            self.task_queue.enqueue(notice_task(record.event_id, now))
        return record if step is Step.SEND_AGAIN else None

    def _resent(self, check: Check, read_at: datetime) -> FailingEndpoint:
        """Send again what failed before the last acknowledgement, the oldest failure first.

        Some pages of it: the record says until when, and the next check goes on. A delivery is sent
        again by itself once, after its first round: a crash repeats none, and what people have sent
        again is left alone.
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
            deliveries = self.deliveries.ended(record.event_id, failed, after, self.page)
            first_round = [entry for entry in deliveries if not entry.test and not entry.round]
            resent += sum(self.in_parallel(begin, first_round))
            after = deliveries[-1].end if len(deliveries) == self.page else None
            if after is None:
                break
        if resent:
            host = host_of(endpoint.url)
            log.info("webhook.recovered", eventId=record.event_id, host=host, resent=resent)
        return replace(record, resent_until=after.at if after else until)


def tenants_in_turn(records: Iterable[FailingEndpoint]) -> Iterator[FailingEndpoint]:
    """One record of each tenant, then a second one, and so on; each tenant's in their order."""
    of_tenants: dict[str, list[FailingEndpoint]] = defaultdict(list)
    for record in records:
        of_tenants[record.tenant_id].append(record)
    for turn in zip_longest(*of_tenants.values()):
        yield from (record for record in turn if record is not None)
