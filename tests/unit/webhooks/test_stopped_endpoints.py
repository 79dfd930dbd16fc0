"""Webhooks stop when the organizer says so (spec 3.4)."""

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
    key,
)
from tests.in_memory.through import ServiceError
from tests.unit.webhooks.parts import EVENT, FAILURES, NOW, OTHER, URL, Parts, fails

SETTINGS: Final = f"events/{EVENT}/settings/webhooks"
READ: Final = "get settings"
OTHER_TYPE: Final = {"url": URL, "events": [EventType.GUEST_JOINED]}
DEAD: Final = {key(URL): {"url": URL, "reason": "dead"}}
OFF: Final = {key(URL): "2026-05-01T18:30:00.000Z"}
DISABLED: Final = "the URL is disabled: dead"

STOPS: Final[list[tuple[Callable[[Parts], None], str]]] = [
    (lambda parts: parts.subscribe(), REMOVED),
    (lambda parts: parts.delete(SETTINGS), REMOVED),
    (lambda parts: parts.subscribe(OTHER), REMOVED),
    (lambda parts: parts.subscribe({"url": OTHER, "id": "screen"}), REMOVED),
    (lambda parts: parts.subscribe(URL, off=OFF), SWITCHED_OFF),
    (lambda parts: parts.subscribe(URL, disabled=DEAD), DISABLED),
    (lambda parts: parts.subscribe(OTHER_TYPE), UNSUBSCRIBED),
    (lambda parts: parts.subscribe({"url": URL, "events": []}), UNSUBSCRIBED),
]


@pytest.mark.parametrize(("stop", "reason"), STOPS)
@pytest.mark.parametrize("failed", [1, 2, 3])
def test_no_retry_follows_once_the_endpoint_is_stopped(
    parts: Parts,
    capfd: pytest.CaptureFixture[str],
    stop: Callable[[Parts], None],
    reason: str,
    failed: int,
) -> None:
    """Attempts already made stay in the log, and the reason is logged."""
    delivery = parts.attempts(parts.delivery(), *FAILURES[:failed])
    stop(parts)
    record = parts.attempts(delivery, 204)
    assert (record.outcome, record.reason, record.attempts) == (Outcome.SKIPPED, reason, failed)
    assert [attempt.status for attempt in record.log] == FAILURES[:failed]
    assert (record.next_attempt_at, record.ended_at) == (None, parts.now)
    assert (len(parts.posts), len(parts.queued)) == (failed, failed)
    assert capfd.readouterr().out.count('"delivery.skipped"') == 1


@pytest.mark.parametrize(("stop", "reason"), STOPS)
@pytest.mark.parametrize(("late", "is_sent"), [(0, True), (5, True), (5.001, False), (3600, False)])
def test_a_late_first_attempt_checks_the_settings(
    parts: Parts, stop: Callable[[Parts], None], reason: str, late: float, *, is_sent: bool
) -> None:
    """A first attempt on time costs no read."""
    delivery = parts.delivery()
    stop(parts)
    parts.wait(late)
    record = parts.attempts(delivery, 204)
    assert (READ in parts.calls) is not is_sent
    assert (len(parts.posts), record.reason) == ((1, None) if is_sent else (0, reason))


@pytest.mark.parametrize(("late", "is_sent"), [(5, True), (5.001, False)])
def test_a_redelivery_counts_from_the_beginning_of_its_round(
    parts: Parts, late: float, *, is_sent: bool
) -> None:
    """Its settings were read then; no later attempt of the round relies on them."""
    delivery = parts.failed()
    parts.wait(60)
    parts.process().actions.resend(EVENT, delivery.id)
    parts.subscribe()
    parts.wait(late)
    parts.calls.clear()
    record = parts.attempts(parts.record(delivery), 500)
    assert (READ in parts.calls) is not is_sent
    assert (record.outcome, record.round) == (
        Outcome.RETRYING if is_sent else Outcome.SKIPPED,
        1,
    )


