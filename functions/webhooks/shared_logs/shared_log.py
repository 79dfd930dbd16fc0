"""The deliveries to one URL, as the bearer of a link sees and resends them (spec 4.11).

The link's token names a share, and the share alone names the URL. The share is read with every
call, so that a revoked link ends at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from functions import log
from functions.call_error import CallError, Code
from functions.clock import Clock
from functions.signed_links.link import TO_A_LOG
from functions.webhooks.arguments import place_text
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.deliveries.store import NEWEST_AT_MOST, DeliveryStore
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import Subscription
from functions.webhooks.shared_logs.arguments import LogArguments, ResendSharedArguments
from functions.webhooks.shared_logs.log_share import LogShare
from functions.webhooks.shared_logs.store import LogShareStore

PAGE_BYTES: Final = 1_000_000
"""Of bodies and receivers' answers in one page at most, where it has more than one delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Deliveries to the URL of `share`, the latest first; `next` is for what follows."""

    share: LogShare
    deliveries: Sequence[Delivery]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLog:
    """Serves the bearers of links."""

    settings: SettingsStore
    deliveries: DeliveryStore
    shares: LogShareStore
    redelivery: Redelivery
    may_resend: Callable[[str], bool]
    """Counts a resend under that name; False beyond the limit."""

    clock: Clock

    def read_page(self, event_id: str, share_id: str, wanted: LogArguments) -> LogPage:
        """A page of the deliveries that the share is about.

        Raises:
            CallError: the refusal of the link, where the share has ended.
        """
        share = self._living(event_id, share_id)
        deliveries = self.deliveries.newest(
            event_id,
            Subscription(share.url, given_id=share.endpoint).names,
            wanted.outcome,
            wanted.event_type,
            wanted.after,
        )
        page: list[Delivery] = []
        last, size, read = None, 0, 0
        for place, delivery in deliveries:
            if delivery:
                answers = "".join(attempt.answer or "" for attempt in delivery.log)
                size += len(delivery.body.encode("utf-8", "surrogatepass")) + len(answers.encode())
            if last and size > PAGE_BYTES:
                has_next = True
                break
            last, read = place, read + 1
            if delivery and delivery.url == share.url:  # another URL may be another receiver's
                page.append(delivery)
        else:
            has_next = read == NEWEST_AT_MOST
        log.info("webhook.log_read", eventId=event_id, shareId=share_id, deliveries=len(page))
        return LogPage(
            share=share,
            deliveries=page,
            next=place_text(last) if last and has_next else None,
        )

    def send_again(self, event_id: str, share_id: str, wanted: ResendSharedArguments) -> None:
        """Send a delivery to the URL again, where the share allows it.

        Raises:
            CallError: the refusal of the link; `permission-denied` where the link only shows;
                `resource-exhausted`; otherwise as `Redelivery.begin_one` says, for which a delivery
                to another URL is not there.
        """
        share = self._living(event_id, share_id)
        if not share.can_resend:
            raise CallError(
                Code.PERMISSION_DENIED,
                "The link shows deliveries and sends none again; ask for one that may.",
            )
        # By event and URL: further links, and further addresses, send no more of it.
        if not self.may_resend(f"{event_id}\n{share.url}"):
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                "There were too many resends through links to this URL; try again from the next"
                " full hour on.",
            )
        self.redelivery.begin_one(
            event_id,
            wanted.delivery_id,
            self.settings.load(event_id),
            only_at=share.url,  # another URL of the endpoint may be another receiver's
        )
        log.info(
            "webhook.log_resent",
            eventId=event_id,
            shareId=share_id,
            deliveryId=wanted.delivery_id,
        )

    def _living(self, event_id: str, share_id: str) -> LogShare:
        found = self.shares.load(event_id, share_id)
        if found is None or not found.is_living(self.clock.now()):
            raise TO_A_LOG.not_valid
        return found
