"""The deliveries to one URL, as the bearer of a link sees and resends them (spec 4.11).

An organizer gives the link out and ends it. Its token names a share, and the share alone names
the URL. The share is read with every call, so that a revoked link ends at once.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from functions import log
from functions.call.caller import Caller
from functions.call.errors import CallError, Code
from functions.firestore.model import (
    AlreadyRecordedError,
    ChangedMeanwhileError,
    Create,
    Documents,
    Update,
    Version,
)
from functions.links.link import TO_A_LOG
from functions.links.token import TokenKeys
from functions.ports import Clock, Random, SecretReader, wire_time
from functions.rate_limit import RateLimit
from functions.webhooks.deliveries.delivery import Cursor, Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import NEWEST_AT_MOST, DeliveryStore
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import SettingsStore, Subscription

PAGE_BYTES: Final = 1_000_000
"""Most bytes of bodies and receivers' answers in a page of more than one delivery."""

RESENDS_AN_HOUR: Final = 100
"""Resends through links, of the deliveries of an event to one URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogShare:
    """The record `events/{event_id}/shares/{id}`, and its version as it was read.

    The bearer of its link sees the deliveries of the `endpoint` that went to `url`, and with
    `can_resend` sends them again. `created_by` is a user id. The share ends at `expire_at`, or
    earlier at `revoked_at`.
    """

    id: str
    event_id: str
    url: str
    endpoint: str
    can_resend: bool
    created_by: str
    created_at: datetime
    expire_at: datetime
    revoked_at: datetime | None = None
    version: Version | None = field(default=None, compare=False, repr=False)

    def is_living(self, now: datetime) -> bool:
        """Whether its link still opens anything."""
        return self.revoked_at is None and now < self.expire_at


@dataclass(frozen=True, slots=True)
class LogShareStore:
    """Shares, each of which lets the bearer of a link see the deliveries to a URL.

    Every method is one call.
    """

    documents: Documents

    def create(self, share: LogShare) -> None:
        """Record `share`, whose id no other share has; a recorded share is a success."""
        fields = {
            "url": share.url,
            "endpoint": share.endpoint,
            "canResend": share.can_resend,
            "createdBy": share.created_by,
            "createdAt": share.created_at,
            "expireAt": share.expire_at,
        }
        with suppress(AlreadyRecordedError):  # by this call, whose answer was lost
            self.documents.commit(Create(_path(share.event_id, share.id), fields))

    def load(self, event_id: str, share_id: str) -> LogShare | None:
        """The share as it is now, or None; None also where the event is gone."""
        paths = [f"events/{event_id}", _path(event_id, share_id)]
        event, record = self.documents.get_all(paths)
        if event is None or record is None:
            return None
        fields = record.fields
        return LogShare(
            id=share_id,
            event_id=event_id,
            url=fields["url"],
            endpoint=fields["endpoint"],
            can_resend=fields["canResend"],
            created_by=fields["createdBy"],
            created_at=fields["createdAt"],
            expire_at=fields["expireAt"],
            revoked_at=fields.get("revokedAt"),
            version=record.version,
        )

    def revoke(self, share: LogShare, at: datetime) -> None:
        """End the share `at` that moment: the record may be deleted from then on.

        Raises:
            ChangedMeanwhileError: the record is not in the share's version any more.
        """
        ended = {"revokedAt": at, "expireAt": at}
        self.documents.commit(Update(_path(share.event_id, share.id), ended, version=share.version))


def _path(event_id: str, share_id: str) -> str:
    return f"events/{event_id}/shares/{share_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinks:
    """Gives links to logs out and ends them."""

    settings: SettingsStore
    shares: LogShareStore
    secrets: SecretReader

    base_url: str
    """Address of the site with the page that a link leads to."""

    clock: Clock
    random: Random

    def give_out(
        self, event_id: str, caller: Caller, url: str, lasts: timedelta, *, can_resend: bool = False
    ) -> tuple[str, LogShare]:
        """A link whose bearer sees the deliveries to a URL for some days, and its share.

        Raises:
            CallError: `invalid-argument` where the event has no such URL.
        """
        endpoint = self.settings.load(event_id).asked_for(url)
        now = self.clock.now()
        share = LogShare(
            id=self.random.word(),
            event_id=event_id,
            url=url,
            endpoint=endpoint.id,
            can_resend=can_resend,
            created_by=caller.uid,
            created_at=now,
            # A token expires with a second: so both end at the same moment.
            expire_at=now.replace(microsecond=0) + lasts,
        )
        token = TokenKeys(self.secrets.versions(TO_A_LOG.key)).sign(
            (share.event_id, share.id), share.expire_at, TO_A_LOG.scope
        )
        self.shares.create(share)
        log.info(
            "webhook.log_shared",
            eventId=event_id,
            shareId=share.id,
            host=host_of(url),
            canResend=can_resend,
            expiresAt=wire_time(share.expire_at),
            uid=caller.uid,
        )
        return f"{self.base_url.rstrip('/')}/deliveries#token={token}", share

    def revoke(self, event_id: str, caller: Caller, share_id: str) -> datetime:
        """End a share at once; the time at which it ended, also if it had ended before.

        Raises:
            CallError: `not-found` where the event has no such share (any more).
        """
        while True:
            share = self.shares.load(event_id, share_id)
            if share is None:
                raise CallError(
                    Code.NOT_FOUND, "The event has no share with that shareId (any more)."
                )
            if share.revoked_at:
                return share.revoked_at
            now = self.clock.now()
            try:
                self.shares.revoke(share, now)
            except ChangedMeanwhileError:
                continue  # by another call, or by this call, whose answer was lost
            log.info("webhook.log_revoked", eventId=event_id, shareId=share_id, uid=caller.uid)
            return now


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Deliveries to the URL of `share`, the latest first; `next` is for what follows."""

    share: LogShare
    deliveries: Sequence[Delivery]
    next: Cursor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLog:
    """Serves the bearers of links."""

    settings: SettingsStore
    deliveries: DeliveryStore
    shares: LogShareStore
    redelivery: Redelivery
    rate_limit: RateLimit
    clock: Clock

    def read_page(
        self,
        event_id: str,
        share_id: str,
        outcome: Outcome | None = None,
        event_type: EventType | None = None,
        after: Cursor | None = None,
    ) -> LogPage:
        """A page of the deliveries that the share is about.

        Raises:
            CallError: the refusal of the link, where the share has ended.
        """
        share = self._living(event_id, share_id)
        present = self.settings.load(event_id).by_url.get(share.url)  # perhaps under another id
        endpoint = Subscription(share.url, given_id=share.endpoint)
        names = dict.fromkeys((*endpoint.names, *(present.names if present else ())))
        deliveries = self.deliveries.newest(event_id, [*names], outcome, event_type, after)
        page: list[Delivery] = []
        last, size, read = None, 0, 0
        for cursor, delivery in deliveries:
            if delivery:
                answers = "".join(attempt.answer or "" for attempt in delivery.log)
                size += len(delivery.body.encode("utf-8", "surrogatepass")) + len(answers.encode())
            if last and size > PAGE_BYTES:
                has_next = True
                break
            last, read = cursor, read + 1
            if delivery and delivery.url == share.url:  # another URL may be another receiver's
                page.append(replace(delivery, log=delivery.attempts_at_url))
        else:
            has_next = read == NEWEST_AT_MOST
        log.info("webhook.log_read", eventId=event_id, shareId=share_id, deliveries=len(page))
        return LogPage(share=share, deliveries=page, next=last if has_next else None)

    def send_again(self, event_id: str, share_id: str, delivery_id: str) -> None:
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
        name = f"{event_id}\n{share.url}"
        if not self.rate_limit.allows("resendSharedWebhook to", name, RESENDS_AN_HOUR):
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                "There were too many resends through links to this URL; try again from the next"
                " full hour on.",
            )
        read_at = self.clock.now()
        self.redelivery.begin_one(
            event_id,
            delivery_id,
            self.settings.load(event_id),
            read_at=read_at,
            only_at=share.url,  # another URL of the endpoint may be another receiver's
        )
        log.info("webhook.log_resent", eventId=event_id, shareId=share_id, deliveryId=delivery_id)

    def _living(self, event_id: str, share_id: str) -> LogShare:
        share = self.shares.load(event_id, share_id)
        if share is None or not share.is_living(self.clock.now()):
            raise TO_A_LOG.not_valid
        return share
