"""An attempt of a delivery: the table of spec 3.4, crashes and concurrent dispatches (design 2)."""

import json
from datetime import timedelta
from typing import Any

import pytest

from functions.firestore.model import ChangedMeanwhileError
from functions.ports import NotDueError
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.signing import sign, standard_headers
from functions.webhooks.worker import BEGUN_AT_MOST, SUSPICIOUS_AFTER
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.webhook_fixture import (
    EVENT,
    FAILURES,
    NOW,
    OTHER,
    WebhookFixture,
    crashes,
    fails,
)

RETRYING = Outcome.RETRYING
SUCCESS = Outcome.SUCCESS
FAILED = Outcome.FAILED


def test_the_excerpt_of_an_answer_is_recorded_with_its_attempt(webhooks: WebhookFixture) -> None:
    """Spec 4.3: it is for people and does not affect the retries."""
    delivery = webhooks.delivery()
    webhooks.excerpt = "no such route"
    first = webhooks.attempts(delivery, 404)
    webhooks.excerpt = None
    record = webhooks.attempts(delivery, 404, None, 204)
    assert [attempt.answer for attempt in record.log] == ["no such route", None, None, None]
    errors = [None, None, "no answer within 5 seconds", None]
    assert [attempt.error for attempt in record.log] == errors
    assert (first.outcome, first.next_attempt_at) == (RETRYING, NOW + timedelta(seconds=1))
    assert (record.outcome, record.attempts) == (SUCCESS, 4)


@pytest.mark.parametrize(
    ("answers", "outcome", "next_queue", "wait"),
    [
        ([204], SUCCESS, None, None),
        ([500], RETRYING, "retryWebhookAfter1s", 1),
        ([None], RETRYING, "retryWebhookAfter1s", 1),
        ([500, 200], SUCCESS, None, None),
        ([500, None], RETRYING, "retryWebhookAfter5s", 5),
        ([500, 500, 299], SUCCESS, None, None),
        ([500, 500, 404], RETRYING, "retryWebhookAfter30s", 30),
        ([500, 500, 500, 200], SUCCESS, None, None),
        ([500, 500, 500, 500], FAILED, None, None),
        ([None, None, None, None], FAILED, None, None),
    ],
)
def test_each_answer_leads_to_the_state_of_the_table(
    webhooks: WebhookFixture,
    answers: list[int | None],
    outcome: Outcome,
    next_queue: str | None,
    wait: float,
) -> None:
    """Spec 3.4: check the state and the task of the next attempt."""
    delivery = webhooks.delivery()
    record = webhooks.attempts(delivery, *answers)

    assert (record.outcome, record.attempts) == (outcome, len(answers))
    assert [attempt.status for attempt in record.log] == answers
    assert [attempt.number for attempt in record.log] == list(range(1, len(answers) + 1))
    if next_queue is None:
        assert record.next_attempt_at is None
        assert record.ended_at == webhooks.now
        assert len(webhooks.queued) == len(answers) - 1
    else:
        assert record.next_attempt_at == webhooks.now + timedelta(seconds=wait)
        assert webhooks.queued[-1].queue == next_queue
        assert webhooks.queued[-1].due == record.next_attempt_at


def test_every_attempt_has_all_headers_the_same_body_and_a_new_signature(
    webhooks: WebhookFixture,
) -> None:
    """See spec 6.2."""
    delivery = webhooks.delivery()
    webhooks.attempts(delivery, 500, 500, 200)

    times = [NOW, NOW + timedelta(seconds=1), NOW + timedelta(seconds=6)]
    for (headers, body), at in zip(webhooks.posts, times, strict=True):
        assert body == delivery.body.encode()
        assert headers == {
            "Content-Type": "application/json",
            "User-Agent": "Wall-Webhooks/1.0",
            "Wall-Event-Type": "photo.uploaded",
            "Wall-Event-Id": EVENT,
            "Wall-Delivery-Id": delivery.id,
            "Wall-Signature": sign("whsec_made", body, at=int(at.timestamp())),
            **standard_headers("whsec_made", delivery.id, body, at=int(at.timestamp())),
        }
    assert json.loads(webhooks.posts[0][1])["deliveryId"] == delivery.id


