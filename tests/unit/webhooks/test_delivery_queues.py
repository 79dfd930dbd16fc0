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
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture, crashes, fails


@pytest.fixture
def webhooks(webhooks: WebhookFixture) -> WebhookFixture:
    """An event with one URL, and a pace of which one delivery is due at once."""
    webhooks.parameters = Parameters(event_deliveries_a_second=4, threads=120)
    return webhooks


def upload(webhooks: WebhookFixture, publisher: Publisher, number: int) -> None:
    """A write of a new photo."""
    publisher.photo_written(f"w{number}", EVENT, None, webhooks.photo(f"p{number}"))


def takes(webhooks: WebhookFixture, seconds: float) -> None:
    """Have the next POST take so long."""
    webhooks.at("sender.post", lambda: webhooks.wait(seconds))


def slow_worker(webhooks: WebhookFixture) -> Worker:
    """A worker that has met a timed-out receiver."""
    worker = webhooks.process().worker
    takes(webhooks, 5)
    met = webhooks.delivery(cause="met before")
    webhooks.answers.append(None)
    worker.attempt(AttemptRequest(EVENT, met.id, 1))
    return worker


def last_task(webhooks: WebhookFixture) -> Task:
    """The task that was queued last."""
    return webhooks.queued[-1]


def test_a_busy_events_deliveries_are_due_one_after_the_other(webhooks: WebhookFixture) -> None:
    """The record says when, and the task is due then."""
    publisher = webhooks.process().publisher
    for number in range(4):
        upload(webhooks, publisher, number)
    due = [NOW + timedelta(seconds=seconds) for seconds in (0, 0.25, 0.5, 0.75)]
    assert {record.next_attempt_at for record in webhooks.records} == set(due)
    assert [task.due for task in webhooks.queued] == due
    assert {task.queue for task in webhooks.queued} == {"deliverWebhook"}


def test_a_trigger_that_runs_again_makes_the_same_task(webhooks: WebhookFixture) -> None:
    """Two hundred uploads, each trigger run by two instances: one task for each delivery."""
    webhooks.subscribe({"url": URL, "events": ["photo.uploaded"]})
    first, second = webhooks.process().publisher, webhooks.process().publisher
    for number in range(200):
        upload(webhooks, first, number)
    for number in reversed(range(200)):
        upload(webhooks, second, number)
    assert len(webhooks.queued) == len(webhooks.records) == 200


@pytest.mark.parametrize("call", ["create deliveries", "queue.enqueue"])
def test_an_outage_is_not_counted_again(webhooks: WebhookFixture, call: str) -> None:
    """Two minutes of triggers that fail, at half the pace: the next upload is due at once."""
    webhooks.subscribe({"url": URL, "events": ["photo.uploaded"]})
    publisher = webhooks.process().publisher
    for number in range(240):
        for run in range(max(0, number - 40), number + 1, 4):  # the triggers that are run again
            webhooks.at(call, fails)
            with suppress(ServiceError):
                upload(webhooks, publisher, run)
        webhooks.wait(0.5)
    upload(webhooks, publisher, 240)
    assert last_task(webhooks).due == webhooks.now


def test_a_resend_is_paced_like_an_upload(webhooks: WebhookFixture) -> None:
    """The next round of a page of deliveries begins one delivery after the other."""
    deliveries = [webhooks.delivery(cause=f"w{number}") for number in range(4)]
    for delivery in deliveries:
        webhooks.failed(delivery)
    webhooks.process().actions.resend_page(EVENT, EndedWithin(since=NOW - timedelta(days=1)))
    began = webhooks.now
    due = sorted(record.next_attempt_at or began for record in webhooks.records)
    assert due == [began + timedelta(seconds=seconds) for seconds in (0, 0.25, 0.5, 0.75)]


def test_a_wait_is_no_lag_of_ours(webhooks: WebhookFixture) -> None:
    """What an alert measures begins when the delivery is due."""
    publisher = webhooks.process().publisher
    upload(webhooks, publisher, 1)
    upload(webhooks, publisher, 2)
    at_once, paced = sorted(webhooks.records, key=lambda record: str(record.next_attempt_at))
    assert at_once.lag_from == at_once.written_at
    assert paced.lag_from == paced.next_attempt_at


@pytest.mark.parametrize("call", ["get events", "get secrets"])
def test_a_slow_read_of_ours_makes_no_receiver_slow(webhooks: WebhookFixture, call: str) -> None:
    """Firestore takes five seconds; the receiver has answered at once."""
    worker = webhooks.process().worker
    webhooks.at(call, lambda: webhooks.wait(5))
    worker.attempt(AttemptRequest(EVENT, webhooks.delivery().id, 1))
    worker.attempt(AttemptRequest(EVENT, webhooks.delivery(cause="next").id, 1))
    assert [record.slow for record in webhooks.records] == [False, False]
    assert len(webhooks.posts) == 2


