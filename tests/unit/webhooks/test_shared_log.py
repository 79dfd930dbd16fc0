"""What the bearer of a link sees, and may have done (spec 4.13, 4.14)."""

from datetime import timedelta
from typing import Any

import pytest

from functions.call_rules import Caller, CallError, Code, Role
from functions.webhooks.calls.shared_log import PAGE_BYTES, RESENDS_AN_HOUR, LogPage
from functions.webhooks.calls.webhook_arguments import (
    LogArguments,
    ResendSharedArguments,
    RevokeArguments,
    ShareArguments,
)
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import NEWEST_AT_MOST
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.message import EventType
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts, refused

ADMIN = Caller("u1", Role.ADMIN, "t1")


@pytest.fixture
def parts() -> Parts:
    """An event with two URLs."""
    made = Parts()
    made.subscribe(URL, OTHER)
    return made


def share(parts: Parts, url: str = URL, **fields: Any) -> str:
    """Give a link out; the share's id."""
    wanted = ShareArguments(event_id=EVENT, url=url, **fields)
    return parts.process().log_links.give_out(ADMIN, wanted)[1].id


def read(parts: Parts, share_id: str, **fields: Any) -> LogPage:
    """Look at a page."""
    wanted = LogArguments.read({"token": "t"} | fields)
    return parts.process().shared_log.read_page(EVENT, share_id, wanted)


def ids(page: LogPage) -> list[str]:
    """Of the deliveries."""
    return [delivery.id for delivery in page.deliveries]


def send_again(parts: Parts, share_id: str, delivery: Delivery) -> None:
    """Have one sent again."""
    wanted = ResendSharedArguments(token="t", delivery_id=delivery.id)
    parts.process().shared_log.send_again(EVENT, share_id, wanted)


def several(parts: Parts, count: int, **fields: Any) -> list[Delivery]:
    """Deliveries a second apart, the first one first."""
    made = []
    for number in range(count):
        parts.now += timedelta(seconds=1)
        made.append(parts.delivery(cause=f"several-{number}", **fields))
    return made


def test_a_link_shows_what_went_to_its_url_under_any_id_of_the_endpoint(parts: Parts) -> None:
    """Deliveries to the URL that the endpoint had before may be another receiver's."""
    elsewhere = several(parts, NEWEST_AT_MOST, url=OTHER, endpoint="screen")
    mine = [parts.delivery(cause="before the id"), parts.delivery(cause="x", endpoint="screen")]
    parts.subscribe({"url": URL, "id": "screen"})
    link = share(parts)
    first = read(parts, link)

    assert set(ids(first)) == {delivery.id for delivery in mine}
    assert not read(parts, link, after=first.next).deliveries
    with pytest.raises(CallError, match="no delivery"):
        send_again(parts, share(parts, can_resend=True), elsewhere[0])


def test_pages(parts: Parts) -> None:
    """Each delivery once, the latest first, two of the same moment included."""
    made = several(parts, 2 * NEWEST_AT_MOST)
    made.append(parts.delivery(cause="at the same moment"))
    share_id, seen, after = share(parts), list[str](), None
    for size in (NEWEST_AT_MOST, NEWEST_AT_MOST, 1):
        page = read(parts, share_id, after=after)
        assert len(page.deliveries) == size
        seen += ids(page)
        after = page.next
    assert after is None
    assert sorted(seen) == sorted(delivery.id for delivery in made)
    latest = sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)
    assert seen == [delivery.id for delivery in latest]


def test_large_bodies_make_smaller_pages(parts: Parts) -> None:
    """An answer is bounded; a delivery that is larger by itself comes alone."""
    sizes_of = [PAGE_BYTES, *[PAGE_BYTES // 3] * 4]
    made = [
        Delivery.create(
            cause=f"large-{number}",
            event_id=EVENT,
            event_type=EventType.PHOTO_UPLOADED,
            url=URL,
            data={"text": "x" * size},
            now=NOW + timedelta(seconds=number),
        )
        for number, size in enumerate(sizes_of)
    ]
    parts.process().deliveries.create(EVENT, made)
    share_id, sizes, after = share(parts), [], None
    while True:
        page = read(parts, share_id, after=after)
        sizes.append(len(page.deliveries))
        after = page.next
        if after is None:
            break
    assert sizes == [2, 2, 1]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"pending", "failed", "joined"}),
        ({"outcome": "failed"}, {"failed"}),
        ({"outcome": "pending"}, {"pending", "joined"}),
        ({"event": "guest.joined"}, {"joined"}),
        ({"event": "guest.joined", "outcome": "failed"}, set()),
        ({"outcome": None, "event": None}, {"pending", "failed", "joined"}),
    ],
)
def test_filters(parts: Parts, filters: dict[str, Any], expected: set[str]) -> None:
    """By outcome and type, within the URL."""
    made = {"pending": parts.delivery(cause="1"), "failed": parts.delivery(cause="2")}
    parts.failed(made["failed"])
    made["joined"] = Delivery.create(
        cause="3", event_id=EVENT, event_type=EventType.GUEST_JOINED, url=URL, data={}, now=NOW
    )
    parts.process().deliveries.create(EVENT, [made["joined"]])
    assert set(ids(read(parts, share(parts), **filters))) == {made[name].id for name in expected}


