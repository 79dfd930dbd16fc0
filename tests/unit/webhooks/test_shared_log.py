"""Links to the log of a URL: their tokens, their ends, their pages (spec 4.11 to 4.14)."""

from datetime import timedelta
from typing import Any

import pytest

from functions.call.errors import Code
from functions.links.token import Scope, TokenKeys
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.delivery_store import NEWEST_AT_MOST
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.shared_log import (
    PAGE_BYTES,
    RESENDS_AN_HOUR,
    LogShare,
    LogShareStore,
)
from functions.webhooks.webhook_settings import key
from tests.in_memory.adapters import InMemorySecrets
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.webhooks.webhook_fixture import (
    ADMIN,
    EVENT,
    FAILURES,
    NOW,
    OTHER,
    URL,
    WebhookFixture,
    refused,
)


def share(webhooks: WebhookFixture, **fields: Any) -> tuple[str, LogShare]:
    """Give a link out; the link and its share."""
    asked = {"lasts": timedelta(days=7)} | fields
    return webhooks.process().log_links.give_out(EVENT, ADMIN, URL, **asked)


def revoke(webhooks: WebhookFixture, made: LogShare) -> object:
    """End a link."""
    return webhooks.process().log_links.revoke(EVENT, ADMIN, made.id)


def send_again(webhooks: WebhookFixture, made: LogShare, delivery: Delivery) -> None:
    """Have a delivery sent again by the bearer of the link."""
    webhooks.process().shared_log.send_again(EVENT, made.id, delivery.id)


def record(webhooks: WebhookFixture, made: LogShare) -> LogShare:
    """The share as it is recorded."""
    found = LogShareStore(InMemoryDocuments(webhooks.firestore)).load(EVENT, made.id)
    assert found is not None
    return found


def pages(webhooks: WebhookFixture) -> list[list[str]]:
    """Ids of the deliveries on each page of the log, as the bearer of a link goes through it."""
    _, made = share(webhooks)
    found, after = list[list[str]](), None
    while not found or after:
        page = webhooks.process().shared_log.read_page(EVENT, made.id, after=after)
        found.append([delivery.id for delivery in page.deliveries])
        after = page.next
    return found


def test_a_link_leads_to_its_share(webhooks: WebhookFixture) -> None:
    """Spec 4.11: the token names event and share, and expires with the share to the second."""
    webhooks.now = NOW + timedelta(microseconds=700_000)
    link, made = share(webhooks, lasts=timedelta(days=2), can_resend=True)
    page, _, token = link.partition("#token=")
    keys = TokenKeys(InMemorySecrets().versions("LOG_LINKS_KEY"))

    assert page == "https://wall.example.com/deliveries"
    assert keys.verify(token, webhooks.now, Scope.WEBHOOK_LOG) == (EVENT, made.id)
    assert record(webhooks, made) == LogShare(
        id=made.id,
        event_id=EVENT,
        url=URL,
        endpoint=key(URL),
        can_resend=True,
        created_by="u1",
        created_at=webhooks.now,
        expire_at=NOW + timedelta(days=2),
    )
    assert not share(webhooks)[1].can_resend, "a link only shows where nothing else was asked for"


def test_a_share_is_made_once(webhooks: WebhookFixture) -> None:
    """Design 2: where the answer to the write was lost, the share is there, under its own id."""
    webhooks.lose_answer("create shares")
    _, made = share(webhooks)
    assert record(webhooks, made) == made


def test_a_link_ends_at_once_and_stays_so(webhooks: WebhookFixture) -> None:
    """Spec 4.12: also by a clock that is behind; the record may be deleted from then on."""
    _, made = share(webhooks)
    webhooks.now = at = NOW + timedelta(hours=1)
    assert revoke(webhooks, made) == at
    webhooks.now += timedelta(hours=1)
    assert revoke(webhooks, made) == at
    ended = record(webhooks, made)
    assert (ended.revoked_at, ended.expire_at) == (at, at)
    assert not ended.is_active(at - timedelta(seconds=1))


