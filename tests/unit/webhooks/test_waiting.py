"""Design 2: where a delivery waits and until when follows from its record."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.parameters import Parameters
from functions.ports import Task
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import EndedWithin, Outcome
from functions.webhooks.deliveries.queues import SLOW_QUEUE
from functions.webhooks.deliveries.redelivery import OVERDUE_AFTER
from functions.webhooks.publisher import Publisher
from functions.webhooks.worker import HOST_LIMIT_WAIT, HostLimitError, Worker
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.parts import EVENT, NOW, URL, Parts, crashes, fails


@pytest.fixture
def parts(parts: Parts) -> Parts:
    """An event with one URL, and a pace of which one delivery is due at once."""
    parts.parameters = Parameters(event_deliveries_a_second=4, threads=120)
    return parts


def upload(parts: Parts, publisher: Publisher, number: int) -> None:
    """A write of a new photo."""
    publisher.photo_written(f"w{number}", EVENT, None, parts.photo(f"p{number}"))


def takes(parts: Parts, seconds: float) -> None:
    """Have the next POST take so long."""
    parts.at("sender.post", lambda: parts.wait(seconds))


def slow_worker(parts: Parts) -> Worker:
    """A worker that has met a timed-out receiver."""
    worker = parts.process().worker
    takes(parts, 5)
    met = parts.delivery(cause="met before")
    parts.answers.append(None)
    worker.attempt(AttemptRequest(EVENT, met.id, 1))
    return worker


def last_task(parts: Parts) -> Task:
    """The task that was queued last."""
    return parts.queued[-1]


def test_a_busy_events_deliveries_are_due_one_after_the_other(parts: Parts) -> None:
    """The record says when, and the task is due then."""
    publisher = parts.process().publisher
    for number in range(4):
        upload(parts, publisher, number)
    due = [NOW + timedelta(seconds=seconds) for seconds in (0, 0.25, 0.5, 0.75)]
    assert {record.next_attempt_at for record in parts.records} == set(due)
    assert [task.due for task in parts.queued] == due
    assert {task.queue for task in parts.queued} == {"deliverWebhook"}


def test_a_trigger_that_runs_again_makes_the_same_task(parts: Parts) -> None:
    """Two hundred uploads, each trigger run by two instances: one task for each delivery."""
    parts.subscribe({"url": URL, "events": ["photo.uploaded"]})
    first, second = parts.process().publisher, parts.process().publisher
    for number in range(200):
        upload(parts, first, number)
    for number in reversed(range(200)):
        upload(parts, second, number)
    assert len(parts.queued) == len(parts.records) == 200


@pytest.mark.parametrize("call", ["create deliveries", "queue.enqueue"])
def test_an_outage_is_not_counted_again(parts: Parts, call: str) -> None:
    """Two minutes of triggers that fail, at half the pace: the next upload is due at once."""
    parts.subscribe({"url": URL, "events": ["photo.uploaded"]})
    publisher = parts.process().publisher
    for number in range(240):
        for run in range(max(0, number - 40), number + 1, 4):  # the triggers that are run again
            parts.at(call, fails)
            with suppress(ServiceError):
                upload(parts, publisher, run)
        parts.wait(0.5)
    upload(parts, publisher, 240)
    assert last_task(parts).due == parts.now


def test_a_resend_is_paced_like_an_upload(parts: Parts) -> None:
    """The next round of a page of deliveries begins one delivery after the other."""
    deliveries = [parts.delivery(cause=f"w{number}") for number in range(4)]
    for delivery in deliveries:
        parts.failed(delivery)
    parts.process().actions.resend_page(EVENT, EndedWithin(since=NOW - timedelta(days=1)))
    began = parts.now
    due = sorted(record.next_attempt_at or began for record in parts.records)
    assert due == [began + timedelta(seconds=seconds) for seconds in (0, 0.25, 0.5, 0.75)]


def test_a_wait_is_no_lag_of_ours(parts: Parts) -> None:
    """What an alert measures begins when the delivery is due."""
    publisher = parts.process().publisher
    upload(parts, publisher, 1)
    upload(parts, publisher, 2)
    at_once, paced = sorted(parts.records, key=lambda record: str(record.next_attempt_at))
    assert at_once.lag_from == at_once.written_at
    assert paced.lag_from == paced.next_attempt_at


@pytest.mark.parametrize("call", ["get events", "get secrets"])
def test_a_slow_read_of_ours_makes_no_receiver_slow(parts: Parts, call: str) -> None:
    """Firestore takes five seconds; the receiver has answered at once."""
    worker = parts.process().worker
    parts.at(call, lambda: parts.wait(5))
    worker.attempt(AttemptRequest(EVENT, parts.delivery().id, 1))
    worker.attempt(AttemptRequest(EVENT, parts.delivery(cause="next").id, 1))
    assert [record.slow for record in parts.records] == [False, False]
    assert len(parts.posts) == 2


def test_a_first_attempt_at_a_slow_receiver_moves_to_the_slow_queue(parts: Parts) -> None:
    """No attempt is made, the record says where it waits, and its task is there."""
    worker = slow_worker(parts)
    delivery = parts.delivery()
    posts = len(parts.posts)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    record = parts.record(delivery)
    assert (record.outcome, record.attempts, record.slow) == (Outcome.PENDING, 0, True)
    assert len(parts.posts) == posts
    milliseconds = int(parts.now.timestamp() * 1000) + 250
    assert (last_task(parts).queue, last_task(parts).name) == (
        SLOW_QUEUE,
        f"{delivery.id}-1-at{milliseconds}",
    )
    assert last_task(parts).due == record.next_attempt_at


def test_the_slow_queues_task_makes_the_attempt(parts: Parts) -> None:
    """A worker that knows nothing of the receiver makes a slow task's attempt."""
    delivery = parts.delivery()
    worker = slow_worker(parts)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    request = AttemptRequest.read(last_task(parts).data)
    parts.process().worker.attempt(request)
    record = parts.record(delivery)
    assert (record.outcome, record.slow) == (Outcome.SUCCESS, False)