def test_one_refusal_whatever_the_reason(parts: Parts) -> None:
    """Ended, expired, gone with its event or never there: nobody can tell which."""
    delivery = parts.delivery()
    revoked, expired = share(parts, can_resend=True), share(parts, lasts=timedelta(days=1))
    parts.process().log_links.revoke(ADMIN, RevokeArguments(event_id=EVENT, share_id=revoked))
    deleted = share(parts)
    said = []
    for one in (revoked, "none"):
        said.append(refused(Code.PERMISSION_DENIED, lambda: read(parts, one)))  # noqa: B023
        said.append(
            refused(Code.PERMISSION_DENIED, lambda: send_again(parts, one, delivery))  # noqa: B023
        )
    parts.now += timedelta(days=1, microseconds=-1)
    read(parts, expired)
    parts.now += timedelta(microseconds=1)
    said.append(refused(Code.PERMISSION_DENIED, lambda: read(parts, expired)))
    parts.delete(f"events/{EVENT}")
    said.append(refused(Code.PERMISSION_DENIED, lambda: read(parts, deleted)))
    assert set(said) == {
        "The link is not valid (any more); ask the sender of the link for a new one."
    }


def test_a_delivery_is_sent_again(parts: Parts) -> None:
    """Where the share allows it: the next round, queued once."""
    delivery = parts.delivery()
    failed = parts.failed(delivery)
    queued = len(parts.queued)
    send_again(parts, share(parts, can_resend=True), failed)
    record = parts.record(delivery)
    assert (record.outcome, record.round, record.body) == (Outcome.PENDING, 1, delivery.body)
    assert len(parts.queued) == queued + 1


def test_a_link_that_only_shows(parts: Parts) -> None:
    """It says so; the bearer can ask for another."""
    failed = parts.failed()
    message = refused(Code.PERMISSION_DENIED, lambda: send_again(parts, share(parts), failed))
    assert "sends none again" in message
    assert parts.record(failed) == failed


def test_a_delivery_to_another_url_is_not_there(parts: Parts) -> None:
    """Nobody can tell it from one that does not exist."""
    theirs = parts.failed(parts.delivery(url=OTHER))
    share_id = share(parts, can_resend=True)
    never = Delivery.create(
        cause="never",
        event_id=EVENT,
        event_type=EventType.PHOTO_UPLOADED,
        url=URL,
        data={},
        now=NOW,
    )
    said = {
        refused(Code.NOT_FOUND, lambda: send_again(parts, share_id, theirs)),
        refused(Code.NOT_FOUND, lambda: send_again(parts, share_id, never)),
    }
    assert len(said) == 1
    assert parts.record(theirs) == theirs


def test_a_url_that_is_the_events_no_more(parts: Parts) -> None:
    """Its log is still shown; nothing is sent there."""
    failed = parts.failed()
    share_id = share(parts, can_resend=True)
    parts.subscribe(OTHER)
    refused(Code.FAILED_PRECONDITION, lambda: send_again(parts, share_id, failed))
    assert ids(read(parts, share_id)) == [failed.id]


def test_resends_are_counted_by_event_and_url(parts: Parts) -> None:
    """Further links to the URL allow no more."""
    limit = parts.process().rate_limit("LOG_LINKS_KEY")
    for _ in range(RESENDS_AN_HOUR - 1):
        limit.allows("resendSharedWebhook to", f"{EVENT}\n{URL}", RESENDS_AN_HOUR)
    first, second = (parts.failed(parts.delivery(cause=cause)) for cause in "ab")
    send_again(parts, share(parts, can_resend=True), first)
    other_link = share(parts, can_resend=True)
    message = refused(Code.RESOURCE_EXHAUSTED, lambda: send_again(parts, other_link, second))
    assert "this URL" in message
    assert parts.record(second) == second


def test_the_log_names_no_token_and_no_path(
    parts: Parts, capfd: pytest.CaptureFixture[str]
) -> None:
    """What was looked at and sent again, by ids."""
    failed = parts.failed()
    share_id = share(parts, can_resend=True)
    capfd.readouterr()
    read(parts, share_id)
    send_again(parts, share_id, failed)
    said = "".join(capfd.readouterr())
    for text in ("webhook.log_read", "webhook.log_resent", share_id, failed.id):
        assert text in said
    assert "/hook" not in said


@pytest.mark.parametrize(
    ("url", "name"),
    [
        # As the console's tests have them.
        ("https://hooks.example.com/services/T0/B0/hush?key=1", "hooks.example.com~9f0a"),
        ("https://EXAMPLE.com:8443/hook", "example.com~16f9"),
        ("https://straße.example/ключ/🎉", "xn--strae-oqa.example~fc89"),
        ("https://user:hush@example.com/hook", "example.com~781b"),
        ("", "url~e3b0"),
    ],
)
def test_the_name_of_a_url_holds_no_key(url: str, name: str) -> None:
    """No path, no query, no user name; it is the name that the console gives the URL."""
    assert name_of(url) == name
