"""What follows from an endpoint that fails: the table, row by row (spec 6.4, 6.5 and 7.3)."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from functions.webhooks.endpoints.failing_endpoint import (
    EndpointCheck,
    FailingEndpoint,
    NextAction,
    NoticeState,
    RecentDeliveries,
)
from functions.webhooks.webhook_settings import SWITCHED_OFF, Subscription
from tests.unit.webhooks.endpoint_fixture import HOUR, MINUTE
from tests.unit.webhooks.webhook_fixture import NOW, URL

DAY: Final = timedelta(days=1)
ENDPOINT: Final = Subscription(URL)
RECOVERED: Final = Subscription(URL, recover=True)
GIVEN_UP: Final = Subscription(URL, disabled="the URL is disabled: nobody answers")
UNUSABLE: Final = Subscription("http://example.com/hook", recover=True)
OFF: Final = Subscription(URL, disabled=SWITCHED_OFF, recover=True)
RECORD: Final = FailingEndpoint(
    event_id="e1",
    id="a",
    tenant_id="t1",
    url=URL,
    since=NOW - 2 * HOUR,
    failed_at=NOW - 5 * MINUTE,
    due_at=NOW,
)
TOLD: Final = replace(RECORD, reported=NoticeState.FAILING, reported_at=NOW - 2 * HOUR)
KNOWN_DISABLED: Final = replace(TOLD, reported=NoticeState.DISABLED)
LONG_AGO: Final = replace(RECORD, failed_at=NOW - 11 * MINUTE)


def check(
    record: FailingEndpoint, endpoint: Subscription, latest: RecentDeliveries
) -> EndpointCheck:
    """A check of an endpoint, about which people are notified."""
    return EndpointCheck(record=record, endpoint=endpoint, latest=latest, has_people=True, now=NOW)


def failing(failures: int, *, long: bool = False) -> RecentDeliveries:
    """So many failures in a row."""
    return RecentDeliveries(failures=failures, has_failed_for_long=long)


def answered(ago: timedelta, failures: int = 0) -> RecentDeliveries:
    """A delivery was acknowledged so long ago, and so many have failed since."""
    return RecentDeliveries(acknowledged_at=NOW - ago, failures=failures)


@pytest.mark.parametrize(
    ("record", "endpoint", "latest", "next_action"),
    [
        # switched off by an admin: neither a recovery nor a mail
        (RECORD, OFF, answered(MINUTE), NextAction.WAIT),
        (RECORD, OFF, failing(50), NextAction.WAIT),
        (replace(RECORD, failed_at=NOW - 5 * DAY), OFF, RecentDeliveries(), NextAction.FORGET),
        # given up
        (RECORD, GIVEN_UP, RecentDeliveries(), NextAction.NOTIFY),
        (TOLD, GIVEN_UP, RecentDeliveries(), NextAction.NOTIFY),
        (
            replace(TOLD, reported_at=NOW - 59 * MINUTE),
            GIVEN_UP,
            RecentDeliveries(),
            NextAction.WAIT,
        ),
        (KNOWN_DISABLED, GIVEN_UP, RecentDeliveries(), NextAction.WAIT),
        (
            replace(KNOWN_DISABLED, failed_at=NOW - 30 * DAY),
            GIVEN_UP,
            RecentDeliveries(),
            NextAction.FORGET,
        ),
        # automatic recovery, also where deliveries failed after the answer, and before any mail
        (RECORD, RECOVERED, answered(MINUTE), NextAction.RESEND),
        (RECORD, RECOVERED, answered(HOUR, failures=5), NextAction.RESEND),
        (TOLD, RECOVERED, answered(MINUTE), NextAction.RESEND),
        (
            replace(RECORD, resent_until=NOW - 2 * MINUTE),
            RECOVERED,
            answered(MINUTE),
            NextAction.RESEND,
        ),
        (replace(RECORD, resent_until=NOW - MINUTE), RECOVERED, answered(MINUTE), NextAction.WAIT),
        (RECORD, RECOVERED, answered(25 * HOUR), NextAction.WAIT),
        (RECORD, UNUSABLE, answered(MINUTE), NextAction.WAIT),
        (RECORD, RECOVERED, failing(3), NextAction.WAIT),
        (RECORD, ENDPOINT, answered(MINUTE), NextAction.WAIT),
        # to be given up
        (RECORD, ENDPOINT, failing(100, long=True), NextAction.DISABLE),
        (TOLD, RECOVERED, failing(100, long=True), NextAction.DISABLE),
        (TOLD, ENDPOINT, failing(99, long=True), NextAction.WAIT),
        (TOLD, ENDPOINT, failing(100), NextAction.WAIT),
        # failing
        (RECORD, ENDPOINT, failing(5), NextAction.NOTIFY),
        (RECORD, ENDPOINT, failing(4), NextAction.WAIT),
        (TOLD, ENDPOINT, failing(5), NextAction.WAIT),
        (replace(RECORD, reported_at=NOW - 59 * MINUTE), ENDPOINT, failing(5), NextAction.WAIT),
        (replace(RECORD, reported_at=NOW - HOUR), ENDPOINT, failing(5), NextAction.NOTIFY),
        # working again
        (TOLD, ENDPOINT, answered(MINUTE), NextAction.NOTIFY_OF_RECOVERY),
        (replace(TOLD, reported_at=NOW - 59 * MINUTE), ENDPOINT, answered(MINUTE), NextAction.WAIT),
        (TOLD, ENDPOINT, answered(MINUTE, failures=1), NextAction.WAIT),
        (TOLD, ENDPOINT, failing(0), NextAction.WAIT),
        (TOLD, ENDPOINT, answered(3 * HOUR), NextAction.WAIT),  # before failures counted
        # settled
        (LONG_AGO, ENDPOINT, answered(MINUTE), NextAction.FORGET),
        (LONG_AGO, ENDPOINT, answered(MINUTE, failures=1), NextAction.WAIT),
        (LONG_AGO, ENDPOINT, answered(12 * MINUTE), NextAction.WAIT),
        (
            replace(LONG_AGO, reported_at=NOW - 59 * MINUTE),
            ENDPOINT,
            answered(MINUTE),
            NextAction.WAIT,
        ),
        # nothing has happened for a long time
        (replace(RECORD, failed_at=NOW - 5 * DAY), ENDPOINT, failing(3), NextAction.FORGET),
        (replace(TOLD, failed_at=NOW - 5 * DAY), ENDPOINT, failing(30), NextAction.WAIT),
        (replace(TOLD, failed_at=NOW - 30 * DAY), ENDPOINT, failing(30), NextAction.FORGET),
    ],
)
def test_what_follows(
    record: FailingEndpoint,
    endpoint: Subscription,
    latest: RecentDeliveries,
    next_action: NextAction,
) -> None:
    """The first row that holds, where the settings name somebody."""
    assert check(record, endpoint, latest).next_action is next_action


@pytest.mark.parametrize(
    ("record", "endpoint", "latest", "next_action"),
    [
        (RECORD, GIVEN_UP, RecentDeliveries(), NextAction.WAIT),
        (RECORD, ENDPOINT, failing(5), NextAction.WAIT),
        (RECORD, ENDPOINT, failing(100, long=True), NextAction.DISABLE),
        (TOLD, ENDPOINT, answered(MINUTE), NextAction.WAIT),
        (RECORD, RECOVERED, answered(MINUTE), NextAction.RESEND),
        # the people who were told are not named any more
        (replace(TOLD, failed_at=NOW - HOUR), ENDPOINT, answered(MINUTE), NextAction.FORGET),
    ],
)
def test_nobody_is_to_be_notified(
    record: FailingEndpoint,
    endpoint: Subscription,
    latest: RecentDeliveries,
    next_action: NextAction,
) -> None:
    """The other rows hold all the same."""
    assert replace(check(record, endpoint, latest), has_people=False).next_action is next_action


def test_an_endpoint_that_is_enabled_again_counts_anew() -> None:
    """Spec 7.3: also where the process that disabled it ended before it wrote the record."""
    while_disabled = RECORD.of(GIVEN_UP, NOW)
    later = NOW + HOUR

    assert while_disabled.since == NOW
    assert while_disabled.of(ENDPOINT, later) == while_disabled
    assert KNOWN_DISABLED.of(ENDPOINT, later).reported is NoticeState.FAILING


def test_failures_count_anew_at_another_url() -> None:
    """Spec 7.3: an endpoint with another URL is another receiver."""
    corrected = RECORD.of(Subscription("https://example.com/right"), NOW)

    assert (corrected.url, corrected.since) == ("https://example.com/right", NOW)
    assert RECORD.of(ENDPOINT, NOW) == RECORD


@pytest.mark.parametrize(
    ("endpoint", "ago", "wait"),
    [
        (ENDPOINT, MINUTE, 4 * MINUTE),
        (ENDPOINT, 2 * HOUR, 12 * MINUTE),
        (ENDPOINT, DAY, HOUR),
        (RECOVERED, 23 * HOUR, 4 * MINUTE),
        (RECOVERED, 2 * DAY, HOUR),
        (OFF, 2 * HOUR, 12 * MINUTE),
    ],
)
def test_when_the_sweep_looks_next(endpoint: Subscription, ago: timedelta, wait: timedelta) -> None:
    """An endpoint is checked at each sweep while it may be recovered, else ever more seldom."""
    record = replace(RECORD, failed_at=NOW - ago)

    assert record.waiting(endpoint, NOW).due_at == NOW + wait


def test_what_failed_in_the_last_minutes_is_looked_at_again() -> None:
    """A record may be late by minutes."""
    assert (
        replace(RECORD, resent_until=NOW).waiting(RECOVERED, NOW).resent_until == NOW - 10 * MINUTE
    )
