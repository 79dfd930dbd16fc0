"""One attempt of a delivery: the table of spec 3.4, and what may come in between (design 2)."""

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


def test_how_an_answer_began_stands_with_its_attempt(webhooks: WebhookFixture) -> None:
    """Spec 4.3: for people; what follows is the same without it."""
    delivery = webhooks.delivery()
    webhooks.excerpt = "no such route"
    told = webhooks.attempts(delivery, 404)
    webhooks.excerpt = None
    record = webhooks.attempts(delivery, 404, None, 204)
    assert [attempt.answer for attempt in record.log] == ["no such route", None, None, None]
    errors = [None, None, "no answer within 5 seconds", None]
    assert [attempt.error for attempt in record.log] == errors
    assert (told.outcome, told.next_attempt_at) == (RETRYING, NOW + timedelta(seconds=1))
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
def test_the_table_of_an_attempt(
    webhooks: WebhookFixture,
    answers: list[int | None],
    outcome: Outcome,
    next_queue: str | None,
    wait: float,
) -> None:
    """Spec 3.4, row by row: the state that follows, and the task of the next attempt."""
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


def test_what_a_receiver_gets(webhooks: WebhookFixture) -> None:
    """Spec 6.2: every header, and the same bytes with every attempt, each signed afresh."""
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


def test_the_time_of_an_attempt_is_the_receivers_own(webhooks: WebhookFixture) -> None:
    """Spec 4.3: what the service reads before the POST is no part of it."""
    for call in ("get events", "get secrets", "sender.post"):
        webhooks.at(call, lambda: webhooks.wait(2))
    [attempt] = webhooks.attempts(webhooks.delivery(test=True), 500).log
    assert (attempt.at, attempt.milliseconds) == (NOW + timedelta(seconds=4), 2000)


def test_a_task_that_comes_too_early_comes_back(webhooks: WebhookFixture) -> None:
    """Nothing is sent, and the task fails, so that its queue waits its backoff (design 2)."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    with pytest.raises(NotDueError):
        webhooks.attempt(delivery, 2)
    assert len(webhooks.posts) == 1
    assert webhooks.record(delivery) == delivery


def test_a_task_that_comes_a_little_early_is_held_back(webhooks: WebhookFixture) -> None:
    """The task comes back after the rest of the wait: no wait is shorter than its step."""
    delivery = webhooks.attempts(webhooks.delivery(), 500)
    webhooks.now += timedelta(seconds=0.6)
    record = webhooks.attempt(delivery, 2)
    assert record is not None
    assert webhooks.slept == pytest.approx(0.4)
    assert record.log[-1].at == delivery.next_attempt_at


def test_an_attempt_that_ends_every_instance_is_given_up(webhooks: WebhookFixture) -> None:
    """Design 2: each start is recorded, and after some starts the attempt counts as made."""
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


def test_an_attempt_whose_start_is_recorded_is_made(webhooks: WebhookFixture) -> None:
    """Also where the answer to that write was lost; what ends it takes the beginning off."""
    delivery = webhooks.delivery()
    webhooks.lose_answer("update deliveries")
    record = webhooks.attempt(delivery, dispatched_before=SUSPICIOUS_AFTER)
    assert record is not None
    assert (record.outcome, record.begun, len(webhooks.posts)) == (SUCCESS, 0, 1)
    assert webhooks.record(delivery) == record


def test_an_attempt_that_another_dispatch_makes_meanwhile_is_not_begun(
    webhooks: WebhookFixture,
) -> None:
    """Nothing is sent where the record of the start is not this dispatch's own."""
    delivery = webhooks.delivery()

    def made_meanwhile() -> None:
        webhooks.attempts(delivery, 500)

    webhooks.at("update deliveries", made_meanwhile)
    with pytest.raises(ChangedMeanwhileError):
        webhooks.attempt(delivery, dispatched_before=SUSPICIOUS_AFTER)
    assert (len(webhooks.posts), webhooks.record(delivery).begun) == (1, 0)


def test_a_record_that_is_gone_is_attempted_no_more(webhooks: WebhookFixture) -> None:
    """Firestore's TTL policy has deleted it; the task is done."""
    delivery = webhooks.delivery()
    webhooks.delete(f"events/{EVENT}/deliveries/{delivery.id}")
    assert webhooks.attempt(delivery) is None
    assert not webhooks.posts


