"""Links to the delivery log of a URL: tokens, expiry and pages (spec 4.11 to 4.14)."""

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
from functions.webhooks.webhook_settings import endpoint_id
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
    """Create a link, and return it with its share."""
    asked = {"lasts": timedelta(days=7)} | fields
    return webhooks.process().log_links.create(EVENT, ADMIN, URL, **asked)


def revoke(webhooks: WebhookFixture, made: LogShare) -> object:
    """Revoke a link."""
    return webhooks.process().log_links.revoke(EVENT, ADMIN, made.id)


def resend(webhooks: WebhookFixture, made: LogShare, delivery: Delivery) -> None:
    """Resend a delivery as the bearer of the link."""
    webhooks.process().shared_log.resend(EVENT, made.id, delivery.id)


def record(webhooks: WebhookFixture, made: LogShare) -> LogShare:
    """Return the recorded share."""
    found = LogShareStore(InMemoryDocuments(webhooks.firestore)).load(EVENT, made.id)
    assert found is not None
    return found


def pages(webhooks: WebhookFixture) -> list[list[str]]:
    """Read all pages as the bearer of a link, and return the IDs of the deliveries on each."""
    _, made = share(webhooks)
    found, after = list[list[str]](), None
    while not found or after:
        page = webhooks.process().shared_log.read_page(EVENT, made.id, after=after)
        found.append([delivery.id for delivery in page.deliveries])
        after = page.next
    return found


def test_the_token_of_a_link_has_event_share_and_expiry(webhooks: WebhookFixture) -> None:
    """Spec 4.11: the token expires in the same second as the share."""
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
        endpoint=endpoint_id(URL),
        can_resend=True,
        created_by="u1",
        created_at=webhooks.now,
        expire_at=NOW + timedelta(days=2),
    )
    assert not share(webhooks)[1].can_resend, "a link is read-only by default"


def test_a_share_is_created_once_after_a_lost_answer(webhooks: WebhookFixture) -> None:
    """Design 2: the repeated write has the same ID."""
    webhooks.lose_answer("create shares")
    _, made = share(webhooks)
    assert record(webhooks, made) == made


def test_a_revoked_link_is_invalid_at_once_and_for_good(webhooks: WebhookFixture) -> None:
    """Spec 4.12: this includes instances with a slow clock. The record expires now."""
    _, made = share(webhooks)
    webhooks.now = at = NOW + timedelta(hours=1)
    assert revoke(webhooks, made) == at
    webhooks.now += timedelta(hours=1)
    assert revoke(webhooks, made) == at
    ended = record(webhooks, made)
    assert (ended.revoked_at, ended.expire_at) == (at, at)
    assert not ended.is_active(at - timedelta(seconds=1))


def test_two_concurrent_revocations_return_the_same_time(webhooks: WebhookFixture) -> None:
    """Design 2: only one of them changes the record."""
    _, made = share(webhooks)
    ends: list[object] = []

    def revoked_by_another() -> None:
        webhooks.now += timedelta(seconds=1)
        ends.append(revoke(webhooks, made))

    webhooks.at("update shares", revoked_by_another)
    ends.append(revoke(webhooks, made))
    assert ends == [webhooks.now, webhooks.now]


def test_a_revocation_succeeds_after_a_lost_answer(webhooks: WebhookFixture) -> None:
    """Design 2: the adapter repeats the write and finds it applied."""
    _, made = share(webhooks)
    webhooks.lose_answer("update shares")
    assert revoke(webhooks, made) == NOW


def test_pages_have_each_delivery_once_with_the_latest_first(webhooks: WebhookFixture) -> None:
    """Spec 4.13: two deliveries of the same time are included."""
    made = []
    for number in range(2 * NEWEST_AT_MOST):
        webhooks.now += timedelta(seconds=1)
        made.append(webhooks.delivery(cause=f"write-{number}"))
    made.append(webhooks.delivery(cause="at the same moment"))
    latest = sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)
    found = pages(webhooks)

    assert [len(page) for page in found] == [NEWEST_AT_MOST, NEWEST_AT_MOST, 1]
    assert [name for page in found for name in page] == [delivery.id for delivery in latest]


def test_a_page_has_a_maximum_size(webhooks: WebhookFixture) -> None:
    """Spec 4.13: a delivery that is larger has a page of its own."""
    for number, size in enumerate([PAGE_BYTES, *[PAGE_BYTES // 3 + 1] * 4]):
        delivery = webhooks.delivery(cause=f"write-{number}")
        path = f"events/{EVENT}/deliveries/{delivery.id}"
        webhooks.put(path, webhooks.fields(path) | {"body": "x" * size})
        webhooks.now += timedelta(seconds=1)

    assert [len(page) for page in pages(webhooks)] == [2, 2, 1]


def test_resends_are_counted_by_event_and_url(webhooks: WebhookFixture) -> None:
    """Spec 8: another link to the URL has the same limit."""
    limit = webhooks.process().rate_limits.keyed("LOG_LINKS_KEY")
    for _ in range(RESENDS_AN_HOUR - 1):
        limit.allows("resendSharedWebhook to", f"{EVENT}\n{URL}", RESENDS_AN_HOUR)
    first, second = (webhooks.failed(webhooks.delivery(cause=cause)) for cause in "ab")
    resend(webhooks, share(webhooks, can_resend=True)[1], first)
    _, other = share(webhooks, can_resend=True)
    message = refused(Code.RESOURCE_EXHAUSTED, lambda: resend(webhooks, other, second))
    assert "this URL" in message
    assert webhooks.record(second) == second


@pytest.mark.parametrize(
    ("url", "name"),
    [
        # The same as in the tests of the console.
        ("https://hooks.example.com/services/T0/B0/hush?key=1", "hooks.example.com~9f0a"),
        ("https://EXAMPLE.com:8443/hook", "example.com~16f9"),
        ("https://straße.example/ключ/🎉", "xn--strae-oqa.example~fc89"),
        ("https://user:hush@example.com/hook", "example.com~781b"),
        ("", "url~e3b0"),
    ],
)
def test_the_name_of_a_url_contains_no_key(url: str, name: str) -> None:
    """Spec 4.13: it has no path, query or user name, and is the same in the console."""
    assert name_of(url) == name


def test_a_log_does_not_show_answers_of_another_url(webhooks: WebhookFixture) -> None:
    """Spec 4.13: the answers of an earlier, wrong receiver are not shown to the right one."""
    webhooks.subscribe({"url": OTHER, "id": "screen"})
    webhooks.excerpt = "an error page of another receiver"
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
    assert len(webhooks.record(delivery).log) == len(FAILURES) + 2, "admins see all attempts"
