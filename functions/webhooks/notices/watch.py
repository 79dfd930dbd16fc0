"""Which URLs of an event are watched, and what its people have been told of each (design 3).

    marked ──▶ failing ──▶ recovered
         │       │  ▲          │
         │       ▼  └──────────┘
         └──▶ disabled ──▶ recovered

A failed delivery marks its URL. From then on somebody looks, now and again, at how its latest
deliveries have ended; what they see is compared with what was told last, and a difference is news:

failing    the latest `IN_A_ROW` deliveries have all ended `failed`
disabled   the settings say so
recovered  the latest delivery was acknowledged, and before it the URL was told to be failing

Tests count for nothing. Of one URL there is news at most once in `AN_HOUR`, and only of how it
stands then; one mail tells all the news of an event, and the next one leaves `APART` later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Self

from functions.webhooks.deliveries.delivery import KEPT_FOR, Ended, Outcome

IN_A_ROW: Final = 5
LOOKED_AT: Final = 10
"""Deliveries that are looked at: with more tests than five among them there is no news yet."""

AN_HOUR: Final = timedelta(hours=1)
APART: Final = timedelta(minutes=5)

UNSEEN_FOR: Final = timedelta(seconds=65)
"""How long after a mark its process may let failures pass unseen (`endpoint_health`), and some."""

TRIES: Final = 6
"""How often a mail that is not taken is tried, over two and a half hours."""

_SOONEST: Final = timedelta(minutes=5)
_LATEST: Final = timedelta(hours=1)
_WATCHED_AT_MOST: Final = 100
"""An event has 20 URLs; an admin who changes them all the time makes no document too large."""


class Standing(StrEnum):
    """What can be told of a URL."""

    FAILING = "failing"
    DISABLED = "disabled"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A URL of the event as it was found: `ended` are its latest deliveries, the last one first."""

    is_disabled: bool
    ended: Sequence[Ended]

    @property
    def counting(self) -> Sequence[Ended]:
        """Those that are no tests."""
        return [one for one in self.ended if not one.test]

    @property
    def is_failing(self) -> bool:
        """Whether so many in a row have failed."""
        last = self.counting[:IN_A_ROW]
        return len(last) == IN_A_ROW and all(one.outcome is Outcome.FAILED for one in last)

    @property
    def is_acknowledged(self) -> bool:
        """Whether the latest one was acknowledged."""
        return [one.outcome for one in self.counting[:1]] == [Outcome.SUCCESS]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedUrl:
    """A URL that has failed.

    `marked_at` is when a failure was last looked at. `told` is what was told of it last, None where
    nothing was that still holds; `told_at` is when anything was. `since` is when the first of the
    deliveries ended that have failed in a row.
    """

    url: str
    marked_at: datetime
    told: Standing | None = None
    told_at: datetime | None = None
    since: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether its people wait to be told that it has recovered."""
        return self.told in (Standing.FAILING, Standing.DISABLED)

    @property
    def quiet_until(self) -> datetime | None:
        """Before then nothing is told of it again; None where nothing was told."""
        return self.told_at and self.told_at + AN_HOUR

    def stands(self, seen: Seen) -> Standing | None:
        """What is to be told of it, or was told and still holds."""
        if seen.is_disabled:
            return Standing.DISABLED
        if seen.is_failing:
            return Standing.FAILING
        if seen.is_acknowledged and self.is_open:
            return Standing.RECOVERED
        return self.told

    def is_news(self, standing: Standing | None) -> bool:
        """Whether its people do not know that.

        An admin who has enabled a URL again knows that it was failing.
        """
        enabled = (self.told, standing) == (Standing.DISABLED, Standing.FAILING)
        return standing not in (None, self.told) and not enabled

    def next_look(self, now: datetime) -> datetime | None:
        """When to look again; None where there is nothing to wait for."""
        if self.is_open and self.told_at:
            age = now - self.told_at
            return now + min(max(age / 10, _SOONEST), _LATEST) if age < KEPT_FOR else None
        until = max(self.marked_at + UNSEEN_FOR, self.quiet_until or self.marked_at)
        return until if now < until else None


@dataclass(frozen=True, slots=True)
class News:
    """What is to be told of a URL, which is as it was `before`."""

    before: WatchedUrl
    standing: Standing
    seen: Seen
    since: datetime | None = None

    def told(self, at: datetime) -> WatchedUrl:
        """The URL once that is told."""
        return replace(self.before, told=self.standing, told_at=at, since=self.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The watched URLs of an event, `events/{event_id}/notices/webhooks`.

    Somebody looks at `look_at`; None where nothing is watched. `sent_at` is when the last mail was
    put on record, which is before it left; `sending` names it until it is known what became of it.
    `tries` counts mails that were not taken, since the last one that was.
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
        """With these URLs, to which deliveries have failed; itself where all that is known."""
        known = {one.url: one for one in self.urls}
        room = max(0, _WATCHED_AT_MOST - len(known))
        fresh = [one for one in urls if one not in known][:room]
        further = [one for one in urls if one in known and not known[one].is_open]
        if not fresh and not further:
            return self
        marks = {one: replace(known[one], marked_at=now) for one in further}
        marks |= {one: WatchedUrl(url=one, marked_at=now) for one in fresh}
        soonest = max(now, self.sent_at + APART) if self.sent_at else now
        return replace(
            self,
            urls=tuple((known | marks).values()),
            look_at=min(self.look_at, soonest) if self.look_at else soonest,
        )

    def looked(self, seen: Mapping[str, Seen], now: datetime) -> tuple[Self, Sequence[News]]:
        """What is still watched once somebody has looked, and what is to be told.

        What is not in `seen` is none of the event's URLs any more, or nobody wants to know.
        """
        kept: list[WatchedUrl] = []
        news: list[News] = []
        looks: list[datetime] = []
        for one in self.urls:
            found = seen.get(one.url)
            standing = one.stands(found) if found else None
            if found and standing and one.is_news(standing):
                kept.append(one)
                if one.quiet_until and now < one.quiet_until:
                    looks.append(one.quiet_until)
                else:
                    news.append(News(one, standing, found))
                continue
            still = replace(one, told=standing)
            again = still.next_look(now)
            if again:
                kept.append(still)
                looks.append(again)
        watch = replace(self, urls=tuple(kept), look_at=min(looks, default=None), sending=None)
        return watch, news

    def claimed(self, news: Sequence[News], claim: str, now: datetime) -> Self:
        """Once a mail that tells the `news` is about to leave."""
        told = {one.before.url: one.told(now) for one in news}
        return replace(self._with(told), sent_at=now, sending=claim, look_at=now + APART)

    def sent(self) -> Self:
        """Once that mail was taken, or may have been."""
        return replace(self, sending=None, tries=0)

    def not_sent(
        self, news: Sequence[News], before: datetime | None, wait: timedelta, now: datetime
    ) -> Self:
        """Once it was certainly not taken: it is tried again, or given up (then `tries` is 0).

        Args:
            news: What it was to tell.
            before: When the mail before it was put on record.
            wait: How long to wait at least.
            now: The time.
        """
        tries = self.tries + 1
        if tries >= TRIES:
            told = {one.before.url: one.told(now) for one in news}
            return replace(self._with(told), sending=None, tries=0, look_at=now + APART)
        untold = {one.before.url: one.before for one in news}
        return replace(
            self._with(untold),
            sent_at=before,
            sending=None,
            tries=tries,
            look_at=now + max(wait, APART * 2 ** (tries - 1)),
        )

    def _with(self, changed: Mapping[str, WatchedUrl]) -> Self:
        """With what was told of these; a mark that has come meanwhile stays."""
        return replace(
            self,
            urls=tuple(
                replace(changed[one.url], marked_at=one.marked_at) if one.url in changed else one
                for one in self.urls
            ),
        )
