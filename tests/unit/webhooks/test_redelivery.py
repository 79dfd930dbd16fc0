"""Redeliveries, with crashes and concurrent calls (spec 4.7 and 6.2, design 2)."""

from datetime import timedelta
from typing import Any, Final

import pytest

from functions.call.errors import Code
from functions.gcp.callables import StaffCall
from functions.handlers import webhook_calls
from functions.parameters import Parameters
from functions.webhooks.deliveries.delivery import KEPT_FOR, Delivery, EndedWithin, Outcome
from tests.unit.webhooks.webhook_fixture import (
    ADMIN,
    EVENT,
    NOW,
    WebhookFixture,
    refused,
)

ENDED: Final = EndedWithin(since=NOW - timedelta(days=1))


@pytest.fixture
def ended(webhooks: WebhookFixture) -> Delivery:
    """Return an acknowledged delivery."""
    return webhooks.attempts(webhooks.delivery(), 200)


def resend(webhooks: WebhookFixture, delivery: Delivery) -> None:
    """Resend one delivery."""
    webhooks.process().actions.resend(EVENT, delivery.id)


def test_a_redelivery_starts_a_new_round_of_attempts(
    webhooks: WebhookFixture, ended: Delivery
) -> None:
    """Spec 4.7: four attempts, the first at once, with the same ID and body."""
    webhooks.now += timedelta(hours=1)
    resend(webhooks, ended)
    record = webhooks.record(ended)

    assert (record.outcome, record.round, record.attempts) == (Outcome.PENDING, 1, 0)
    assert (record.next_attempt_at, record.body) == (webhooks.now, ended.body)
    fields = webhooks.fields(f"events/{EVENT}/deliveries/{ended.id}")
    assert fields["expireAt"] == webhooks.now + KEPT_FOR
    assert webhooks.queued[-1].name == f"{ended.id}-r1-1"
    assert webhooks.attempts(record, 500, 204).outcome is Outcome.SUCCESS


def test_a_redelivery_removes_the_reason_of_a_skipped_delivery(webhooks: WebhookFixture) -> None:
    """Spec 4.7: the URL has been enabled again."""
    skipped = webhooks.delivery(disabled="the URL is disabled: dead")
    resend(webhooks, skipped)
    assert webhooks.record(skipped).reason is None


def test_a_redelivery_is_queued_after_a_lost_answer(
    webhooks: WebhookFixture, ended: Delivery
) -> None:
    """Design 2: the adapter finds the record changed by its own first write."""
    webhooks.lose_answer("update deliveries")
    resend(webhooks, ended)
    assert webhooks.record(ended).round == 1
    assert webhooks.queued[-1].data["round"] == 1


@pytest.mark.parametrize(("answers", "round_"), [([], 1), ([204], 2)])
def test_two_concurrent_resends_succeed(
    webhooks: WebhookFixture, ended: Delivery, answers: list[int], round_: int
) -> None:
    """They start one round. If the first round has ended, the second call starts the next."""

    def sent_again_meanwhile() -> None:
        resend(webhooks, ended)
        webhooks.attempts(ended, *answers)

    webhooks.at("update deliveries", sent_again_meanwhile)
    resend(webhooks, ended)
    assert webhooks.record(ended).round == round_
    assert len(webhooks.queued) == round_


def test_a_resend_is_aborted_if_the_round_of_another_is_under_way(
    webhooks: WebhookFixture, ended: Delivery
) -> None:
    """Another call started the round, and its first attempt has failed."""

    def sent_again_meanwhile() -> None:
        resend(webhooks, ended)
        webhooks.attempts(ended, 500)

    webhooks.at("update deliveries", sent_again_meanwhile)
    refused(Code.ABORTED, lambda: resend(webhooks, ended))
    assert webhooks.record(ended).round == 1


def test_a_page_skips_deliveries_that_another_call_has_resent(webhooks: WebhookFixture) -> None:
    """The other call was after the query of this page."""
    made = [webhooks.failed(webhooks.delivery(cause=cause)) for cause in "ab"]

    def acknowledged_after_all() -> None:
        resend(webhooks, made[0])
        webhooks.attempts(made[0], 204)

    webhooks.after("find deliveries", acknowledged_after_all)
    done = webhooks.process().actions.resend_page(EVENT, ENDED)
    assert (done.resent, done.left_alone, done.next) == (1, 1, None)
    assert [webhooks.record(delivery).round for delivery in made] == [1, 1]


def test_pages_resend_each_delivery_once(webhooks: WebhookFixture) -> None:
    """Spec 4.7: `until` of the first page, at most its time, applies to all pages."""
    webhooks.parameters = Parameters(deliveries_at_once=2)
    for number in range(5):
        webhooks.attempts(webhooks.delivery(cause=f"write-{number}"), 200)
    asked: dict[str, Any] = {"eventId": EVENT, "outcome": "any"}
    asked |= {"since": ENDED.since.isoformat(), "until": (NOW + timedelta(days=1)).isoformat()}
    sizes = list[int]()
    while not sizes or (asked["next"] and len(sizes) < 10):
        request: Any = None
        call = StaffCall(function="f", data=asked, request=request, caller=ADMIN, claims={})
        done = webhook_calls.resend(webhooks.process(), call)
        asked["next"] = done["next"]
        sizes.append(done["resent"])
        webhooks.now += timedelta(seconds=1)
        for record in [record for record in webhooks.records if record.outcome.is_open]:
            webhooks.attempts(record, 200)

    assert sizes == [2, 2, 1]
    assert [record.round for record in webhooks.records] == [1] * 5


def test_a_dry_run_only_counts(webhooks: WebhookFixture) -> None:
    """Spec 4.7: use aggregations and read no delivery."""
    webhooks.failed()
    webhooks.calls.clear()
    matching, _ = webhooks.process().actions.make_dry_run(EVENT, ENDED, None)

    assert matching == 1
    assert set(webhooks.calls) == {"get settings", "count deliveries"}
