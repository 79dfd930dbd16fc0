"""States of an event for calls of its webhooks, in memory or in Firestore."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from functions.firestore.model import Delete, Documents, Put
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import endpoint_id
from tests.in_memory.records import ended_delivery

TENANT: Final = "t1"
URL: Final = "https://example.com/hook"
OTHER: Final = "https://example.com/other"
PLAIN: Final = "http://example.com/plain"
REMOVED: Final = "https://x.example/"
GIVEN_UP: Final = f"{URL}/dead"

_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ArrangedEvent:
    """An event of the tenant with the URLs `URL` and `OTHER`.

    The link `shows` shows the log of `URL`. The link `resends` can also resend its deliveries.
    """

    documents: Documents
    event_id: str
    now: datetime

    def arrange(self) -> None:
        """Write the event, its settings and the shares of its links."""
        self.put("", tenantId=TENANT)
        self.subscribe(URL, OTHER)
        self.share("shows")
        self.share("resends", canResend=True)

    def put(self, path: str, **fields: Any) -> None:
        """Write a document of the event."""
        self.documents.commit(Put(self._path(path), fields))

    def subscribe(self, *urls: Any, **fields: Any) -> None:
        """Save these webhook settings."""
        self.put("settings/webhooks", urls=list(urls), **fields)

    def share(self, name: str, **fields: Any) -> None:
        """Write the share of a link to the log of `URL`, which expires in a day."""
        given = {"url": URL, "endpoint": endpoint_id(URL), "canResend": False, "createdBy": "u1"}
        times = {"createdAt": self.now, "expireAt": self.now + _DAY}
        self.put(f"shares/{name}", **(given | times | fields))

    def delivery(
        self,
        name: str = "d1",
        outcome: Outcome = Outcome.FAILED,
        *,
        url: str = URL,
        ago: timedelta = _MINUTE,
        **fields: Any,
    ) -> None:
        """Record a delivery that ended `ago`."""
        made = ended_delivery(
            name, url, self.now - ago, outcome, **({"event_id": self.event_id} | fields)
        )
        DeliveryStore(self.documents).create(self.event_id, [made])

    def delete(self) -> None:
        """Delete the event."""
        self.documents.commit(Delete(self._path("")))

    def _path(self, path: str) -> str:
        return f"events/{self.event_id}/{path}".rstrip("/")


State: TypeAlias = Callable[[ArrangedEvent], None]


def as_arranged(_: ArrangedEvent) -> None:
    """Leave the event without deliveries."""


def configured(*urls: Any) -> State:
    """Return a state in which the event has these URLs."""
    return lambda event: event.subscribe(*urls)


def url_is_disabled(event: ArrangedEvent) -> None:
    """Disable `URL`, as the service does after many failures."""
    event.subscribe(URL, disabled={endpoint_id(URL): {"url": URL, "reason": "dead"}})


def ended(outcome: Outcome, **fields: Any) -> State:
    """Return a state in which the delivery `d1` has ended with this outcome."""
    return lambda event: event.delivery("d1", outcome, **fields)


def waiting_for_a_retry(event: ArrangedEvent) -> None:
    """Record that the delivery `d1` has failed once and waits for a retry."""
    later: dict[str, Any] = {"ended_at": None, "next_attempt_at": event.now + _DAY, "attempts": 1}
    event.delivery("d1", Outcome.RETRYING, **later)


def skipped_at_a_disabled_url(event: ArrangedEvent) -> None:
    """Record that the delivery `d1` was skipped because its URL is disabled."""
    url_is_disabled(event)
    event.delivery("d1", Outcome.SKIPPED, reason="the URL is disabled: dead")


def failed_at_a_removed_url(event: ArrangedEvent) -> None:
    """Record that the delivery `d1` has failed, and remove its URL."""
    event.delivery()
    event.subscribe(OTHER)


def skipped_at_an_unusable_url(event: ArrangedEvent) -> None:
    """Record that the delivery `d1` was skipped because its URL is not HTTPS."""
    event.subscribe(URL, PLAIN)
    event.delivery("d1", Outcome.SKIPPED, url=PLAIN)


def outage(event: ArrangedEvent) -> None:
    """Record three failed uploads and two failed approvals for each URL, and others."""
    uploaded, approved = EventType.PHOTO_UPLOADED, EventType.PHOTO_APPROVED
    for place, url in enumerate((URL, OTHER)):
        for number, event_type in enumerate([uploaded, approved, uploaded, approved, uploaded]):
            ago = timedelta(minutes=50 - 10 * number)
            event.delivery(f"d{place}-{number}", url=url, ago=ago, event_type=event_type)
    event.delivery("before", ago=timedelta(hours=1, seconds=1))
    event.delivery("acknowledged", Outcome.SUCCESS)


def outage_with_obstacles(event: ArrangedEvent) -> None:
    """Record a test as well, and failures at URLs that can't receive deliveries."""
    outage(event)
    dead = {endpoint_id(GIVEN_UP): {"url": GIVEN_UP}}
    event.subscribe(URL, OTHER, PLAIN, GIVEN_UP, disabled=dead)
    event.delivery("a test", test=True)
    event.delivery("unusable", Outcome.SKIPPED, url=PLAIN)
    for number in range(2):
        event.delivery(f"removed-{number}", url=REMOVED)
    for number in range(3):
        event.delivery(f"given-up-{number}", url=GIVEN_UP)


def outage_before_an_id(event: ArrangedEvent) -> None:
    """Give the endpoint an ID after its deliveries failed."""
    outage(event)
    event.subscribe({"url": URL, "id": "screen"}, OTHER)


def next_secret_in(wait: timedelta) -> State:
    """Return a state in which a secret is announced."""

    def announce(event: ArrangedEvent) -> None:
        soon = {"secret": "whsec_next", "activeFrom": event.now + wait}
        event.put("secrets/webhooks", secret="whsec_now", next=soon)

    return announce


def shares_with(**ago: timedelta) -> State:
    """Return a state in which both links can resend and their shares have these ages."""

    def write(event: ArrangedEvent) -> None:
        times = {name: event.now - wait for name, wait in ago.items()}
        for name in ("shows", "resends"):
            event.share(name, **({"canResend": True} | times))

    return write


def log_of_three(event: ArrangedEvent) -> None:
    """Record one failed and two pending deliveries, and one of another URL."""
    event.delivery("other", url=OTHER)
    event.delivery("failed", ago=3 * _MINUTE)
    later: dict[str, Any] = {"ended_at": None, "next_attempt_at": event.now + _DAY}
    later |= {"attempts": 0, "log": ()}
    event.delivery("pending", Outcome.PENDING, ago=2 * _MINUTE, **later)
    event.delivery("joined", Outcome.PENDING, event_type=EventType.GUEST_JOINED, **later)


def log_of_several_ids(event: ArrangedEvent) -> None:
    """Record deliveries of an endpoint that got an ID, changed its URL and was added again.

    Its earlier URL may belong to another receiver.
    """
    event.delivery("elsewhere", url=OTHER, endpoint="screen")
    event.delivery("before the id", ago=2 * _MINUTE)
    event.delivery("since", endpoint="screen")
    event.delivery("again", endpoint="again-1", ago=_MINUTE / 2)
    event.subscribe({"url": URL, "id": "again-1"})
    event.share("shows", endpoint="screen")
    event.share("resends", endpoint="screen", canResend=True)