def test_two_end_a_link_at_the_same_moment(webhooks: WebhookFixture) -> None:
    """Design 2: one of them ends it, and both are told the same time."""
    _, made = share(webhooks)
    ends: list[object] = []

    def another_ends_it() -> None:
        webhooks.now += timedelta(seconds=1)
        ends.append(revoke(webhooks, made))

    webhooks.at("update shares", another_ends_it)
    ends.append(revoke(webhooks, made))
    assert ends == [webhooks.now, webhooks.now]


def test_a_link_ends_though_the_answer_to_its_end_is_lost(webhooks: WebhookFixture) -> None:
    """Design 2: the adapter writes it again, and finds it written."""
    _, made = share(webhooks)
    webhooks.lose_answer("update shares")
    assert revoke(webhooks, made) == NOW


def test_a_log_is_read_page_by_page(webhooks: WebhookFixture) -> None:
    """Spec 4.13: each delivery once, the latest first, two of the same moment included."""
    made = []
    for number in range(2 * NEWEST_AT_MOST):
        webhooks.now += timedelta(seconds=1)
        made.append(webhooks.delivery(cause=f"write-{number}"))
    made.append(webhooks.delivery(cause="at the same moment"))
    latest = sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)
    found = pages(webhooks)

    assert [len(page) for page in found] == [NEWEST_AT_MOST, NEWEST_AT_MOST, 1]
    assert [name for page in found for name in page] == [delivery.id for delivery in latest]


def test_large_bodies_make_smaller_pages(webhooks: WebhookFixture) -> None:
    """Spec 4.13: an answer is bounded; a delivery that is larger by itself comes alone."""
    for number, size in enumerate([PAGE_BYTES, *[PAGE_BYTES // 3 + 1] * 4]):
        delivery = webhooks.delivery(cause=f"write-{number}")
        path = f"events/{EVENT}/deliveries/{delivery.id}"
        webhooks.put(path, webhooks.fields(path) | {"body": "x" * size})
        webhooks.now += timedelta(seconds=1)

    assert [len(page) for page in pages(webhooks)] == [2, 2, 1]


def test_resends_are_counted_by_event_and_url(webhooks: WebhookFixture) -> None:
    """Spec 8: further links to the URL allow no more."""
    limit = webhooks.process().rate_limits.keyed("LOG_LINKS_KEY")
    for _ in range(RESENDS_AN_HOUR - 1):
        limit.allows("resendSharedWebhook to", f"{EVENT}\n{URL}", RESENDS_AN_HOUR)
    first, second = (webhooks.failed(webhooks.delivery(cause=cause)) for cause in "ab")
    send_again(webhooks, share(webhooks, can_resend=True)[1], first)
    _, other = share(webhooks, can_resend=True)
    message = refused(Code.RESOURCE_EXHAUSTED, lambda: send_again(webhooks, other, second))
    assert "this URL" in message
    assert webhooks.record(second) == second


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
    """Spec 4.13: no path, no query, no user name; it is the name that the console gives the URL."""
    assert name_of(url) == name


def test_a_log_shows_no_answer_of_another_url(webhooks: WebhookFixture) -> None:
    """Spec 4.13: the URL was corrected; what the wrong receiver answered is not the right one's."""
    webhooks.subscribe({"url": OTHER, "id": "screen"})
    webhooks.excerpt = "an error page of somebody else"
    delivery = webhooks.failed(webhooks.delivery(url=OTHER, endpoint="screen"))
    webhooks.subscribe({"url": URL, "id": "screen"})
    webhooks.process().actions.resend(EVENT, delivery.id)
    webhooks.excerpt = "the receiver's own"
    webhooks.attempts(delivery, 500)
    webhooks.excerpt = None
    webhooks.attempts(delivery, 200)

    _, made = share(webhooks)
    [shown] = webhooks.process().shared_log.read_page(EVENT, made.id).deliveries
    assert [attempt.answer for attempt in shown.log] == ["the receiver's own", None]
    assert len(webhooks.record(delivery).log) == len(FAILURES) + 2, "admins see all"