def test_a_first_attempt_at_a_slow_receiver_moves_to_the_slow_queue(
    webhooks: WebhookFixture,
) -> None:
    """No attempt is made, the record says where it waits, and its task is there."""
    worker = slow_worker(webhooks)
    delivery = webhooks.delivery()
    posts = len(webhooks.posts)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    record = webhooks.record(delivery)
    assert (record.outcome, record.attempts, record.slow) == (Outcome.PENDING, 0, True)
    assert len(webhooks.posts) == posts
    milliseconds = int(webhooks.now.timestamp() * 1000) + 250
    assert (last_task(webhooks).queue, last_task(webhooks).name) == (
        SLOW_QUEUE,
        f"{delivery.id}-1-at{milliseconds}",
    )
    assert last_task(webhooks).due == record.next_attempt_at


def test_the_slow_queues_task_makes_the_attempt(webhooks: WebhookFixture) -> None:
    """A worker that knows nothing of the receiver makes a slow task's attempt."""
    delivery = webhooks.delivery()
    worker = slow_worker(webhooks)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    request = AttemptRequest.read(last_task(webhooks).data)
    webhooks.process().worker.attempt(request)
    record = webhooks.record(delivery)
    assert (record.outcome, record.slow) == (Outcome.SUCCESS, False)


@pytest.mark.parametrize(
    ("seconds", "queue"), [(0.9, "retryWebhookAfter1s"), (1, SLOW_QUEUE), (5, SLOW_QUEUE)]
)
@pytest.mark.parametrize("answer", [500, None])
def test_a_retry_waits_where_the_attempt_before_says(
    webhooks: WebhookFixture, seconds: float, queue: str, answer: int | None
) -> None:
    """Spec 3.4: after the same wait; a second is what a fast receiver takes at most."""
    delivery = webhooks.delivery()
    takes(webhooks, seconds)
    webhooks.answers.append(answer)
    webhooks.attempt(delivery)
    assert last_task(webhooks).queue == queue
    assert last_task(webhooks).due == NOW + timedelta(seconds=seconds + 1)
    record = webhooks.attempts(delivery, 500)
    assert (record.slow, last_task(webhooks).queue) == (False, "retryWebhookAfter5s")


def test_attempts_at_slow_receivers_have_a_pace(webhooks: WebhookFixture) -> None:
    """An event with many of them waits for itself."""
    worker = slow_worker(webhooks)
    due = []
    for number in range(4):
        delivery = webhooks.delivery(cause=f"w{number}")
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
        due.append(last_task(webhooks).due - webhooks.now)
    assert due == [timedelta(seconds=seconds) for seconds in (0.25, 0.5, 0.75, 1)]


def test_an_ended_delivery_takes_no_turn_of_slow_receivers(webhooks: WebhookFixture) -> None:
    """After a slow acknowledgement the event's next delivery there is the first that waits."""
    worker = webhooks.process().worker
    done, waiting = webhooks.delivery(cause="w1"), webhooks.delivery(cause="w2")
    takes(webhooks, 3)
    worker.attempt(AttemptRequest(EVENT, done.id, 1))
    assert (webhooks.record(done).outcome, webhooks.record(done).slow) == (Outcome.SUCCESS, False)
    worker.attempt(AttemptRequest(EVENT, waiting.id, 1))
    assert (last_task(webhooks).queue, last_task(webhooks).due) == (SLOW_QUEUE, webhooks.now)


@pytest.mark.parametrize("by_another", [True, False])
def test_a_move_that_was_made_already_is_queued(
    webhooks: WebhookFixture, *, by_another: bool
) -> None:
    """By another dispatch of the task, which has counted it, or by a write with a lost answer."""
    worker = slow_worker(webhooks)
    first, second = webhooks.delivery(cause="w1"), webhooks.delivery(cause="w2")

    def moved_by_another() -> None:
        webhooks.stored.save(replace(webhooks.record(first), slow=True))

    if by_another:
        webhooks.at("update deliveries", moved_by_another)
    else:
        webhooks.lose_answer("update deliveries")
    worker.attempt(AttemptRequest(EVENT, first.id, 1))
    assert (last_task(webhooks).data["deliveryId"], last_task(webhooks).queue) == (
        first.id,
        SLOW_QUEUE,
    )
    worker.attempt(AttemptRequest(EVENT, second.id, 1))
    assert last_task(webhooks).due == webhooks.now + timedelta(seconds=0.25)


