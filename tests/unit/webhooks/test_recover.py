"""`resendWebhook` with filters, and its dry run: what an outage left, recovered on purpose."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.call_rules import Caller, CallError, Code, EventArguments, Role
from functions.parts import Parameters
from functions.webhooks.calls.actions import DryRun, Resent
from functions.webhooks.calls.webhook_arguments import Page, ResendArguments, next_page
from functions.webhooks.deliveries.delivery import Cursor, Delivery
from functions.webhooks.deliveries.redelivery import Obstacle
from functions.webhooks.message import EventType
from functions.webhooks.webhook_settings import key
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts

ADMIN = Caller("u1", Role.ADMIN, "t1")
SINCE = NOW - timedelta(hours=1)
NOTHING: dict[str, int] = dict.fromkeys((*Obstacle, "tests"), 0)
UPLOADED, APPROVED = EventType.PHOTO_UPLOADED, EventType.PHOTO_APPROVED


@pytest.fixture
def parts() -> Parts:
    """An event with two URLs, of which each has three failed uploads and two failed approvals."""
    parts = Parts()
    parts.subscribe(URL, OTHER)
    parts.parameters = Parameters(deliveries_at_once=2)
    for url in (URL, OTHER):
        for number, event in enumerate([UPLOADED, APPROVED, UPLOADED, APPROVED, UPLOADED]):
            put(parts, event, url, f"write-{number}")
    return parts


def put(parts: Parts, event: EventType, url: str, cause: str, **fields: Any) -> Delivery:
    """A delivery that has failed, or could not be sent, recorded."""
    made = Delivery.create(
        cause=cause, event_id=EVENT, event_type=event, url=url, data={}, now=parts.now, **fields
    )
    parts.stored.create(EVENT, [made])
    if made.outcome.is_open:
        parts.failed(made)
    return made


def resend(parts: Parts, **page: Any) -> Resent:
    """A page of everything since an hour ago."""
    wanted = ResendArguments(event_id=EVENT, what=replace(Page(since=SINCE), **page))
    return parts.process().actions.resend(ADMIN, wanted)


def foresee(parts: Parts, **page: Any) -> DryRun:
    """A dry run of the same."""
    if "event" in page:
        page["event_type"] = page.pop("event")
    given = replace(Page(since=SINCE), **page)
    return parts.process().actions.make_dry_run(ADMIN, EventArguments(event_id=EVENT), given)


@pytest.mark.parametrize(
    ("filters", "matching"),
    [
        ({}, 10),
        ({"url": URL}, 5),
        ({"event": UPLOADED}, 6),
        ({"url": OTHER, "event": APPROVED}, 2),
        ({"event": EventType.GUEST_JOINED}, 0),
    ],
)
def test_a_dry_run_counts_what_the_pages_send(
    parts: Parts, filters: dict[str, Any], matching: int
) -> None:
    """Aggregations alone: it reads, writes and queues no delivery."""
    before, queued, posts = parts.records, len(parts.queued), len(parts.posts)
    parts.calls.clear()

    assert foresee(parts, **filters).matching == matching
    assert set(parts.calls) == {"get events", "get settings", "count deliveries"}
    assert (parts.records, len(parts.queued), len(parts.posts)) == (before, queued, posts)

    asked: dict[str, Any] = {"eventId": EVENT, "since": SINCE.isoformat()} | filters
    pages: list[Resent] = []
    while not pages or asked["next"]:
        pages.append(parts.process().actions.resend(ADMIN, ResendArguments.read(asked)))
        asked["next"] = pages[-1].next
    again = [record for record in parts.records if record.round]

    assert sum(page.resent + page.left_alone for page in pages) == matching == len(again)
    assert all(delivery.url == filters.get("url", delivery.url) for delivery in again)
    assert all(
        delivery.event_type == filters.get("event", delivery.event_type) for delivery in again
    )


@pytest.mark.parametrize(("outcome", "again"), [("failed", 10), ("success", 2), ("any", 12)])
def test_a_receiver_that_has_lost_its_database_gets_an_hour_again(
    parts: Parts, outcome: str, again: int
) -> None:
    """Spec 4.7: acknowledged ones too, page after page; what ends anew is not met again."""
    for number in range(2):
        parts.attempts(parts.delivery(cause=f"acknowledged {number}"), 200)
    until = (parts.now + timedelta(days=1)).isoformat()  # in the future: it counts as now
    asked: dict[str, Any] = {
        "eventId": EVENT,
        "since": SINCE.isoformat(),
        "until": until,
        "outcome": outcome,
    }
    foreseen = parts.process().actions.make_dry_run(
        ADMIN, EventArguments(event_id=EVENT), _page(asked | {"dryRun": True})
    )
    assert foreseen.matching == again
    pages: list[Resent] = []
    while not pages or (asked["next"] and len(pages) < 20):
        pages.append(parts.process().actions.resend(ADMIN, ResendArguments.read(asked)))
        parts.now += timedelta(seconds=1)
        asked["next"] = pages[-1].next
        for record in [record for record in parts.records if record.outcome.is_open]:
            parts.attempts(record, 200)
    assert sum(page.resent for page in pages) == again
    assert sum(record.round for record in parts.records) == again


def _page(asked: dict[str, Any]) -> Page:
    what = ResendArguments.read(asked).what
    assert isinstance(what, Page)
    return what


def test_what_ended_later_is_left_alone(parts: Parts) -> None:
    """`until` limits it, and belongs to `next`; one in the future is now."""
    parts.parameters = Parameters(deliveries_at_once=300)
    first = min(record.ended_at for record in parts.records if record.ended_at)
    assert resend(parts, until=first).resent == 1
    assert resend(parts, until=parts.now + timedelta(days=1)).resent == 9

    asked = {"eventId": EVENT, "since": SINCE.isoformat(), "until": first.isoformat()}
    next_ = next_page(first, Cursor(first, "d1"))
    assert _page(asked | {"next": next_}).until == first
    with pytest.raises(CallError, match="until must not be before since"):
        ResendArguments.read(asked | {"until": (SINCE - timedelta(seconds=1)).isoformat()})


def test_a_dry_run_counts_what_is_left_alone_by_the_reason(parts: Parts) -> None:
    """A page then sends as many, and leaves as many alone (spec 4.7)."""
    unusable, removed, given_up = "http://example.com/plain", "https://x.example/", f"{URL}/dead"
    parts.subscribe(URL, OTHER, unusable, given_up, disabled={key(given_up): {"url": given_up}})
    put(parts, UPLOADED, URL, "a test", test=True)
    put(parts, UPLOADED, unusable, "unusable")
    for number in range(2):
        put(parts, UPLOADED, removed, f"removed {number}")
    for number in range(3):
        put(parts, APPROVED, given_up, f"given up {number}")
    parts.parameters = Parameters(deliveries_at_once=300)

    barred = {Obstacle.REMOVED: 2, Obstacle.DISABLED: 3, Obstacle.UNUSABLE: 1}
    assert foresee(parts) == DryRun(matching=10, left_alone=barred | {"tests": 1})
    assert foresee(parts, url=given_up).left_alone == NOTHING | {Obstacle.DISABLED: 3}
    assert foresee(parts, url=URL) == DryRun(matching=5, left_alone=NOTHING | {"tests": 1})
    assert resend(parts) == Resent(resent=10, left_alone=7)


def test_a_dry_run_counts_what_failed_before_its_endpoint_had_an_id(parts: Parts) -> None:
    """Spec 4.7: a page then sends as many."""
    parts.subscribe({"url": URL, "id": "screen"}, OTHER)
    parts.parameters = Parameters(deliveries_at_once=300)

    assert foresee(parts) == DryRun(matching=10, left_alone=NOTHING)
    assert foresee(parts, url=URL).matching == 5 == resend(parts, url=URL).resent


def test_a_dry_run_counts_from_its_time_until_now(parts: Parts) -> None:
    """What has ended earlier, or succeeded, is not among it."""
    ended = sorted(record.ended_at for record in parts.records if record.ended_at)
    assert foresee(parts, since=ended[4]).matching == 6
    parts.now = ended[7]
    assert foresee(parts, since=ended[4]).matching == 4


@pytest.mark.parametrize("do", [resend, foresee])
def test_a_url_that_is_not_the_events_is_refused(parts: Parts, do: Callable[..., Any]) -> None:
    """`invalid-argument`: it is mistyped, or nothing may be sent there any more."""
    with pytest.raises(CallError, match="add it to them first") as refused:
        do(parts, url=f"{URL}/")

    assert refused.value.code is Code.INVALID_ARGUMENT
    assert not any(record.round for record in parts.records)