def test_the_duration_of_an_attempt_is_that_of_the_post(webhooks: WebhookFixture) -> None:
    """Spec 4.3: reads of the service before the POST do not count."""
    for call in ("get events", "get secrets", "sender.post"):
        webhooks.at(call, lambda: webhooks.wait(2))
    [attempt] = webhooks.attempts(webhooks.delivery(test=True), 500).log
    assert (attempt.at, attempt.milliseconds) == (NOW + timedelta(seconds=4), 2000)


def test_a_task_that_is_too_early_fails(webhooks: WebhookFixture) -> None:
    """Send nothing, so that the queue waits for its backoff (design 2)."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    with pytest.raises(NotDueError):
        webhooks.attempt(delivery, 2)
    assert len(webhooks.posts) == 1
    assert webhooks.record(delivery) == delivery


def test_a_task_that_is_a_little_early_waits(webhooks: WebhookFixture) -> None:
    """No retry starts before its time (spec 3.4)."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    webhooks.now += timedelta(seconds=0.6)
    record = webhooks.attempt(delivery, 2)
    assert record is not None
    assert webhooks.slept == pytest.approx(0.4)
    assert record.log[-1].at == delivery.next_attempt_at


def test_an_attempt_that_crashes_every_instance_counts_as_failed(webhooks: WebhookFixture) -> None:
    """Design 2: record each start, and end the attempt after three starts."""
    delivery = webhooks.delivery()
    for before in range(BEGUN_AT_MOST):
        webhooks.at("sender.post", crashes)
        with pytest.raises(Crash):
            webhooks.attempt(delivery, dispatched_before=SUSPICIOUS_AFTER + before)
    assert webhooks.record(delivery).begun == BEGUN_AT_MOST

    record = webhooks.attempt(delivery, dispatched_before=SUSPICIOUS_AFTER + BEGUN_AT_MOST)

    assert record is not None
    assert (record.outcome, record.attempts, record.begun) == (RETRYING, 1, 0)
    assert record.log[-1].error == "the attempt started 3 times but never finished"
    assert webhooks.queued[-1].queue == "retryWebhookAfter1s"
    assert not webhooks.posts


def test_an_attempt_continues_after_its_start_was_recorded(webhooks: WebhookFixture) -> None:
    """The answer to that write is lost. The end of the attempt resets the count of starts."""
    delivery = webhooks.delivery()
    webhooks.lose_answer("update deliveries")
    record = webhooks.attempt(delivery, dispatched_before=SUSPICIOUS_AFTER)
    assert record is not None
    assert (record.outcome, record.begun, len(webhooks.posts)) == (SUCCESS, 0, 1)
    assert webhooks.record(delivery) == record


def test_an_attempt_that_another_dispatch_has_made_is_not_started(
    webhooks: WebhookFixture,
) -> None:
    """Send nothing unless the recorded start is that of this dispatch."""
    delivery = webhooks.delivery()

    def made_meanwhile() -> None:
        webhooks.attempts(delivery, 500)

    webhooks.at("update deliveries", made_meanwhile)
    with pytest.raises(ChangedMeanwhileError):
        webhooks.attempt(delivery, dispatched_before=SUSPICIOUS_AFTER)
    assert (len(webhooks.posts), webhooks.record(delivery).begun) == (1, 0)


def test_a_deleted_delivery_gets_no_attempt(webhooks: WebhookFixture) -> None:
    """Firestore's TTL policy has deleted it, and the task succeeds."""
    delivery = webhooks.delivery()
    webhooks.delete(f"events/{EVENT}/deliveries/{delivery.id}")
    assert webhooks.attempt(delivery) is None
    assert not webhooks.posts


@pytest.mark.parametrize("answers", [[500], [500, 500], FAILURES[1:], FAILURES, [200]])
def test_a_repeated_task_repeats_no_attempt(webhooks: WebhookFixture, answers: list[int]) -> None:
    """Spec 3.4: there is no fifth attempt."""
    delivery = webhooks.attempts(webhooks.delivery(), *answers)
    queued = len(webhooks.queued)
    made = len(answers) if delivery.outcome.is_open else len(FAILURES) + 1
    for attempt in range(1, made + 1):
        assert webhooks.attempt(delivery, attempt) == delivery
    assert (len(webhooks.posts), len(webhooks.queued)) == (len(answers), queued)


