"""Time of a cold start: from the spawn of a process to its first response.

The reference is the smallest worker that reads a delivery, posts it and records the outcome with
the same libraries (`smallest_worker`). The processes run one after another. A ratio is the median
over the rounds. The Firestore emulator, the receiver and the mailbox are warm.
"""

import json
import os
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.cloud import firestore

from bench.delivery import delivery_to
from bench.figures import Row, spread
from bench.processes import KEEPS, Receivers, peer
from emulator import certificates
from emulator.accounts import Account, sign_in
from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.cloud_tasks import CloudTasks
from emulator.cloud.function_process import ENTRY, FunctionProcess
from emulator.cloud.secret_manager import SecretManager
from emulator.firebase import PROJECT
from emulator.mailbox import Mailbox
from functions.firestore.client import documents
from functions.links.token import TokenKeys
from functions.webhooks.deliveries.delivery import Attempt, Delivery
from functions.webhooks.deliveries.delivery_store import DeliveryStore

ROUNDS: Final = 12
SMALLEST: Final = "the smallest worker"
_KEY: Final = "a-key-that-only-this-benchmark-uses"
_SECRETS: Final = {"EMAIL_PREFS_KEY": _KEY, "SENDGRID_API_KEY": "SG.local"}


@dataclass(frozen=True, slots=True)
class Start:
    """A process to start, and its first request: the result of `data`, sent as `caller`."""

    function: str
    data: Callable[[], object]
    caller: Account | None = None
    source: str = ENTRY

    def seconds(self, environment: dict[str, Any]) -> float:
        """Return the seconds from the spawn to the first response, which must be a success."""
        body = json.dumps({"data": self.data()}).encode()
        signed_in = {"Authorization": f"Bearer {self.caller.id_token}"} if self.caller else {}
        headers = {"Content-Type": "application/json", **signed_in}
        started = time.monotonic()
        with FunctionProcess(self.function, source=self.source, **environment) as process:
            status = process.post(body, headers)
            seconds = time.monotonic() - started
        assert status == 200, (self.function, status)
        return seconds


def rows() -> Iterator[Row]:
    """Measure each function whose caller waits for the response."""
    certificates.ensure()
    with ExitStack() as stack:
        receiver = stack.enter_context(peer(Receivers))
        mailbox = stack.enter_context(Mailbox())
        dropped = CloudTasks(PROJECT, None, lambda _: None)  # a call's tasks are not measured
        apis = ApiServer(SecretManager(PROJECT, _SECRETS), dropped)
        environment = {
            ADDRESS_VARIABLE: stack.enter_context(apis).address,
            "SENDGRID_HOST": f"http://127.0.0.1:{mailbox.port}",
        }
        starts = _starts(_SampleRequests(f"{receiver.address()}{KEEPS}"))
        rounds = [
            {name: start.seconds(environment) for name, start in starts.items()}
            for _ in range(ROUNDS + 1)
        ][1:]  # the first round fills the file cache
        assert len(mailbox.emails) == ROUNDS + 1, "a recap has sent no email"
    reference = f"{SMALLEST}: {statistics.median(times[SMALLEST] for times in rounds):.2f} s"
    for name in list(starts)[1:]:
        ratios = [times[name] / times[SMALLEST] for times in rounds]
        yield Row(f"cold start of {name}", f"{spread(ratios)} times", "1.05", reference)


def _starts(wall: "_SampleRequests") -> dict[str, Start]:
    admin, superadmin = sign_in("admin", wall.tenant), sign_in("superadmin")
    token = TokenKeys((_KEY,)).issue("u1", datetime.now(UTC))
    return {
        SMALLEST: Start("deliverWebhook", wall.task, source="bench/smallest_worker/main.py"),
        "deliverWebhook": Start("deliverWebhook", wall.task),
        "getEmailPreferences": Start("getEmailPreferences", lambda: {"token": token}),
        "updateEmailPreferences": Start(
            "updateEmailPreferences", lambda: {"token": token, "preferences": {"recap": True}}
        ),
        "sendEventRecap": Start("sendEventRecap", wall.recap, admin),
        "sendTestWebhook": Start("sendTestWebhook", wall.test, admin),
        "resendWebhook": Start("resendWebhook", wall.resend, admin),
        "rotateWebhookSecret": Start("rotateWebhookSecret", wall.event, superadmin),
    }


class _SampleRequests:
    """Creates the documents of a first request, each in a new event, and returns its data."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._db = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
        self._store = DeliveryStore(documents())
        self.tenant = f"tenant-{uuid.uuid4().hex[:8]}"

    def event(self) -> dict[str, str]:
        """Create an event with a URL and a secret."""
        event_id = f"cold-{uuid.uuid4().hex[:12]}"
        event = self._db.document("events", event_id)
        event.set({"tenantId": self.tenant, "name": "Party", "status": "published"})
        event.collection("settings").document("webhooks").set({"urls": [self._url]})
        event.collection("secrets").document("webhooks").set({"secret": "whsec_cold"})
        return {"eventId": event_id, "tenantId": self.tenant}

    def task(self) -> dict[str, str | int]:
        """Create a delivery for its first attempt."""
        delivery = self._delivery()
        return {"eventId": delivery.event_id, "deliveryId": delivery.id, "attempt": 1}

    def test(self) -> dict[str, str]:
        """Create an event for a test delivery."""
        return self.event() | {"url": self._url}

    def resend(self) -> dict[str, str]:
        """Create a failed delivery to resend."""
        delivery = self._delivery()
        attempt = Attempt(number=4, at=datetime.now(UTC), status=500, milliseconds=1)
        stored = self._store.load(delivery.event_id, delivery.id)
        assert stored
        self._store.save(stored.with_attempt(attempt))
        ids = {"eventId": delivery.event_id, "deliveryId": delivery.id}
        return ids | {"tenantId": self.tenant}

    def recap(self) -> dict[str, str]:
        """Create an event for a recap to one guest."""
        event = self.event()
        approved = datetime.now(UTC) - timedelta(hours=1)
        self._db.document("events", event["eventId"], "photos", "p1").set(
            {
                "status": "approved",
                "uploaderEmail": "guest@example.com",
                "url": "https://example.com/p1.jpg",
                "createdAt": approved,
                "approvedAt": approved,
            }
        )
        return event

    def _delivery(self) -> Delivery:
        delivery = delivery_to(self._url, self.event()["eventId"])
        self._store.create(delivery.event_id, [delivery])
        return delivery
