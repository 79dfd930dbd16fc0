"""Attempts at endpoints that were removed, switched off, disabled or unsubscribed (spec 3.4)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest

from functions.ports import NotDueError
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import EndedWithin, Outcome
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import (
    REMOVED,
    SWITCHED_OFF,
    UNSUBSCRIBED,
    UnreadableSettingsError,
    endpoint_id,
)
from tests.in_memory.through import ServiceError
from tests.unit.webhooks.webhook_fixture import (
    EVENT,
    FAILURES,
    NOW,
    OTHER,
    URL,
    WebhookFixture,
    fails,
)

SETTINGS: Final = f"events/{EVENT}/settings/webhooks"
READ: Final = "get settings"
OTHER_TYPE: Final = {"url": URL, "events": [EventType.GUEST_JOINED]}
DEAD: Final = {endpoint_id(URL): {"url": URL, "reason": "dead"}}
OFF: Final = {endpoint_id(URL): "2026-05-01T18:30:00.000Z"}
DISABLED: Final = "the URL is disabled: dead"

STOPS: Final[list[tuple[Callable[[WebhookFixture], None], str]]] = [
    (lambda webhooks: webhooks.subscribe(), REMOVED),
    (lambda webhooks: webhooks.delete(SETTINGS), REMOVED),
    (lambda webhooks: webhooks.subscribe(OTHER), REMOVED),
    (lambda webhooks: webhooks.subscribe({"url": OTHER, "id": "screen"}), REMOVED),
    (lambda webhooks: webhooks.subscribe(URL, off=OFF), SWITCHED_OFF),
    (lambda webhooks: webhooks.subscribe(URL, disabled=DEAD), DISABLED),
    (lambda webhooks: webhooks.subscribe(OTHER_TYPE), UNSUBSCRIBED),
    (lambda webhooks: webhooks.subscribe({"url": URL, "events": []}), UNSUBSCRIBED),
]


@pytest.mark.parametrize(("stop", "reason"), STOPS)
@pytest.mark.parametrize("failed", [1, 2, 3])
def test_no_retry_follows_once_the_endpoint_is_stopped(
    webhooks: WebhookFixture,
    capfd: pytest.CaptureFixture[str],
    stop: Callable[[WebhookFixture], None],
    reason: str,
    failed: int,
) -> None:
    """Keep earlier attempts in the log of the delivery, and log the reason."""
    delivery = webhooks.attempts(webhooks.delivery(), *FAILURES[:failed])
    stop(webhooks)
    record = webhooks.attempts(delivery, 204)
    assert (record.outcome, record.reason, record.attempts) == (Outcome.SKIPPED, reason, failed)
    assert [attempt.status for attempt in record.log] == FAILURES[:failed]
    assert (record.next_attempt_at, record.ended_at) == (None, webhooks.now)
    assert (len(webhooks.posts), len(webhooks.queued)) == (failed, failed)
    assert capfd.readouterr().out.count('"delivery.skipped"') == 1


@pytest.mark.parametrize(("stop", "reason"), STOPS)
@pytest.mark.parametrize(("late", "is_sent"), [(0, True), (5, True), (5.001, False), (3600, False)])
def test_a_first_attempt_over_five_seconds_late_checks_the_settings(
    webhooks: WebhookFixture,
    stop: Callable[[WebhookFixture], None],
    reason: str,
    late: float,
    *,
    is_sent: bool,
) -> None:
    """A first attempt on time needs no read."""
    delivery = webhooks.delivery()
    stop(webhooks)
    webhooks.wait(late)
    record = webhooks.attempts(delivery, 204)
    assert (READ in webhooks.calls) is not is_sent
    assert (len(webhooks.posts), record.reason) == ((1, None) if is_sent else (0, reason))


@pytest.mark.parametrize(("late", "is_sent"), [(5, True), (5.001, False)])
def test_a_first_attempt_of_a_redelivery_is_late_by_the_start_of_its_round(
    webhooks: WebhookFixture, late: float, *, is_sent: bool
) -> None:
    """The settings were read at that time. Later attempts of the round read them again."""
    delivery = webhooks.failed()
    webhooks.wait(60)
    webhooks.process().actions.resend(EVENT, delivery.id)
    webhooks.subscribe()
    webhooks.wait(late)
    webhooks.calls.clear()
    record = webhooks.attempts(webhooks.record(delivery), 500)
    assert (READ in webhooks.calls) is not is_sent
    assert (record.outcome, record.round) == (
        Outcome.RETRYING if is_sent else Outcome.SKIPPED,
        1,
    )


def test_settings_are_cached_for_five_seconds(webhooks: WebhookFixture) -> None:
    """A removal five seconds ago is found."""
    deliveries = [webhooks.attempts(webhooks.delivery(cause=f"w{n}"), 500) for n in range(10)]
    webhooks.wait(1)
    worker = webhooks.process().worker
    webhooks.calls.clear()
    for delivery in deliveries[:5]:
        worker.attempt(AttemptRequest.read(attempt_task(delivery).data))
    assert webhooks.calls.count(READ) == 1
    webhooks.subscribe()
    webhooks.wait(5)
    for delivery in deliveries[5:]:
        worker.attempt(AttemptRequest.read(attempt_task(delivery).data))
    assert webhooks.calls.count(READ) == 2
    assert [webhooks.record(each).outcome for each in deliveries[5:]] == [Outcome.SKIPPED] * 5


@pytest.mark.parametrize("stop", [stop for stop, reason in STOPS if reason == UNSUBSCRIBED])
def test_a_redelivery_ignores_the_subscription(
    webhooks: WebhookFixture, stop: Callable[[WebhookFixture], None]
) -> None:
    """An organizer has requested this delivery."""
    delivery = webhooks.failed()
    stop(webhooks)
    webhooks.process().actions.resend(EVENT, delivery.id)
    assert webhooks.attempts(webhooks.record(delivery), 500, 204).outcome is Outcome.SUCCESS


@pytest.mark.parametrize(("stop", "reason"), STOPS)
def test_a_test_checks_only_whether_the_endpoint_was_removed(
    webhooks: WebhookFixture, stop: Callable[[WebhookFixture], None], reason: str
) -> None:
    """A test can show whether a switched-off receiver works."""
    delivery = webhooks.attempts(webhooks.delivery(test=True), 500)
    stop(webhooks)
    expected = Outcome.SKIPPED if reason == REMOVED else Outcome.SUCCESS
    assert webhooks.attempts(delivery, 204).outcome is expected


@pytest.mark.parametrize(
    "entry",
    [URL, f" {URL} ", {"url": URL}, {"url": URL, "id": "new"}, {"url": URL, "events": None}],
)
def test_an_endpoint_that_stays_configured_gets_its_retries(
    webhooks: WebhookFixture, entry: Any
) -> None:
    """Its entry may have got an ID, and other entries may be unreadable."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    webhooks.subscribe(7, {"events": 7}, OTHER, entry, off="no map", disabled=["no map"])
    assert webhooks.attempts(delivery, 500, 204).outcome is Outcome.SUCCESS