def test_a_task_of_an_earlier_round_makes_no_attempt(webhooks: WebhookFixture) -> None:
    """It queues no task either, as the new round has its own."""
    ended = webhooks.failed()
    again = ended.redelivered(webhooks.now)
    webhooks.stored.restart(again)
    queued = len(webhooks.queued)
    assert webhooks.attempt(ended, len(FAILURES)) == again
    assert (len(webhooks.posts), len(webhooks.queued)) == (len(FAILURES), queued)


@pytest.mark.parametrize(
    "call",
    ["get deliveries", "get secrets", "sender.post", "update deliveries", "queue.enqueue"],
)
@pytest.mark.parametrize("stop", [fails, crashes])
@pytest.mark.parametrize("when", ["at", "after"])
def test_a_stopped_attempt_is_completed_by_the_repeated_task(
    webhooks: WebhookFixture, call: str, stop: Any, when: str
) -> None:
    """Design 2: repeat it only if it was not recorded (spec 6.3.1), and queue its retry."""
    delivery = webhooks.delivery()
    webhooks.answers = [500, 500]
    getattr(webhooks, when)(call, stop)
    with pytest.raises((ServiceError, Crash)):
        webhooks.attempt(delivery)
    record = webhooks.attempt(delivery)
    assert record is not None
    assert (record.outcome, record.attempts, len(record.log)) == (RETRYING, 1, 1)
    assert [task.name for task in webhooks.queued] == [f"{delivery.id}-2"]
    is_repeated = (call, when) in (("sender.post", "after"), ("update deliveries", "at"))
    assert len(webhooks.posts) == 1 + is_repeated


def test_an_attempt_counts_once_after_a_lost_answer_to_its_record(webhooks: WebhookFixture) -> None:
    """The adapter repeats the write and finds the record changed by its first one."""
    delivery = webhooks.delivery()
    webhooks.answers = [500]
    webhooks.lose_answer("update deliveries")
    record = webhooks.attempt(delivery)
    assert record is not None
    assert record == webhooks.record(delivery)
    assert (record.outcome, record.attempts, len(record.log)) == (RETRYING, 1, 1)
    assert [task.name for task in webhooks.queued] == [f"{delivery.id}-2"]


@pytest.mark.parametrize(
    ("before", "first", "second", "outcome"),
    [
        ([], 500, 500, RETRYING),
        ([], 500, 202, SUCCESS),
        ([], 202, 500, SUCCESS),
        ([], 202, 202, SUCCESS),
        (FAILURES[1:], 500, 500, FAILED),
        (FAILURES[1:], 500, 202, SUCCESS),
        (FAILURES[1:], 202, 500, SUCCESS),
        (FAILURES[1:], 202, 202, SUCCESS),
    ],
)
def test_an_acknowledgement_to_either_of_two_dispatches_counts(
    webhooks: WebhookFixture, before: list[int], first: int, second: int, outcome: Outcome
) -> None:
    """Record the first dispatch while the second waits for its answer.

    At the last attempt, an acknowledgement replaces `failed` (spec 4.3). One attempt is recorded,
    so that a round never has more than the schedule.
    """
    delivery = webhooks.attempts(webhooks.delivery(), *before)
    webhooks.now = delivery.next_attempt_at or webhooks.now
    number = delivery.due_attempt
    webhooks.answers = [second, first]

    def other_dispatch() -> None:
        webhooks.attempt(delivery, number)

    webhooks.after("sender.post", other_dispatch)
    record = webhooks.attempt(delivery, number)

    assert len(webhooks.posts) == len(before) + 2
    assert record == webhooks.record(delivery)
    assert (record.outcome, record.attempts) == (outcome, number)
    assert [attempt.number for attempt in record.log] == list(range(1, number + 1))
    acknowledged = 202 in (first, second)
    assert record.log[-1].status == (202 if acknowledged else 500)
    assert (record.next_attempt_at is None) == (outcome is not RETRYING)
    names = [task.name for task in webhooks.queued]
    assert (f"{delivery.id}-{number + 1}" in names) == (first == 500 and number < len(FAILURES))


