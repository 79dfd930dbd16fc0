"""Which URLs of an event are watched, and what its people were told of each (design 3.31).

    marked ──▶ failing ──▶ recovered
         │       │  ▲          │
         │       ▼  └──────────┘
         └──▶ disabled ──▶ recovered

A failed delivery marks its URL. From then on the notifier looks at intervals at the ends of its
latest deliveries. A difference from the last told standing is news:

failing    the latest `FAILURES_TO_TELL` deliveries have all ended `failed`
disabled   the settings say so
recovered  the latest delivery was acknowledged, and people were told that the URL was failing

Tests do not count. A URL makes news at most once in `BETWEEN_NEWS`, and then its present standing
is told. One mail tells all the news of an event, and the next mail leaves `BETWEEN_MAILS` later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Self

from functions.webhooks.deliveries.delivery import KEPT_FOR, Ended, Outcome

FAILURES_TO_TELL: Final = 5
"""Failures in a row after which a URL counts as failing."""

LOOKED_AT: Final = 10
"""Deliveries that a look reads: with more than five tests among them there is no news yet."""

BETWEEN_NEWS: Final = timedelta(hours=1)
"""Of one URL."""

BETWEEN_MAILS: Final = timedelta(minutes=5)
"""Of one event."""

UNSEEN_FOR: Final = timedelta(seconds=65)
"""After a mark its process may not look at failures for a minute (`endpoint_health`)."""

TRIES: Final = 6
"""How often a mail that the mail service does not take is tried, over two and a half hours."""

_SOONEST: Final = timedelta(minutes=5)
_LATEST: Final = timedelta(hours=1)
_WATCHED_AT_MOST: Final = 100
"""An event has 20 URLs; an admin who changes them all the time makes no document too large."""


class Standing(StrEnum):
    """The standing of a URL, as people are told."""

    FAILING = "failing"
    DISABLED = "disabled"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A URL of the event as a look found it: `ended` are its latest deliveries, latest first."""

    is_disabled: bool
    ended: Sequence[Ended]

    @property
    def counting(self) -> Sequence[Ended]:
        """The deliveries that are no tests."""
        return [delivery for delivery in self.ended if not delivery.test]

    @property
    def is_failing(self) -> bool:
        """Whether `FAILURES_TO_TELL` deliveries in a row have failed."""
        last = self.counting[:FAILURES_TO_TELL]
        return len(last) == FAILURES_TO_TELL and all(
            delivery.outcome is Outcome.FAILED for delivery in last
        )

    @property
    def is_acknowledged(self) -> bool:
        """Whether the latest delivery was acknowledged."""
        return [delivery.outcome for delivery in self.counting[:1]] == [Outcome.SUCCESS]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedUrl:
    """A URL that has failed.

    Attributes:
        marked_at: When a failure was last looked at.
        told: The standing that was told last; None if nothing was told that still holds.
        told_at: When any standing was told last.
        since: When the first of the deliveries ended that have failed in a row.
    """

    url: str
    marked_at: datetime
    told: Standing | None = None
    told_at: datetime | None = None
    since: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether people wait to be told that the URL has recovered."""
        return self.told in (Standing.FAILING, Standing.DISABLED)

    @property
    def quiet_until(self) -> datetime | None:
        """Until then the URL makes no news; None if nothing was told."""
        return self.told_at and self.told_at + BETWEEN_NEWS

    def stands(self, seen: Seen) -> Standing | None:
        """The standing to tell, or the told standing that still holds."""
        if seen.is_disabled:
            return Standing.DISABLED
        if seen.is_failing:
            return Standing.FAILING
        if seen.is_acknowledged and self.is_open:
            return Standing.RECOVERED
        return self.told

    def is_news(self, standing: Standing | None) -> bool:
        """Whether `standing` is news to people.

        An admin who has enabled a URL again knows that it was failing.
        """
        enabled = (self.told, standing) == (Standing.DISABLED, Standing.FAILING)
        return standing not in (None, self.told) and not enabled

    def next_look(self, now: datetime) -> datetime | None:
        """When to look again; None if there is nothing to wait for."""
        if self.is_open and self.told_at:
            age = now - self.told_at
            return now + min(max(age / 10, _SOONEST), _LATEST) if age < KEPT_FOR else None
        until = max(self.marked_at + UNSEEN_FOR, self.quiet_until or self.marked_at)
        return until if now < until else None


@dataclass(frozen=True, slots=True)
class News:
    """A new standing of a URL, which is on record as `before`."""

    before: WatchedUrl
    standing: Standing
    seen: Seen
    since: datetime | None = None

    def told(self, at: datetime) -> WatchedUrl:
        """The URL once the standing is told."""
        return replace(self.before, told=self.standing, told_at=at, since=self.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The watched URLs of an event, `events/{event_id}/notices/webhooks`.

    Attributes:
        urls: The watched URLs.
        look_at: When to look; None if no URL is watched.
        sent_at: When the last mail was put on record, which is before it left.
        sending: The name of that mail, until its outcome is known.
        tries: Mails that the mail service did not take since it took one.
    """

    urls: tuple[WatchedUrl, ...] = ()
    look_at: datetime | None = None
    sent_at: datetime | None = None
    sending: str | None = None
    tries: int = 0

    def is_due(self, now: datetime) -> bool:
        """Whether it is time to look."""
        return self.look_at is not None and self.look_at <= now

    def marked(self, urls: Sequence[str], now: datetime) -> Self:
        """The watch with these failing URLs; the watch itself if it knows them all."""
        known = {watched.url: watched for watched in self.urls}
        room = max(0, _WATCHED_AT_MOST - len(known))
        fresh = [url for url in urls if url not in known][:room]
        further = [url for url in urls if url in known and not known[url].is_open]
        if not fresh and not further:
            return self
        marks = {url: replace(known[url], marked_at=now) for url in further}
        marks |= {url: WatchedUrl(url=url, marked_at=now) for url in fresh}
        soonest = max(now, self.sent_at + BETWEEN_MAILS) if self.sent_at else now
        return replace(
            self,
            urls=tuple((known | marks).values()),
            look_at=min(self.look_at, soonest) if self.look_at else soonest,
        )

    def looked(self, seen: Mapping[str, Seen], now: datetime) -> tuple[Self, Sequence[News]]:
        """The watch after a look, and the news to tell.

        A URL that is not in `seen` was removed from the settings, or they name no address.
        """
        kept: list[WatchedUrl] = []
        news: list[News] = []
        looks: list[datetime] = []
        for watched in self.urls:
            found = seen.get(watched.url)
            standing = watched.stands(found) if found else None
            if found and standing and watched.is_news(standing):
                kept.append(watched)
                if watched.quiet_until and now < watched.quiet_until:
                    looks.append(watched.quiet_until)
                else:
                    news.append(News(watched, standing, found))
                continue
            still = replace(watched, told=standing)
            next_look = still.next_look(now)
            if next_look:
                kept.append(still)
                looks.append(next_look)
        watch = replace(self, urls=tuple(kept), look_at=min(looks, default=None), sending=None)
        return watch, news

    def claimed(self, news: Sequence[News], claim: str, now: datetime) -> Self:
        """The watch once a mail that tells the `news` is about to leave."""
        told = {item.before.url: item.told(now) for item in news}
        return replace(self._with(told), sent_at=now, sending=claim, look_at=now + BETWEEN_MAILS)

    def sent(self) -> Self:
        """The watch once the mail service has taken that mail, or may have."""
        return replace(self, sending=None, tries=0)

    def not_sent(
        self, news: Sequence[News], before: datetime | None, wait: timedelta, now: datetime
    ) -> Self:
        """The watch once the mail was certainly not taken: tried again, or given up (`tries` is 0).

        Args:
            news: The news in the mail.
            before: When the mail before it was put on record.
            wait: How long to wait at least.
            now: The time.
        """
        tries = self.tries + 1
        if tries >= TRIES:
            told = {item.before.url: item.told(now) for item in news}
            return replace(self._with(told), sending=None, tries=0, look_at=now + BETWEEN_MAILS)
        untold = {item.before.url: item.before for item in news}
        return replace(
            self._with(untold),
            sent_at=before,
            sending=None,
            tries=tries,
            look_at=now + max(wait, BETWEEN_MAILS * 2 ** (tries - 1)),
        )

    def _with(self, changed: Mapping[str, WatchedUrl]) -> Self:
        """The watch with the `changed` URLs; a mark that has come meanwhile stays."""
        return replace(
            self,
            urls=tuple(
                replace(changed[watched.url], marked_at=watched.marked_at)
                if watched.url in changed
                else watched
                for watched in self.urls
            ),
        )