def test_a_process_reads_the_settings_once_in_five_seconds(parts: Parts) -> None:
    """The cache is no older than that: a removal five seconds ago is seen."""
    deliveries = [parts.attempts(parts.delivery(cause=f"w{n}"), 500) for n in range(10)]
    parts.wait(1)
    worker = parts.process().worker
    parts.calls.clear()
    for delivery in deliveries[:5]:
        worker.attempt(AttemptRequest.read(attempt_task(delivery).data))
    assert parts.calls.count(READ) == 1
    parts.subscribe()
    parts.wait(5)
    for delivery in deliveries[5:]:
        worker.attempt(AttemptRequest.read(attempt_task(delivery).data))
    assert parts.calls.count(READ) == 2
    assert [parts.record(each).outcome for each in deliveries[5:]] == [Outcome.SKIPPED] * 5


@pytest.mark.parametrize("stop", [stop for stop, reason in STOPS if reason == UNSUBSCRIBED])
def test_a_redelivery_ignores_the_subscription(parts: Parts, stop: Callable[[Parts], None]) -> None:
    """An organizer has asked for that delivery."""
    delivery = parts.failed()
    stop(parts)
    parts.process().actions.resend(EVENT, delivery.id)
    assert parts.attempts(parts.record(delivery), 500, 204).outcome is Outcome.SUCCESS


@pytest.mark.parametrize(("stop", "reason"), STOPS)
def test_a_test_checks_only_whether_the_endpoint_was_removed(
    parts: Parts, stop: Callable[[Parts], None], reason: str
) -> None:
    """A test shows whether a receiver works that is switched off."""
    delivery = parts.attempts(parts.delivery(test=True), 500)
    stop(parts)
    expected = Outcome.SKIPPED if reason == REMOVED else Outcome.SUCCESS
    assert parts.attempts(delivery, 204).outcome is expected


@pytest.mark.parametrize(
    "entry",
    [URL, f" {URL} ", {"url": URL}, {"url": URL, "id": "new"}, {"url": URL, "events": None}],
)
def test_an_endpoint_that_stays_configured_gets_its_retries(parts: Parts, entry: Any) -> None:
    """Also if its entry got an id meanwhile, and beside entries that cannot be read."""
    delivery = parts.attempts(parts.delivery(), 500)
    parts.subscribe(7, {"events": 7}, OTHER, entry, off="no map", disabled=["no map"])
    assert parts.attempts(delivery, 500, 204).outcome is Outcome.SUCCESS


def test_an_endpoint_with_an_id_gets_the_retry_at_its_present_url(parts: Parts) -> None:
    """Four attempts in all; the old URL's attempts stay in the log, and are not the new URL's."""
    delivery = parts.attempts(parts.delivery(endpoint="screen"), 500, 500)
    parts.subscribe({"url": OTHER, "id": "screen"}, URL)
    record = parts.attempts(delivery, 500, 204)
    assert (record.outcome, record.url, record.round) == (Outcome.SUCCESS, OTHER, 0)
    assert [attempt.status for attempt in record.log] == [500, 500, 500, 204]
    assert [attempt.number for attempt in record.attempts_at_url] == [3, 4]


def test_an_acknowledgement_of_the_old_url_is_over_once_the_delivery_has_moved(
    parts: Parts,
) -> None:
    """The present URL's receiver has not got it."""
    delivery = parts.delivery(endpoint="screen")
    parts.answers = [202]

    def failed_and_moved() -> None:
        retried = parts.attempts(delivery, 500)
        parts.subscribe({"url": OTHER, "id": "screen"})
        parts.attempts(retried, 500)

    parts.after("sender.post", failed_and_moved)
    parts.attempt(delivery)
    record = parts.record(delivery)
    assert (record.outcome, record.url) == (Outcome.RETRYING, OTHER)


@pytest.mark.parametrize("url", ["http://example.com/plain", "", "https://x..example/"])
def test_an_endpoint_whose_present_url_is_unusable_gets_nothing(parts: Parts, url: str) -> None:
    """As a delivery that is recorded now (spec 3.4)."""
    delivery = parts.attempts(parts.delivery(endpoint="screen"), 500)
    parts.subscribe({"url": url, "id": "screen"})
    record = parts.attempts(delivery, 204)
    assert (record.outcome, len(parts.posts)) == (Outcome.SKIPPED, 1)
    assert record.reason


def test_a_later_acknowledgement_counts(parts: Parts) -> None:
    """The attempt was under way when another dispatch found the endpoint removed."""
    delivery = parts.delivery()
    parts.answers = [204]

    def skipped_meanwhile() -> None:
        parts.subscribe()
        parts.wait(6)
        parts.attempt(delivery)

    parts.after("sender.post", skipped_meanwhile)
    record = parts.attempt(delivery)
    assert record == parts.record(delivery)
    assert record is not None
    assert (record.outcome, record.reason, record.attempts) == (Outcome.SUCCESS, None, 1)


