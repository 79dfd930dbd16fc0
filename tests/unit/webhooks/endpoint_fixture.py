"""An event whose deliveries end as a test says, with sweeps of its endpoints and notices."""

from datetime import datetime, timedelta
from typing import Final

from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import NOTICE_QUEUE, FailingEndpoint
from functions.webhooks.webhook_settings import endpoint_id
from tests.in_memory.documents import InMemoryDocuments
from tests.in_memory.records import ended_delivery
from tests.unit.webhooks.webhook_fixture import EVENT, OTHER, URL, WebhookFixture

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
ANN: Final = "ann@example.com"
SETTINGS: Final = f"events/{EVENT}/settings/webhooks"


class EndpointFixture(WebhookFixture):
    """An event with two URLs. Ann is notified of both, and the service recovers the first."""

    def __init__(self) -> None:
        super().__init__()
        self.put(f"events/{EVENT}", {"tenantId": "t1", "name": "Garden party"})
        labels = {URL: "Screen in the hall"}
        self.subscribe(URL, OTHER, recover=[URL], notify=[ANN], labels=labels)
        self._made = 0

    def end_delivery(
        self,
        name: str,
        outcome: Outcome = Outcome.FAILED,
        *,
        url: str = URL,
        endpoint: str | None = None,
        test: bool = False,
        is_noted: bool = True,
    ) -> Delivery:
        """Record a delivery that ends now, report its failure, and let a minute pass."""
        delivery = ended_delivery(
            name, url, self.now, outcome, endpoint=endpoint or endpoint_id(url), test=test
        )
        self.stored.create(EVENT, [delivery])
        if outcome is Outcome.FAILED and is_noted:
            self.process().worker.failures.note(delivery)
        self.now += MINUTE
        return delivery

    def fail(self, times: int = 1, *, url: str = URL, test: bool = False) -> None:
        """Let deliveries fail, a minute apart."""
        for _ in range(times):
            self._made += 1
            self.end_delivery(f"f{self._made}", url=url, test=test)

    def acknowledge(self, url: str = URL) -> None:
        """Let a delivery be acknowledged."""
        self._made += 1
        self.end_delivery(f"f{self._made}", Outcome.SUCCESS, url=url)

    def sweep(self) -> int:
        """Run the sweep, and return the number of checked endpoints."""
        return self.process().endpoint_sweep.sweep()

    def sweep_until(self, moment: datetime) -> None:
        """Run the sweep every five minutes."""
        while self.now < moment:
            self.now += 5 * MINUTE
            self.sweep()

    def collect_notices(self, minutes: int = 5) -> list[str]:
        """Run the sweep every five minutes, and return the subjects of the emails."""
        before = len(self.mails)
        for _ in range(minutes // 5):
            self.now += 5 * MINUTE
            tasks = len(self.queued)
            self.sweep()
            for task in self.queued[tasks:]:
                if task.queue == NOTICE_QUEUE:
                    self.process().notifier.notify(EVENT)
        return [mail.subject for mail in self.mails[before:]]

    @property
    def resent(self) -> list[str]:
        """IDs of the deliveries that were queued again, in order."""
        return [str(task.data["deliveryId"]) for task in self.queued if task.data.get("round")]

    def endpoint_record(self, url: str = URL) -> FailingEndpoint | None:
        """Return the record of the endpoint, or None."""
        records = EndpointStore(InMemoryDocuments(self.firestore)).of_event(EVENT)
        return next((record for record in records if record.id == endpoint_id(url)), None)