@pytest.mark.parametrize(
    ("seconds", "queue"), [(0.9, "retryWebhookAfter1s"), (1, SLOW_QUEUE), (5, SLOW_QUEUE)]
)
@pytest.mark.parametrize("answer", [500, None])
def test_a_retry_waits_where_the_attempt_before_says(
    parts: Parts, seconds: float, queue: str, answer: int | None
) -> None:
    """Spec 3.4: after the same wait; a second is what a fast receiver takes at most."""
    delivery = parts.delivery()
    takes(parts, seconds)
    parts.answers.append(answer)
    parts.attempt(delivery)
    assert last_task(parts).queue == queue
    assert last_task(parts).due == NOW + timedelta(seconds=seconds + 1)
    record = parts.attempts(delivery, 500)
    assert (record.slow, last_task(parts).queue) == (False, "retryWebhookAfter5s")


def test_attempts_at_slow_receivers_have_a_pace(parts: Parts) -> None:
    """An event with many of them waits for itself."""
    worker = slow_worker(parts)
    due = []
    for number in range(4):
        delivery = parts.delivery(cause=f"w{number}")
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
        due.append(last_task(parts).due - parts.now)
    assert due == [timedelta(seconds=seconds) for seconds in (0.25, 0.5, 0.75, 1)]


def test_an_ended_delivery_takes_no_turn_of_slow_receivers(parts: Parts) -> None:
    """After a slow acknowledgement the event's next delivery there is the first that waits."""
    worker = parts.process().worker
    done, waiting = parts.delivery(cause="w1"), parts.delivery(cause="w2")
    takes(parts, 3)
    worker.attempt(AttemptRequest(EVENT, done.id, 1))
    assert (parts.record(done).outcome, parts.record(done).slow) == (Outcome.SUCCESS, False)
    worker.attempt(AttemptRequest(EVENT, waiting.id, 1))
    assert (last_task(parts).queue, last_task(parts).due) == (SLOW_QUEUE, parts.now)


@pytest.mark.parametrize("by_another", [True, False])
def test_a_move_that_was_made_already_is_queued(parts: Parts, *, by_another: bool) -> None:
    """By another dispatch of the task, which has counted it, or by a write with a lost answer."""
    worker = slow_worker(parts)
    first, second = parts.delivery(cause="w1"), parts.delivery(cause="w2")

    def moved_by_another() -> None:
        parts.stored.save(replace(parts.record(first), slow=True))

    if by_another:
        parts.at("update deliveries", moved_by_another)
    else:
        parts.repeats("update deliveries")
    worker.attempt(AttemptRequest(EVENT, first.id, 1))
    assert (last_task(parts).data["deliveryId"], last_task(parts).queue) == (first.id, SLOW_QUEUE)
    worker.attempt(AttemptRequest(EVENT, second.id, 1))
    assert last_task(parts).due == parts.now + timedelta(seconds=0.25)


