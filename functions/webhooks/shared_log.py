"""Shared delivery logs: a link to view, and perhaps resend, the deliveries to a URL (spec 4.11).

An organizer creates the link and may revoke it. The token of the link names a share, and only the
share names the URL. Every call reads the share, so a revoked link ends immediately.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from functions import log, ports
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
from functions.links.link import DELIVERY_LOG_LINK
from functions.rate_limit import RateLimit
from functions.webhooks.deliveries.delivery import Cursor, Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import NEWEST_AT_MOST, DeliveryStore
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import SettingsStore, Subscription

PAGE_BYTES: Final = 1_000_000
"""Maximum bytes of bodies and responses in a page of more than one delivery."""

RESENDS_AN_HOUR: Final = 100
"""Maximum resends per hour through links, per event and URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogShare:
    """The record `events/{event_id}/shares/{id}`.

    The bearer of the link sees the deliveries of the `endpoint` that went to `url`, and may resend
    them if `can_resend` is true. `created_by` is a user ID. The share ends at `expire_at`, or
    earlier at `revoked_at`. `version` is the version of the record when it was read.
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

    def is_active(self, now: datetime) -> bool:
        """Return whether the link is valid."""
        return self.revoked_at is None and now < self.expire_at


@dataclass(frozen=True, slots=True)
class LogShareStore:
    """Store of the shares. Every method is one call to Firestore."""

    documents: Documents

    def create(self, share: LogShare) -> None:
        """Record a new share. Succeed without effect if the share is already recorded."""
        fields = {
            "url": share.url,
            "endpoint": share.endpoint,
            "canResend": share.can_resend,
            "createdBy": share.created_by,
            "createdAt": share.created_at,
            "expireAt": share.expire_at,
        }
        with suppress(AlreadyRecordedError):  # by this call if its response was lost
            self.documents.commit(Create(_path(share.event_id, share.id), fields))

    def load(self, event_id: str, share_id: str) -> LogShare | None:
        """Return the current record of the share, or None if the share or event does not exist."""
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
        """End the share at a time, after which the record may be deleted.

        Raises:
            ChangedMeanwhileError: The version of the record has changed.
        """
        ended = {"revokedAt": at, "expireAt": at}
        self.documents.commit(Update(_path(share.event_id, share.id), ended, version=share.version))


def _path(event_id: str, share_id: str) -> str:
    return f"events/{event_id}/shares/{share_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinks:
    """Use case: create and revoke links to delivery logs."""

    settings: SettingsStore
    shares: LogShareStore
    secrets: ports.SecretReader

    base_url: str
    """Base URL of the site with the page that a link opens."""

    clock: ports.Clock
    random: ports.Random

    def create(
        self, event_id: str, caller: Caller, url: str, lasts: timedelta, *, can_resend: bool = False
    ) -> tuple[str, LogShare]:
        """Create a link to the deliveries to a URL, valid for the duration `lasts`.

        Returns:
            The link and its share.

        Raises:
            CallError: `invalid-argument` if the event has no such URL.
        """
        endpoint = self.settings.load(event_id).require(url)
        now = self.clock.now()
        share = LogShare(
            id=self.random.new_id(),
            event_id=event_id,
            url=url,
            endpoint=endpoint.id,
            can_resend=can_resend,
            created_by=caller.uid,
            created_at=now,
            # A token's expiration time has whole seconds, so the share and its token end together.
            expire_at=now.replace(microsecond=0) + lasts,
        )
        ids = (share.event_id, share.id)
        token = DELIVERY_LOG_LINK.sign(self.secrets, ids, share.expire_at)
        self.shares.create(share)
        log.info(
            "webhook.log_shared",
            eventId=event_id,
            shareId=share.id,
            host=host_of(url),
            canResend=can_resend,
            expiresAt=ports.wire_time(share.expire_at),
            uid=caller.uid,
        )
        return f"{self.base_url.rstrip('/')}/deliveries#token={token}", share

    def revoke(self, event_id: str, caller: Caller, share_id: str) -> datetime:
        """Revoke a share and return the time at which it was revoked, now or earlier.

        Raises:
            CallError: `not-found` if the event has no such share.
        """
        while True:
            share = self.shares.load(event_id, share_id)
            if share is None:
                raise CallError(Code.NOT_FOUND, "The event has no share with that shareId.")
            if share.revoked_at:
                return share.revoked_at
            now = self.clock.now()
            try:
                self.shares.revoke(share, now)
            except ChangedMeanwhileError:
                continue  # changed by another call, or by this call if its response was lost
            log.info("webhook.log_revoked", eventId=event_id, shareId=share_id, uid=caller.uid)
            return now


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """A page of deliveries to the URL of `share`, latest first. `next` continues with the rest."""

    share: LogShare
    deliveries: Sequence[Delivery]
    next: Cursor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLog:
    """Use cases of the bearers of links: read the log and resend a delivery."""

    settings: SettingsStore
    deliveries: DeliveryStore
    shares: LogShareStore
    redelivery: Redelivery
    rate_limit: RateLimit
    clock: ports.Clock

    def read_page(
        self,
        event_id: str,
        share_id: str,
        outcome: Outcome | None = None,
        event_type: EventType | None = None,
        after: Cursor | None = None,
    ) -> LogPage:
        """Return a page of the share's deliveries.

        Raises:
            CallError: The link is no longer valid.
        """
        share = self._active_share(event_id, share_id)
        present = self.settings.load(event_id).by_url.get(share.url)  # may have another ID now
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
            if delivery and delivery.url == share.url:  # another URL may be of another receiver
                page.append(replace(delivery, log=delivery.attempts_at_url))
        else:
            has_next = read == NEWEST_AT_MOST
        log.info("webhook.log_read", eventId=event_id, shareId=share_id, deliveries=len(page))
        return LogPage(share=share, deliveries=page, next=last if has_next else None)

    def resend(self, event_id: str, share_id: str, delivery_id: str) -> None:
        """Resend a delivery to the URL, if the share permits it.

        Raises:
            CallError: The link is no longer valid. `permission-denied` if the link is read-only.
                `resource-exhausted` after too many resends. See also `Redelivery.resend_one`.
        """
        share = self._active_share(event_id, share_id)
        if not share.can_resend:
            raise CallError(
                Code.PERMISSION_DENIED,
                "This link is read-only. Ask the organizer for a link that can resend.",
            )
        # Counted by event and URL, so that more links or IP addresses do not raise the limit.
        name = f"{event_id}\n{share.url}"
        if not self.rate_limit.allows("resendSharedWebhook to", name, RESENDS_AN_HOUR):
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                "There were too many resends to this URL through links. Try again after the next"
                " full hour.",
            )
        read_at = self.clock.now()
        self.redelivery.resend_one(
            event_id,
            delivery_id,
            self.settings.load(event_id),
            read_at=read_at,
            only_url=share.url,  # another URL of the endpoint may be of another receiver
        )
        log.info("webhook.log_resent", eventId=event_id, shareId=share_id, deliveryId=delivery_id)

    def _active_share(self, event_id: str, share_id: str) -> LogShare:
        share = self.shares.load(event_id, share_id)
        if share is None or not share.is_active(self.clock.now()):
            raise DELIVERY_LOG_LINK.not_valid
        return share
