"""Marks a URL with a standing order once a delivery to it has failed."""

from collections.abc import Callable
from datetime import datetime

from functions.documents.refusals import ChangedMeanwhileError
from functions.webhooks.recovery.ports import StandingOrders
from functions.webhooks.recovery.standing_order import StandingOrder


class OutageMarks:
    """Marks URLs; one instance serves all threads of the process."""

    def __init__(self, orders: StandingOrders, now: Callable[[], datetime]) -> None:
        """`now` gives the time, aware and in UTC."""
        self._orders = orders
        self._now = now

    def mark(self, event_id: str, url: str, ordered_at: datetime) -> None:
        """Have the sweep look at the URL; `ordered_at` is when the settings were last written.

        One round trip where the URL is watched already; else two.
        """
        while True:
            stored = self._orders.load(event_id, url)
            now = self._now()
            try:
                if stored is None:
                    first = StandingOrder(event_id=event_id, url=url, since=ordered_at)
                    self._orders.create(first.marked(now))
                elif stored.order.look_at is None:
                    self._orders.save(stored.order.marked(now), stored.version)
            except ChangedMeanwhileError:
                continue  # another worker has marked the URL, or the sweep has looked
            return
