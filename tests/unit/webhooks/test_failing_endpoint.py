"""The table of decisions about a failing endpoint (spec 6.4, 6.5 and 7.3)."""

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
DISABLED: Final = Subscription(URL, disabled="the URL is disabled: no answer")
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
REPORTED: Final = replace(RECORD, reported=NoticeState.FAILING, reported_at=NOW - 2 * HOUR)
REPORTED_DISABLED: Final = replace(REPORTED, reported=NoticeState.DISABLED)
LONG_AGO: Final = replace(RECORD, failed_at=NOW - 11 * MINUTE)


def check(
    record: FailingEndpoint, endpoint: Subscription, latest: RecentDeliveries
) -> EndpointCheck:
    """Return the check of an endpoint with recipients of notices."""
    return EndpointCheck(record=record, endpoint=endpoint, latest=latest, has_people=True, now=NOW)


def failing(failures: int, *, long: bool = False) -> RecentDeliveries:
    """Return this number of failures in a row."""
    return RecentDeliveries(failures=failures, has_failed_for_long=long)


def answered(ago: timedelta, failures: int = 0) -> RecentDeliveries:
    """Return an acknowledgement and the number of failures since."""
    return RecentDeliveries(acknowledged_at=NOW - ago, failures=failures)


@pytest.mark.parametrize(
    ("record", "endpoint", "latest", "next_action"),
    [
        # switched off by an admin: no recovery and no email
        (RECORD, OFF, answered(MINUTE), NextAction.WAIT),
        (RECORD, OFF, failing(50), NextAction.WAIT),
        (replace(RECORD, failed_at=NOW - 5 * DAY), OFF, RecentDeliveries(), NextAction.FORGET),
        # disabled by the service
        (RECORD, DISABLED, RecentDeliveries(), NextAction.NOTIFY),
        (REPORTED, DISABLED, RecentDeliveries(), NextAction.NOTIFY),
        (
            replace(REPORTED, reported_at=NOW - 59 * MINUTE),
            DISABLED,
            RecentDeliveries(),
            NextAction.WAIT,
        ),
        (REPORTED_DISABLED, DISABLED, RecentDeliveries(), NextAction.WAIT),
        (
            replace(REPORTED_DISABLED, failed_at=NOW - 30 * DAY),
            DISABLED,
            RecentDeliveries(),
            NextAction.FORGET,
        ),
        # automatic recovery, also with failures after the acknowledgement, and before any email
        (RECORD, RECOVERED, answered(MINUTE), NextAction.RESEND),
        (RECORD, RECOVERED, answered(HOUR, failures=5), NextAction.RESEND),
        (REPORTED, RECOVERED, answered(MINUTE), NextAction.RESEND),
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
        # to be disabled
        (RECORD, ENDPOINT, failing(100, long=True), NextAction.DISABLE),
        (REPORTED, RECOVERED, failing(100, long=True), NextAction.DISABLE),
        (REPORTED, ENDPOINT, failing(99, long=True), NextAction.WAIT),
        (REPORTED, ENDPOINT, failing(100), NextAction.WAIT),
        # failing
        (RECORD, ENDPOINT, failing(5), NextAction.NOTIFY),
        (RECORD, ENDPOINT, failing(4), NextAction.WAIT),
        (REPORTED, ENDPOINT, failing(5), NextAction.WAIT),
        (replace(RECORD, reported_at=NOW - 59 * MINUTE), ENDPOINT, failing(5), NextAction.WAIT),
        (replace(RECORD, reported_at=NOW - HOUR), ENDPOINT, failing(5), NextAction.NOTIFY),
        # working again
        (REPORTED, ENDPOINT, answered(MINUTE), NextAction.NOTIFY_OF_RECOVERY),
        (
            replace(REPORTED, reported_at=NOW - 59 * MINUTE),
            ENDPOINT,
            answered(MINUTE),
            NextAction.WAIT,
        ),
        (REPORTED, ENDPOINT, answered(MINUTE, failures=1), NextAction.WAIT),
        (REPORTED, ENDPOINT, failing(0), NextAction.WAIT),
        (REPORTED, ENDPOINT, answered(3 * HOUR), NextAction.WAIT),  # before failures counted
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
        # no failure for a long time
        (replace(RECORD, failed_at=NOW - 5 * DAY), ENDPOINT, failing(3), NextAction.FORGET),
        (replace(REPORTED, failed_at=NOW - 5 * DAY), ENDPOINT, failing(30), NextAction.WAIT),
        (replace(REPORTED, failed_at=NOW - 30 * DAY), ENDPOINT, failing(30), NextAction.FORGET),
    ],
)
def test_the_first_row_that_applies_decides(
    record: FailingEndpoint,
    endpoint: Subscription,
    latest: RecentDeliveries,
    next_action: NextAction,
) -> None:
    """Use settings with recipients of notices."""
    assert check(record, endpoint, latest).next_action is next_action


@pytest.mark.parametrize(
    ("record", "endpoint", "latest", "next_action"),
    [
        (RECORD, DISABLED, RecentDeliveries(), NextAction.WAIT),
        (RECORD, ENDPOINT, failing(5), NextAction.WAIT),
        (RECORD, ENDPOINT, failing(100, long=True), NextAction.DISABLE),
        (REPORTED, ENDPOINT, answered(MINUTE), NextAction.WAIT),
        (RECORD, RECOVERED, answered(MINUTE), NextAction.RESEND),
        # the notified people have been removed from the settings
        (replace(REPORTED, failed_at=NOW - HOUR), ENDPOINT, answered(MINUTE), NextAction.FORGET),
    ],
)
def test_without_recipients_only_notices_are_omitted(
    record: FailingEndpoint,
    endpoint: Subscription,
    latest: RecentDeliveries,
    next_action: NextAction,
) -> None:
    """See spec 6.4. The other rows still apply."""
    assert replace(check(record, endpoint, latest), has_people=False).next_action is next_action


def test_the_count_restarts_when_an_endpoint_is_enabled_again() -> None:
    """Spec 7.3: also if the process that disabled it stopped before it wrote the record."""
    while_disabled = RECORD.of(DISABLED, NOW)
    later = NOW + HOUR

    assert while_disabled.since == NOW
    assert while_disabled.of(ENDPOINT, later) == while_disabled
    assert REPORTED_DISABLED.of(ENDPOINT, later).reported is NoticeState.FAILING


def test_the_count_restarts_at_another_url() -> None:
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
def test_the_next_check_is_later_the_longer_there_was_no_failure(
    endpoint: Subscription, ago: timedelta, wait: timedelta
) -> None:
    """An endpoint that can be recovered is checked by every sweep."""
    record = replace(RECORD, failed_at=NOW - ago)

    assert record.waiting(endpoint, NOW).due_at == NOW + wait


def test_recovery_includes_the_last_ten_minutes_again() -> None:
    """A delivery may be recorded some minutes after it ended."""
    assert (
        replace(RECORD, resent_until=NOW).waiting(RECOVERED, NOW).resent_until == NOW - 10 * MINUTE
    )