def test_a_retry_uses_the_present_url_of_an_endpoint_with_an_id(webhooks: WebhookFixture) -> None:
    """Make four attempts in total. Keep those at the old URL in the log as such."""
    delivery = webhooks.attempts(webhooks.delivery(endpoint="screen"), 500, 500)
    webhooks.subscribe({"url": OTHER, "id": "screen"}, URL)
    record = webhooks.attempts(delivery, 500, 204)
    assert (record.outcome, record.url, record.round) == (Outcome.SUCCESS, OTHER, 0)
    assert [attempt.status for attempt in record.log] == [500, 500, 500, 204]
    assert [attempt.number for attempt in record.attempts_at_url] == [3, 4]


def test_an_acknowledgement_of_the_old_url_does_not_count_at_the_new_one(
    webhooks: WebhookFixture,
) -> None:
    """The receiver of the present URL does not have the delivery."""
    delivery = webhooks.delivery(endpoint="screen")
    webhooks.answers = [202]

    def failed_and_moved() -> None:
        retried = webhooks.attempts(delivery, 500)
        webhooks.subscribe({"url": OTHER, "id": "screen"})
        webhooks.attempts(retried, 500)

    webhooks.after("sender.post", failed_and_moved)
    webhooks.attempt(delivery)
    record = webhooks.record(delivery)
    assert (record.outcome, record.url) == (Outcome.RETRYING, OTHER)


@pytest.mark.parametrize("url", ["http://example.com/plain", "", "https://x..example/"])
def test_a_delivery_is_skipped_if_the_present_url_is_unusable(
    webhooks: WebhookFixture, url: str
) -> None:
    """Spec 3.4 has the same rule for a new delivery."""
    delivery = webhooks.attempts(webhooks.delivery(endpoint="screen"), 500)
    webhooks.subscribe({"url": url, "id": "screen"})
    record = webhooks.attempts(delivery, 204)
    assert (record.outcome, len(webhooks.posts)) == (Outcome.SKIPPED, 1)
    assert record.reason


