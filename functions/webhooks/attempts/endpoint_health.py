"""Disables a URL whose receiver is gone, so that an event does not knock at it for ever.

A URL is disabled when since the later of

- its last acknowledged delivery, and
- the last change of the event's webhook settings, which is also how an admin enables it again,

`FAILED_IN_A_ROW` deliveries to it or more have ended `failed`, the first of them `FAILING_FOR` ago
or longer. There is no counter: the deliveries on record are counted when a delivery ends `failed`.
So a delivery that succeeds costs nothing, a concurrent delivery is on record before it counts, and
a delivery that is sent again leaves the count until it has ended.

The process that finds a URL dead writes it into the settings, unless the settings have changed
since they were read. So two processes disable a URL once, and neither overrules an admin who has
just saved. That write ends the count of the event's other URLs too; dead URLs are disabled with it.

Attempts that are under way to a disabled URL keep their retry schedule. Tests go out to it all the
same, and their success enables nothing: an admin decides that.

Where the settings name addresses, the same process marks the URL (`failure_marks`), and marked URLs
are watched and told of (`notifier`).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from functions import log
from functions.documents.refusals import ChangedMeanwhileError
from functions.recent import Recent
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.notices.failure_marks import FailureMarks
from functions.webhooks.recovery.outage_marks import OutageMarks
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import DisabledUrl

FAILED_IN_A_ROW: Final = 100
FAILING_FOR: Final = timedelta(days=5)

REASON: Final = (
    f"{FAILED_IN_A_ROW} deliveries in a row or more have failed, for more than"
    f" {FAILING_FOR.days} days"
)

# How often a process looks at the same URL: a busy event's dead receiver fails many times a second.
_LOOK_AGAIN_SECONDS: Final = 60.0
_REMEMBERED: Final = 10_000


class EndpointHealth:
    """Looks at the deliveries of a URL whenever one of them has failed."""

    def __init__(
        self,
        *,
        deliveries: DeliveryStore,
        settings: SettingsStore,
        marks: FailureMarks,
        outages: OutageMarks,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """Put the parts together.

        Args:
            deliveries: The records.
            settings: Which URLs there are.
            marks: Marks failing URLs of events that have addresses to tell.
            outages: Marks a failing URL with a standing order.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
        """
        self._deliveries = deliveries
        self._settings = settings
        self._marks = marks
        self._outages = outages
        self._now = now
        self._looked: Recent[tuple[str, str], bool] = Recent(
            seconds=_LOOK_AGAIN_SECONDS, at_most=_REMEMBERED, monotonic=monotonic
        )

    def delivery_failed(self, delivery: Delivery) -> None:
        """Look at the URL of `delivery`, which has ended `failed`: disable it, have people told.

        At most once a minute for each URL. One round trip, some more where people are to be told,
        and five more once the receiver may be gone.
        """
        key = (delivery.event_id, delivery.url)
        if self._looked.get(key):
            return
        self._looked.put(key, value=True)
        try:
            self._look(delivery)
        except Exception:
            self._looked.put(key, value=False)  # the next call looks again
            raise

    def _look(self, delivery: Delivery) -> None:
        settings = self._settings.load(delivery.event_id)
        now = self._now()
        urls = [url for url, configured in settings.by_url.items() if not configured.disabled]
        event_id, since = delivery.event_id, settings.written_at
        if delivery.url not in urls:
            return
        if settings.by_url[delivery.url].recover:
            self._outages.mark(event_id, delivery.url, since)
        if settings.notify:  # after a test as well: failures within the minute are not seen
            self._marks.mark(event_id, [delivery.url])
        if now - since < FAILING_FOR or not self._is_dead(event_id, delivery.url, since, now):
            return
        others = (url for url in urls if url != delivery.url)
        dead = [delivery.url, *(url for url in others if self._is_dead(event_id, url, since, now))]
        if settings.notify:  # first: a marked URL is looked at even if this process ends
            self._marks.mark(event_id, dead)
        given_up = [DisabledUrl(url=url, reason=REASON, at=now) for url in dead]
        try:
            self._settings.disable(event_id, given_up, settings)
        except ChangedMeanwhileError:
            return
        for url in dead:
            log.error("webhook.disabled", eventId=event_id, host=host_of(url), reason=REASON)

    def _is_dead(self, event_id: str, url: str, since: datetime, now: datetime) -> bool:
        acknowledged = self._deliveries.last_success(event_id, url)
        since = max(since, acknowledged or since)
        return (
            now - since >= FAILING_FOR
            and self._deliveries.has_failed_within(event_id, url, since, now - FAILING_FOR)
            and self._deliveries.count_failed(event_id, url, since, FAILED_IN_A_ROW)
            >= FAILED_IN_A_ROW
            # A delivery that was acknowledged during the count has ended it.
            and self._deliveries.last_success(event_id, url) == acknowledged
        )
