"""One sweep over the watched URLs with a standing order (spec 6.5).

    watched URL ▸ does its receiver answer ▸ what failed before ▸ next rounds, paced ▸ the record

The next rounds are begun before the order says so. A crash in between repeats the look, which finds
the deliveries in their second round and leaves them alone.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from functions import log
from functions.documents.refusals import ChangedMeanwhileError
from functions.side_by_side import SideBySide
from functions.webhooks.deliveries.delivery import Cursor, Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.next_round import NextRound, obstacle_at
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.recovery.ports import StandingOrders, StoredOrder
from functions.webhooks.recovery.standing_order import BACK, QUIET, StandingOrder
from functions.webhooks.settings.store import SettingsStore

URLS_OF_A_SWEEP: Final = 50
"""The next sweep goes on with the others."""

PAGE: Final = 300
PAGES_OF_A_LOOK: Final = 10
"""Of deliveries that are read at a time, and of a sweep for one URL."""

_ENDS: Final = (Outcome.SUCCESS, Outcome.FAILED)


class Recoverer:
    """Carries standing orders out; one sweep runs at a time."""

    def __init__(
        self,
        *,
        orders: StandingOrders,
        settings: SettingsStore,
        deliveries: DeliveryStore,
        next_round: NextRound,
        side_by_side: SideBySide,
        now: Callable[[], datetime],
        page: int = PAGE,
    ) -> None:
        """Put the parts together.

        Args:
            orders: The records of standing orders.
            settings: Which URLs have one.
            deliveries: The records of deliveries.
            next_round: Sends deliveries again.
            side_by_side: Begins the next rounds of a page.
            now: The time, aware and in UTC.
            page: How many deliveries are read at a time.
        """
        self._orders = orders
        self._settings = settings
        self._deliveries = deliveries
        self._next_round = next_round
        self._side_by_side = side_by_side
        self._now = now
        self._page = page

    def sweep(self) -> int:
        """Look at the URLs that are due; how many deliveries are sent again."""
        waiting = self._orders.waiting(self._now(), URLS_OF_A_SWEEP)
        return sum(self._look(stored) for stored in waiting)

    def _look(self, stored: StoredOrder) -> int:
        """Look at one URL; a fault there keeps no other URL waiting."""
        event_id, host = stored.order.event_id, host_of(stored.order.url)
        try:
            order = self._carried_out(stored.order)
            with suppress(ChangedMeanwhileError):  # the next sweep looks again
                self._orders.save(order, stored.version)
        except Exception as error:  # noqa: BLE001 - the next sweep tries again
            log.fault("webhook.not-recovered", error, eventId=event_id, host=host)
            return 0
        resent = order.resent - stored.order.resent
        if resent:
            log.info("webhook.recovered", eventId=event_id, host=host, resent=resent)
        return resent

    def _carried_out(self, order: StandingOrder) -> StandingOrder:
        now = self._now()
        configured = self._settings.load(order.event_id).by_url
        subscription = configured.get(order.url)
        if not subscription or not subscription.recover or obstacle_at(order.url, configured):
            return order.due(None)
        latest = self._deliveries.last_ended(order.event_id, order.url, _ENDS, 1)
        if not latest or latest[0].at <= now - BACK:
            return order.due(None)
        if latest[0].outcome is Outcome.FAILED:
            return order.due(now)
        return self._resent(order, latest[0].at, now)

    def _resent(self, order: StandingOrder, until: datetime, now: datetime) -> StandingOrder:
        """Send again what failed before `until`, when the receiver answered last."""
        wanted = EndedWithin(
            since=max(order.since, now - BACK),
            until=until,
            outcomes=(Outcome.FAILED,),
            url=order.url,
        )
        after, reached, resent, is_quiet = None, wanted.since, 0, True
        for _ in range(PAGES_OF_A_LOOK):
            found = self._deliveries.ended(order.event_id, wanted, after, self._page)
            resent += self._begin(found)
            is_quiet = is_quiet and not any(_ended_at(delivery) > now - QUIET for delivery in found)
            if len(found) < self._page:
                looked = order.ran(resent, now).looked_until(until, now)
                return looked.due(None if is_quiet and not resent else now)
            reached = _ended_at(found[-1])
            after = Cursor(reached, found[-1].id)
        return order.ran(resent, now).looked_until(reached, now).due(now)

    def _begin(self, found: Sequence[Delivery]) -> int:
        first_round = [delivery for delivery in found if not delivery.test and not delivery.round]
        return sum(self._side_by_side(self._next_round.begin, first_round))


def _ended_at(delivery: Delivery) -> datetime:
    return delivery.ended_at or delivery.created_at