@pytest.mark.parametrize("answers", [[500], [500, 500], FAILURES[1:], FAILURES, [200]])
def test_an_attempt_that_was_made_is_not_made_again(
    webhooks: WebhookFixture, answers: list[int]
) -> None:
    """A task is late, or was dispatched twice; there is no fifth attempt (spec 3.4)."""
    delivery = webhooks.attempts(webhooks.delivery(), *answers)
    queued = len(webhooks.queued)
    made = len(answers) if delivery.outcome.is_open else len(FAILURES) + 1
    for attempt in range(1, made + 1):
        assert webhooks.attempt(delivery, attempt) == delivery
    assert (len(webhooks.posts), len(webhooks.queued)) == (len(answers), queued)


def test_a_task_of_an_earlier_round_makes_no_attempt(webhooks: WebhookFixture) -> None:
    """An old task queues none: the new round has tasks of its own."""
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
def test_an_attempt_that_is_stopped_ends_when_its_task_comes_back(
    webhooks: WebhookFixture, call: str, stop: Any, when: str
) -> None:
    """Design 2: it is made again where it is not recorded (spec 6.3.1), and its retry is queued."""
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


def test_a_save_whose_answer_was_lost_counts(webhooks: WebhookFixture) -> None:
    """The adapter has tried again, and was told that the record has changed: by itself."""
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
def test_an_acknowledgement_counts_whichever_dispatch_got_it(
    webhooks: WebhookFixture, before: list[int], first: int, second: int, outcome: Outcome
) -> None:
    """Two dispatches of one task: while the second waits for its answer, the first is recorded.

    Of the last attempt as well: `failed` gives way to an acknowledgement (spec 4.3). One
    attempt is recorded, and a round never has more than the schedule.
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


def test_an_acknowledgement_of_an_early_attempt_counts_over_the_failure_of_the_last(
    webhooks: WebhookFixture,
) -> None:
    """The instance stood still for an hour between the answer and the record."""
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
    """An organizer has had it sent again meanwhile: the receiver has it, and gets no more."""
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
    """Of two dispatches of one task one is acknowledged, and the other is recorded first."""
    delivery = webhooks.attempts(webhooks.delivery(), 200)
    webhooks.stored.restart(delivery.redelivered(webhooks.now))
    webhooks.answers = [202, 500]

    def other_dispatch() -> None:
        webhooks.attempt(delivery, in_round=1)

    webhooks.after("sender.post", other_dispatch)
    webhooks.attempt(delivery, in_round=1)
    assert (webhooks.record(delivery).outcome, len(webhooks.posts)) == (SUCCESS, 3)


def test_an_acknowledgement_of_a_round_before_a_success_was_sent_again_is_over(
    webhooks: WebhookFixture,
) -> None:
    """A receiver that has lost acknowledged deliveries gets them, beside any delay."""
    delivery = webhooks.delivery()
    webhooks.answers = [202]

    def acknowledged_and_sent_again() -> None:
        ended = webhooks.attempts(delivery, 200)
        webhooks.stored.restart(ended.redelivered(webhooks.now))

    webhooks.after("sender.post", acknowledged_and_sent_again)
    webhooks.attempt(delivery)
    record = webhooks.record(delivery)
    assert (record.outcome, record.round, record.attempts) == (Outcome.PENDING, 1, 0)


def test_an_acknowledgement_of_another_url_is_over(webhooks: WebhookFixture) -> None:
    """The URL was corrected meanwhile: the right receiver has not got the delivery."""
    delivery = webhooks.delivery()
    webhooks.answers = [202]

    def failed_and_sent_elsewhere() -> None:
        ended = webhooks.failed(delivery)
        webhooks.stored.restart(ended.redelivered(webhooks.now, url=OTHER))

    webhooks.after("sender.post", failed_and_sent_elsewhere)
    webhooks.attempt(delivery)
    record = webhooks.record(delivery)
    assert (record.outcome, record.round, record.attempts) == (Outcome.PENDING, 1, 0)


def test_an_acknowledgement_of_a_record_that_is_gone_is_over(webhooks: WebhookFixture) -> None:
    """An acknowledgement writes no record anew where the TTL policy has deleted the delivery."""
    delivery = webhooks.delivery()

    def deleted() -> None:
        webhooks.delete(f"events/{EVENT}/deliveries/{delivery.id}")

    webhooks.after("sender.post", deleted)
    record = webhooks.attempt(delivery)
    assert record is not None
    assert record.outcome is SUCCESS
    assert not webhooks.records


@pytest.mark.parametrize(("last", "noted"), [(500, True), (200, False)])
def test_failures_alone_are_noted(webhooks: WebhookFixture, last: int, noted: bool) -> None:
    """A delivery that succeeds costs no call for it."""
    delivery = webhooks.attempts(webhooks.delivery(), *FAILURES[1:])
    assert "get endpoints" not in webhooks.calls
    webhooks.attempts(delivery, last)
    assert ("get endpoints" in webhooks.calls) == noted