def test_an_acknowledgement_counts_after_the_delivery_was_skipped(webhooks: WebhookFixture) -> None:
    """Another dispatch found the endpoint removed during the attempt."""
    delivery = webhooks.delivery()
    webhooks.answers = [204]

    def skipped_meanwhile() -> None:
        webhooks.subscribe()
        webhooks.wait(6)
        webhooks.attempt(delivery)

    webhooks.after("sender.post", skipped_meanwhile)
    record = webhooks.attempt(delivery)
    assert record == webhooks.record(delivery)
    assert record is not None
    assert (record.outcome, record.reason, record.attempts) == (Outcome.SUCCESS, None, 1)


def test_a_failure_does_not_change_a_skipped_delivery(webhooks: WebhookFixture) -> None:
    """Queue no retry."""
    delivery = webhooks.delivery()
    webhooks.answers = [500]

    def skipped_meanwhile() -> None:
        webhooks.subscribe()
        webhooks.wait(6)
        webhooks.attempt(delivery)

    webhooks.after("sender.post", skipped_meanwhile)
    webhooks.attempt(delivery)
    assert (webhooks.record(delivery).outcome, len(webhooks.queued)) == (Outcome.SKIPPED, 0)


@pytest.mark.parametrize("when", ["at", "after"])
def test_a_failed_read_of_the_settings_fails_the_task(webhooks: WebhookFixture, when: str) -> None:
    """Send, skip and count nothing. Cloud Tasks dispatches the task again."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    webhooks.wait(1)
    getattr(webhooks, when)(READ, fails)
    with pytest.raises(ServiceError):
        webhooks.attempt(delivery, 2)
    assert (webhooks.record(delivery), len(webhooks.posts)) == (delivery, 1)
    assert webhooks.attempts(delivery, 204).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("urls", ["https://example.com/hook", {"0": URL}, 0, False, 7.5])
def test_malformed_settings_fail_the_task(webhooks: WebhookFixture, urls: Any) -> None:
    """No organizer has removed the endpoint. The delivery waits for a corrected document."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    webhooks.put(SETTINGS, {"urls": urls})
    webhooks.wait(1)
    with pytest.raises(UnreadableSettingsError):
        webhooks.attempt(delivery, 2)
    assert (webhooks.record(delivery), len(webhooks.posts)) == (delivery, 1)
    webhooks.subscribe(URL)
    assert webhooks.attempts(delivery, 204).outcome is Outcome.SUCCESS


def test_an_early_task_reads_no_settings(webhooks: WebhookFixture) -> None:
    """Only a due attempt needs them."""
    delivery = webhooks.attempts(webhooks.delivery(), 500, 500)
    webhooks.subscribe()
    webhooks.calls.clear()
    with pytest.raises(NotDueError):
        webhooks.attempt(delivery, 3)
    assert READ not in webhooks.calls


@pytest.mark.parametrize("call", ["update deliveries", "get deliveries"])
@pytest.mark.parametrize("change", [[], [{"url": OTHER, "id": "screen"}]])
def test_a_change_of_the_endpoint_is_recorded_once(
    webhooks: WebhookFixture, call: str, change: list[Any]
) -> None:
    """The answer to the read or to the write is lost, and the adapter repeats it."""
    delivery = webhooks.attempts(webhooks.delivery(endpoint="screen"), 500)
    webhooks.subscribe(*change)
    webhooks.wait(1)
    webhooks.answers = [204]
    webhooks.lose_answer(call)
    webhooks.attempt(delivery, 2)
    record = webhooks.record(delivery)
    assert record.outcome is (Outcome.SUCCESS if change else Outcome.SKIPPED)
    assert len(webhooks.posts) == (2 if change else 1)


def test_resending_a_period_includes_skipped_deliveries(webhooks: WebhookFixture) -> None:
    """The URL has been added again."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    webhooks.subscribe()
    delivery = webhooks.attempts(delivery, 204)
    webhooks.subscribe(URL)
    selected = EndedWithin(since=NOW - timedelta(minutes=1))
    process = webhooks.process()
    assert process.actions.make_dry_run(EVENT, selected, None)[0] == 1
    assert process.actions.resend_page(EVENT, selected).resent == 1
    record = webhooks.attempts(webhooks.record(delivery), 204)
    assert (record.outcome, record.round, record.reason) == (Outcome.SUCCESS, 1, None)


def test_settings_that_were_read_late_do_not_count_as_fresh(webhooks: WebhookFixture) -> None:
    """A trigger can be delayed between its read of the settings and the record."""
    photo = webhooks.photo()
    webhooks.after(READ, lambda: webhooks.wait(60))
    webhooks.process().publisher.photo_written("w", EVENT, None, photo)
    webhooks.subscribe()
    [delivery] = [each for each in webhooks.records if each.event_type == "photo.uploaded"]
    assert webhooks.attempts(delivery, 204).outcome is Outcome.SKIPPED