def test_a_later_failure_changes_nothing(parts: Parts) -> None:
    """The delivery stays skipped, and no retry is queued."""
    delivery = parts.delivery()
    parts.answers = [500]

    def skipped_meanwhile() -> None:
        parts.subscribe()
        parts.wait(6)
        parts.attempt(delivery)

    parts.after("sender.post", skipped_meanwhile)
    parts.attempt(delivery)
    assert (parts.record(delivery).outcome, len(parts.queued)) == (Outcome.SKIPPED, 0)


@pytest.mark.parametrize("when", ["at", "after"])
def test_a_failed_read_fails_the_task(parts: Parts, when: str) -> None:
    """Nothing is sent, skipped or counted; the task comes back."""
    delivery = parts.attempts(parts.delivery(), 500)
    parts.wait(1)
    getattr(parts, when)(READ, fails)
    with pytest.raises(ServiceError):
        parts.attempt(delivery, 2)
    assert (parts.record(delivery), len(parts.posts)) == (delivery, 1)
    assert parts.attempts(delivery, 204).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("urls", ["https://example.com/hook", {"0": URL}, 0, False, 7.5])
def test_settings_that_say_nothing_of_endpoints_fail_the_task(parts: Parts, urls: Any) -> None:
    """No organizer has removed the endpoint: the delivery waits until the document is corrected."""
    delivery = parts.attempts(parts.delivery(), 500)
    parts.put(SETTINGS, {"urls": urls})
    parts.wait(1)
    with pytest.raises(UnreadableSettingsError):
        parts.attempt(delivery, 2)
    assert (parts.record(delivery), len(parts.posts)) == (delivery, 1)
    parts.subscribe(URL)
    assert parts.attempts(delivery, 204).outcome is Outcome.SUCCESS


def test_a_task_that_comes_too_early_reads_no_settings(parts: Parts) -> None:
    """Only an attempt that is due does."""
    delivery = parts.attempts(parts.delivery(), 500, 500)
    parts.subscribe()
    parts.calls.clear()
    with pytest.raises(NotDueError):
        parts.attempt(delivery, 3)
    assert READ not in parts.calls


@pytest.mark.parametrize("call", ["update deliveries", "get deliveries"])
@pytest.mark.parametrize("change", [[], [{"url": OTHER, "id": "screen"}]])
def test_a_change_of_the_endpoint_is_recorded_once(
    parts: Parts, call: str, change: list[Any]
) -> None:
    """The answer to the write, or what follows it, was lost."""
    delivery = parts.attempts(parts.delivery(endpoint="screen"), 500)
    parts.subscribe(*change)
    parts.wait(1)
    parts.answers = [204]
    parts.repeats(call)
    parts.attempt(delivery, 2)
    record = parts.record(delivery)
    assert record.outcome is (Outcome.SUCCESS if change else Outcome.SKIPPED)
    assert len(parts.posts) == (2 if change else 1)


def test_resending_a_time_includes_what_was_skipped(parts: Parts) -> None:
    """Once the URL is added again."""
    delivery = parts.attempts(parts.delivery(), 500)
    parts.subscribe()
    delivery = parts.attempts(delivery, 204)
    parts.subscribe(URL)
    selected = EndedWithin(since=NOW - timedelta(minutes=1))
    process = parts.process()
    assert process.actions.make_dry_run(EVENT, selected)[0] == 1
    assert process.actions.resend_page(EVENT, selected).resent == 1
    record = parts.attempts(parts.record(delivery), 204)
    assert (record.outcome, record.round, record.reason) == (Outcome.SUCCESS, 1, None)


def test_a_delivery_relies_on_settings_read_after_its_time(parts: Parts) -> None:
    """A trigger that is held up between settings and record makes nothing look fresh."""
    photo = parts.photo()
    parts.after(READ, lambda: parts.wait(60))
    parts.process().publisher.photo_written("w", EVENT, None, photo)
    parts.subscribe()
    [delivery] = [each for each in parts.records if each.event_type == "photo.uploaded"]
    assert parts.attempts(delivery, 204).outcome is Outcome.SKIPPED
