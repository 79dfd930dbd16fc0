"""The notices with one thought left out each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from functions.mail.outcome import Later, SendOutcome, Unknown
from functions.webhooks.attempts.endpoint_health import EndpointHealth
from functions.webhooks.deliveries.delivery import Delivery, Ended
from functions.webhooks.notices import addressees, watch
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.notices.ports import StoredWatch
from functions.webhooks.notices.sweeper import NoticeSweeper
from functions.webhooks.notices.watch import News, Seen, Standing, Watch, WatchedUrl
from functions.webhooks.settings.webhook_settings import Subscription
from tests.in_memory.database import Update
from tests.in_memory.webhooks import InMemoryNotices
from tests.simulation.mutant import Mutant, instead_of

_settle = Notifier._settle  # noqa: SLF001 - a mutant goes inside
_looked = Watch.looked
_not_sent = Watch.not_sent


def _save_any_version(self: InMemoryNotices, event_id: str, watch: Watch, version: object) -> None:
    del version
    path = f"events/{event_id}/notices/webhooks"
    self._through("notices.save", lambda: self._database.commit(Update(path, lambda _: watch)))


def _send_first(self: Notifier, claim: Any, watch: Watch, stored: StoredWatch) -> bool:
    del self, claim, watch, stored
    return True


def _again_where_in_doubt(self: Notifier, claim: Any, outcome: SendOutcome, copies: int) -> None:
    doubt = isinstance(outcome, Unknown)
    _settle(self, claim, Later("in doubt", None) if doubt else outcome, copies)


def _stands_recovered(self: WatchedUrl, seen: Seen) -> Standing | None:
    if seen.is_disabled:
        return Standing.DISABLED
    if seen.is_failing:
        return Standing.FAILING
    return Standing.RECOVERED if seen.is_acknowledged else self.told


def _with_tests(self: Seen) -> Sequence[Ended]:
    return self.ended


def _whatever_is_configured(
    self: Notifier, event_id: str, watch: Watch, configured: Mapping[str, Subscription]
) -> Mapping[str, Seen]:
    return {
        url.url: Seen(
            is_disabled=bool(configured.get(url.url) and configured[url.url].disabled),
            ended=self._deliveries.last_ended(event_id, url.url, ("success", "failed"), 10),  # type: ignore[arg-type]
        )
        for url in watch.urls
    }


def _news_of_open_ones(
    self: Watch, seen: Mapping[str, Seen], now: datetime
) -> tuple[Watch, Sequence[News]]:
    looked, news = _looked(self, seen, now)
    return replace(looked, look_at=None) if not news else looked, news


def _look_counts_whatever_it_came_to(self: EndpointHealth, delivery: Delivery) -> None:
    key = (delivery.event_id, delivery.url)
    if not self._looked.get(key):
        self._looked.put(key, value=True)
        self._look(delivery)


def _told_all_the_same(
    self: Watch, news: Sequence[News], before: datetime | None, wait: timedelta, now: datetime
) -> Watch:
    del news
    sent = _not_sent(self, (), before, wait, now)
    return replace(sent, look_at=self.look_at)


def _notices(name: str, left_out: str, of: Any, what: str, do: Callable[..., Any] | Any) -> Mutant:
    return Mutant("notices", name, left_out, instead_of(of, what, do))


MUTANTS: Final = (
    _notices(
        "notice-any-version",
        "the precondition on the watched URLs",
        InMemoryNotices,
        "save",
        _save_any_version,
    ),
    _notices(
        "notice-before-record",
        "to put a notice on record before it leaves",
        Notifier,
        "_is_claimed",
        _send_first,
    ),
    _notices(
        "doubt-is-later",
        "that a notice which may have left is never sent again",
        Notifier,
        "_settle",
        _again_where_in_doubt,
    ),
    _notices(
        "taken-back-as-told",
        "to take back what was told where the mail was not taken",
        Watch,
        "not_sent",
        _told_all_the_same,
    ),
    _notices(
        "told-within-the-hour",
        "the hour between two notices of a URL",
        WatchedUrl,
        "quiet_until",
        property(lambda _: None),
    ),
    _notices(
        "mails-at-once",
        "the five minutes between two mails of an event",
        watch,
        "BETWEEN_MAILS",
        timedelta(0),
    ),
    _notices("four-in-a-row", "that it takes five in a row", watch, "FAILURES_TO_TELL", 4),
    _notices(
        "tests-count", "that tests count for nothing", Seen, "counting", property(_with_tests)
    ),
    _notices(
        "recovered-from-nothing",
        "that only what was told to fail recovers",
        WatchedUrl,
        "stands",
        _stands_recovered,
    ),
    _notices(
        "no-notice-sweep", "the sweep of the watched URLs", NoticeSweeper, "sweep", lambda _: 0
    ),
    _notices(
        "looked-once",
        "to look again at what was told, and at what a process has passed unseen",
        Watch,
        "looked",
        _news_of_open_ones,
    ),
    _notices(
        "unseen-for-no-time",
        "to look once more when the minute of the mark on a URL is over",
        watch,
        "UNSEEN_FOR",
        timedelta(0),
    ),
    _notices(
        "look-counts-anyway",
        "that a look which fails is made again",
        EndpointHealth,
        "delivery_failed",
        _look_counts_whatever_it_came_to,
    ),
    _notices(
        "gone-is-told",
        "that nothing is told of a URL that is gone",
        Notifier,
        "_seen",
        _whatever_is_configured,
    ),
    _notices(
        "told-for-ever",
        "that only those are told who are named",
        addressees,
        "deliverable_of",
        lambda _: ("ann@example.com",),
    ),
)