@pytest.mark.parametrize("failed", ["update deliveries", "queue.enqueue"])
@pytest.mark.parametrize("fault", [fails, crashes])
@pytest.mark.parametrize("before", [True, False])
def test_a_move_that_fails_is_made_again(
    webhooks: WebhookFixture, failed: str, fault: Callable[[], None], *, before: bool
) -> None:
    """After a fault at any step there is one task on the slow queue, and none is lost."""
    worker = slow_worker(webhooks)
    delivery = webhooks.delivery()
    tasks = len(webhooks.queued)
    (webhooks.at if before else webhooks.after)(failed, fault)
    for _ in range(2):
        with suppress(Crash, ServiceError):
            worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    record = webhooks.record(delivery)
    assert record.slow
    assert [task.queue for task in webhooks.queued[tasks:]] == [SLOW_QUEUE]


def test_a_swept_delivery_goes_where_its_record_says(webhooks: WebhookFixture) -> None:
    """The sweep makes no second queue wait for it."""
    worker = slow_worker(webhooks)
    delivery = webhooks.delivery()
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    webhooks.now += OVERDUE_AFTER + timedelta(seconds=10)
    webhooks.process().sweeper.sweep()
    swept = [task for task in webhooks.queued if "-sweep" in task.name and delivery.id in task.name]
    assert [task.queue for task in swept] == [SLOW_QUEUE]


def test_an_organizers_test_is_made_at_once(webhooks: WebhookFixture) -> None:
    """Spec 4.6: also at a slow receiver."""
    worker = slow_worker(webhooks)
    delivery = webhooks.delivery(test=True)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    assert webhooks.record(delivery).outcome is Outcome.SUCCESS


def no_turn() -> None:
    """The event has as many POSTs under way to the host as it may."""
    raise HostLimitError


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("slow", [False, True])
def test_a_delivery_without_a_turn_at_its_host_comes_later(
    webhooks: WebhookFixture, before: int, *, slow: bool
) -> None:
    """Spec 8: that is no attempt, also of a task that has failed `before`; none is lost."""
    delivery = webhooks.delivery()
    if slow:
        slow_worker(webhooks).attempt(AttemptRequest(EVENT, delivery.id, 1))
    names = set()
    for _ in range(5):
        webhooks.at("sender.post", no_turn)
        record = webhooks.record(delivery)
        webhooks.now = max(webhooks.now, record.next_attempt_at or webhooks.now)
        request = AttemptRequest.read(attempt_task(record).data, dispatched_before=before)
        webhooks.process().worker.attempt(request)
        record = webhooks.record(delivery)
        assert (record.attempts, record.begun, record.outcome) == (0, 0, Outcome.PENDING)
        assert record.slow
        assert last_task(webhooks).queue == SLOW_QUEUE
        assert last_task(webhooks).due == record.next_attempt_at
        assert last_task(webhooks).due >= webhooks.now + HOST_LIMIT_WAIT
        names.add(last_task(webhooks).name)
    assert len(names) == 5
    assert webhooks.attempts(delivery, 204).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("misses", [1, 2, 17])
@pytest.mark.parametrize("others", [8, 40])
def test_a_delivery_that_finds_its_host_full_keeps_its_place(
    webhooks: WebhookFixture, misses: int, others: int
) -> None:
    """Later deliveries of its event are not put before it, and it puts none of them off."""
    worker = slow_worker(webhooks)
    first, *later = [webhooks.delivery(cause=f"w{number}") for number in range(others + 1)]
    for delivery in (first, *later):
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    last = webhooks.delivery(cause="last")
    for _ in range(misses):
        record = webhooks.record(first)
        assert record.next_attempt_at is not None
        webhooks.now = max(webhooks.now, record.next_attempt_at)
        webhooks.at("sender.post", no_turn)
        worker.attempt(AttemptRequest.read(attempt_task(record).data))
        assert webhooks.record(first).next_attempt_at == webhooks.now + HOST_LIMIT_WAIT
    worker.attempt(AttemptRequest(EVENT, last.id, 1))
    behind = timedelta(seconds=(others + 2) / 4)
    assert (webhooks.record(last).next_attempt_at or NOW) <= webhooks.now + behind
    webhooks.lose_answer("update deliveries")
    webhooks.at("sender.post", no_turn)
    webhooks.now += HOST_LIMIT_WAIT
    assert worker.attempt(AttemptRequest(EVENT, first.id, 1, slow=True)) == webhooks.record(first)