def test_a_late_acknowledgement_of_an_early_attempt_replaces_failed(
    webhooks: WebhookFixture,
) -> None:
    """The instance was suspended for an hour between the answer and the record."""
    delivery = webhooks.delivery()
    webhooks.answers = [202]

    def all_meanwhile() -> None:
        webhooks.failed(delivery)

    webhooks.after("sender.post", all_meanwhile)
    record = webhooks.attempt(delivery)
    assert record is not None
    assert record == webhooks.record(delivery)
    assert (record.outcome, record.attempts, record.next_attempt_at) == (
        SUCCESS,
        len(FAILURES),
        None,
    )
    others = [(number, 500) for number in range(2, len(FAILURES) + 1)]
    assert [(attempt.number, attempt.status) for attempt in record.log] == [*others, (1, 202)]


def test_an_acknowledgement_of_an_earlier_round_counts(webhooks: WebhookFixture) -> None:
    """An organizer has resent it in the meantime. The receiver has it and gets no other attempt."""
    delivery = webhooks.delivery()
    webhooks.answers = [202]

    def failed_and_sent_again() -> None:
        ended = webhooks.failed(delivery)
        webhooks.stored.restart(ended.redelivered(webhooks.now))

    webhooks.after("sender.post", failed_and_sent_again)
    webhooks.attempt(delivery)
    record = webhooks.record(delivery)
    assert (record.outcome, record.round, record.attempts) == (Outcome.SUCCESS, 1, 0)
    assert webhooks.attempt(delivery, 1, in_round=1) == record
    assert len(webhooks.posts) == 1 + len(FAILURES)


def test_an_acknowledgement_counts_in_a_round_after_a_success(webhooks: WebhookFixture) -> None:
    """One of two dispatches is acknowledged, and the other is recorded first."""
    delivery = webhooks.attempts(webhooks.delivery(), 200)
    webhooks.stored.restart(delivery.redelivered(webhooks.now))
    webhooks.answers = [202, 500]

    def other_dispatch() -> None:
        webhooks.attempt(delivery, in_round=1)

    webhooks.after("sender.post", other_dispatch)
    webhooks.attempt(delivery, in_round=1)
    assert (webhooks.record(delivery).outcome, len(webhooks.posts)) == (SUCCESS, 3)


def test_an_acknowledgement_of_an_earlier_successful_round_does_not_count(
    webhooks: WebhookFixture,
) -> None:
    """A receiver that has lost acknowledged deliveries must get them again."""
    delivery = webhooks.delivery()
    webhooks.answers = [202]

    def acknowledged_and_sent_again() -> None:
        ended = webhooks.attempts(delivery, 200)
        webhooks.stored.restart(ended.redelivered(webhooks.now))

    webhooks.after("sender.post", acknowledged_and_sent_again)
    webhooks.attempt(delivery)
    record = webhooks.record(delivery)
    assert (record.outcome, record.round, record.attempts) == (Outcome.PENDING, 1, 0)


def test_an_acknowledgement_by_another_url_does_not_count(webhooks: WebhookFixture) -> None:
    """The URL was corrected in the meantime, and its receiver does not have the delivery."""
    delivery = webhooks.delivery()
    webhooks.answers = [202]

    def failed_and_sent_elsewhere() -> None:
        ended = webhooks.failed(delivery)
        webhooks.stored.restart(ended.redelivered(webhooks.now, url=OTHER))

    webhooks.after("sender.post", failed_and_sent_elsewhere)
    webhooks.attempt(delivery)
    record = webhooks.record(delivery)
    assert (record.outcome, record.round, record.attempts) == (Outcome.PENDING, 1, 0)


def test_an_acknowledgement_of_a_deleted_delivery_writes_nothing(webhooks: WebhookFixture) -> None:
    """The TTL policy has deleted the record during the attempt."""
    delivery = webhooks.delivery()

    def deleted() -> None:
        webhooks.delete(f"events/{EVENT}/deliveries/{delivery.id}")

    webhooks.after("sender.post", deleted)
    record = webhooks.attempt(delivery)
    assert record is not None
    assert record.outcome is SUCCESS
    assert not webhooks.records


@pytest.mark.parametrize(("last", "noted"), [(500, True), (200, False)])
def test_only_failed_deliveries_are_recorded_at_the_endpoint(
    webhooks: WebhookFixture, last: int, noted: bool
) -> None:
    """A successful delivery needs no such call."""
    delivery = webhooks.attempts(webhooks.delivery(), *FAILURES[1:])
    assert "get endpoints" not in webhooks.calls
    webhooks.attempts(delivery, last)
    assert ("get endpoints" in webhooks.calls) == noted