@pytest.mark.parametrize("failed", ["update deliveries", "queue.enqueue"])
@pytest.mark.parametrize("fault", [fails, crashes])
@pytest.mark.parametrize("before", [True, False])
def test_a_move_that_fails_is_made_again(
    parts: Parts, failed: str, fault: Callable[[], None], *, before: bool
) -> None:
    """After a fault at any step there is one task on the slow queue, and none is lost."""
    worker = slow_worker(parts)
    delivery = parts.delivery()
    tasks = len(parts.queued)
    (parts.at if before else parts.after)(failed, fault)
    for _ in range(2):
        with suppress(Crash, ServiceError):
            worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    record = parts.record(delivery)
    assert record.slow
    assert [task.queue for task in parts.queued[tasks:]] == [SLOW_QUEUE]


def test_a_swept_delivery_goes_where_its_record_says(parts: Parts) -> None:
    """The sweep makes no second queue wait for it."""
    worker = slow_worker(parts)
    delivery = parts.delivery()
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    parts.now += OVERDUE_AFTER + timedelta(seconds=10)
    parts.process().sweeper.sweep()
    swept = [task for task in parts.queued if "-sweep" in task.name and delivery.id in task.name]
    assert [task.queue for task in swept] == [SLOW_QUEUE]


def test_an_organizers_test_is_made_at_once(parts: Parts) -> None:
    """Spec 4.6: also at a slow receiver."""
    worker = slow_worker(parts)
    delivery = parts.delivery(test=True)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    assert parts.record(delivery).outcome is Outcome.SUCCESS


def no_turn() -> None:
    """The event has as many POSTs under way to the host as it may."""
    raise HostLimitError


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("slow", [False, True])
def test_a_delivery_without_a_turn_at_its_host_comes_later(
    parts: Parts, before: int, *, slow: bool
) -> None:
    """Spec 8: that is no attempt, also of a task that has failed `before`; none is lost."""
    delivery = parts.delivery()
    if slow:
        slow_worker(parts).attempt(AttemptRequest(EVENT, delivery.id, 1))
    names = set()
    for _ in range(5):
        parts.at("sender.post", no_turn)
        record = parts.record(delivery)
        parts.now = max(parts.now, record.next_attempt_at or parts.now)
        request = AttemptRequest.read(attempt_task(record).data, dispatched_before=before)
        parts.process().worker.attempt(request)
        record = parts.record(delivery)
        assert (record.attempts, record.begun, record.outcome) == (0, 0, Outcome.PENDING)
        assert record.slow
        assert last_task(parts).queue == SLOW_QUEUE
        assert last_task(parts).due == record.next_attempt_at
        assert last_task(parts).due >= parts.now + HOST_LIMIT_WAIT
        names.add(last_task(parts).name)
    assert len(names) == 5
    assert parts.attempts(delivery, 204).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("misses", [1, 2, 17])
@pytest.mark.parametrize("others", [8, 40])
def test_a_delivery_that_finds_its_host_full_keeps_its_place(
    parts: Parts, misses: int, others: int
) -> None:
    """Later deliveries of its event are not put before it, and it puts none of them off."""
    worker = slow_worker(parts)
    first, *later = [parts.delivery(cause=f"w{number}") for number in range(others + 1)]
    for delivery in (first, *later):
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    last = parts.delivery(cause="last")
    for _ in range(misses):
        record = parts.record(first)
        assert record.next_attempt_at is not None
        parts.now = max(parts.now, record.next_attempt_at)
        parts.at("sender.post", no_turn)
        worker.attempt(AttemptRequest.read(attempt_task(record).data))
        assert parts.record(first).next_attempt_at == parts.now + HOST_LIMIT_WAIT
    worker.attempt(AttemptRequest(EVENT, last.id, 1))
    behind = timedelta(seconds=(others + 2) / 4)
    assert (parts.record(last).next_attempt_at or NOW) <= parts.now + behind
    parts.repeats("update deliveries")
    parts.at("sender.post", no_turn)
    parts.now += HOST_LIMIT_WAIT
    assert worker.attempt(AttemptRequest(EVENT, first.id, 1, slow=True)) == parts.record(first)
