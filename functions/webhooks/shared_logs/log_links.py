"""Links to the log of a URL, which organizers give out and end (spec 4.11)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from functions import log
from functions.access import Caller, check_event
from functions.call_error import CallError, Code
from functions.clock import Clock
from functions.event_arguments import EventArguments
from functions.firestore.model import ChangedMeanwhileError
from functions.signed_links.token import Scope, TokenKeys
from functions.timestamps import wire_time
from functions.webhooks.arguments import endpoint_at
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.shared_logs.arguments import RevokeArguments, ShareArguments
from functions.webhooks.shared_logs.log_share import LogShare
from functions.webhooks.shared_logs.store import LogShareStore
from functions.webhooks.store import WallStore


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinks:
    """Gives links out and ends them, for one caller each."""

    wall: WallStore
    settings: SettingsStore
    shares: LogShareStore
    keys: Callable[[], TokenKeys]
    """What tokens are signed with now."""

    base_url: str
    """Of the site with the page that a link leads to."""

    clock: Clock
    new_id: Callable[[], str]
    """An id that no share has."""

    def give_out(self, caller: Caller, wanted: ShareArguments) -> tuple[str, LogShare]:
        """A link whose bearer sees the deliveries to a URL for some days, and its share.

        Raises:
            CallError: `invalid-argument` where the event has no such URL.
        """
        self._check(caller, wanted)
        endpoint = endpoint_at(wanted.url, self.settings.load(wanted.event_id))
        now = self.clock.now()
        share = LogShare(
            id=self.new_id(),
            event_id=wanted.event_id,
            url=wanted.url,
            endpoint=endpoint.id,
            can_resend=wanted.can_resend,
            created_by=caller.uid,
            created_at=now,
            # A token expires with a second: so both end at the same moment.
            expire_at=now.replace(microsecond=0) + wanted.lasts,
        )
        token = self.keys().sign((share.event_id, share.id), share.expire_at, Scope.WEBHOOK_LOG)
        self.shares.create(share)
        log.info(
            "webhook.log_shared",
            eventId=share.event_id,
            shareId=share.id,
            host=host_of(share.url),
            canResend=share.can_resend,
            expiresAt=wire_time(share.expire_at),
            uid=caller.uid,
        )
        return f"{self.base_url.rstrip('/')}/deliveries#token={token}", share

    def revoke(self, caller: Caller, wanted: RevokeArguments) -> datetime:
        """End a share at once; the time at which it ended, also if it had ended before.

        Raises:
            CallError: `not-found` where the event has no such share (any more).
        """
        self._check(caller, wanted)
        while True:
            found = self.shares.load(wanted.event_id, wanted.share_id)
            if found is None:
                raise CallError(
                    Code.NOT_FOUND, "The event has no share with that shareId (any more)."
                )
            if found.revoked_at:
                return found.revoked_at
            now = self.clock.now()
            try:
                self.shares.revoke(found, now)
            except ChangedMeanwhileError:
                continue  # by another call, or by this call, whose answer was lost
            log.info(
                "webhook.log_revoked",
                eventId=wanted.event_id,
                shareId=wanted.share_id,
                uid=caller.uid,
            )
            return now

    def _check(self, caller: Caller, wanted: EventArguments) -> None:
        check_event(caller, self.wall.event(wanted.event_id), wanted.tenant_id)
