"""Design 2: the record of a delivery determines its queue and its due time."""

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
from tests.in_memory.through import ServiceError
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture, fails


@pytest.fixture
def webhooks(webhooks: WebhookFixture) -> WebhookFixture:
    """Return an event with one URL, and a rate with one immediate delivery."""
    webhooks.parameters = Parameters(event_deliveries_a_second=4, threads=120)
    return webhooks


def upload(webhooks: WebhookFixture, publisher: Publisher, number: int) -> None:
    """Run the trigger of a new photo."""
    publisher.photo_written(f"w{number}", EVENT, None, webhooks.photo(f"p{number}"))


def takes(webhooks: WebhookFixture, seconds: float) -> None:
    """Let the next POST take this long."""
    webhooks.at("sender.post", lambda: webhooks.wait(seconds))


def slow_worker(webhooks: WebhookFixture) -> Worker:
    """Return a worker whose receiver has timed out once."""
    worker = webhooks.process().worker
    takes(webhooks, 5)
    met = webhooks.delivery(cause="met before")
    webhooks.answers.append(None)
    worker.attempt(AttemptRequest(EVENT, met.id, 1))
    return worker


def last_task(webhooks: WebhookFixture) -> Task:
    """Return the last queued task."""
    return webhooks.queued[-1]


def test_a_busy_events_deliveries_are_due_one_after_the_other(webhooks: WebhookFixture) -> None:
    """The times are in the records and in the tasks."""
    publisher = webhooks.process().publisher
    for number in range(4):
        upload(webhooks, publisher, number)
    due = [NOW + timedelta(seconds=seconds) for seconds in (0, 0.25, 0.5, 0.75)]
    assert {record.next_attempt_at for record in webhooks.records} == set(due)
    assert [task.due for task in webhooks.queued] == due
    assert {task.queue for task in webhooks.queued} == {"deliverWebhook"}


def test_a_repeated_trigger_queues_the_same_task(webhooks: WebhookFixture) -> None:
    """Run each trigger in two instances, for two hundred uploads."""
    webhooks.subscribe({"url": URL, "events": ["photo.uploaded"]})
    first, second = webhooks.process().publisher, webhooks.process().publisher
    for number in range(200):
        upload(webhooks, first, number)
    for number in reversed(range(200)):
        upload(webhooks, second, number)
    assert len(webhooks.queued) == len(webhooks.records) == 200


@pytest.mark.parametrize("call", ["create deliveries", "queue.enqueue"])
def test_failed_triggers_do_not_delay_later_uploads(webhooks: WebhookFixture, call: str) -> None:
    """Triggers fail for two minutes at half the rate. The next upload is due at once."""
    webhooks.subscribe({"url": URL, "events": ["photo.uploaded"]})
    publisher = webhooks.process().publisher
    for number in range(240):
        for run in range(max(0, number - 40), number + 1, 4):  # the repeated triggers
            webhooks.at(call, fails)
            with suppress(ServiceError):
                upload(webhooks, publisher, run)
        webhooks.wait(0.5)
    upload(webhooks, publisher, 240)
    assert last_task(webhooks).due == webhooks.now


def test_a_resend_has_the_same_rate_as_uploads(webhooks: WebhookFixture) -> None:
    """The deliveries of a page start one after the other."""
    deliveries = [webhooks.delivery(cause=f"w{number}") for number in range(4)]
    for delivery in deliveries:
        webhooks.failed(delivery)
    webhooks.process().actions.resend_page(EVENT, EndedWithin(since=NOW - timedelta(days=1)))
    began = webhooks.now
    due = sorted(record.next_attempt_at or began for record in webhooks.records)
    assert due == [began + timedelta(seconds=seconds) for seconds in (0, 0.25, 0.5, 0.75)]


def test_the_delay_by_the_fair_queue_is_no_lag(webhooks: WebhookFixture) -> None:
    """The alert measures from the time when the delivery is due."""
    publisher = webhooks.process().publisher
    upload(webhooks, publisher, 1)
    upload(webhooks, publisher, 2)
    at_once, paced = sorted(webhooks.records, key=lambda record: str(record.next_attempt_at))
    assert at_once.lag_from == at_once.written_at
    assert paced.lag_from == paced.next_attempt_at


@pytest.mark.parametrize("call", ["get events", "get secrets"])
def test_only_the_time_of_the_receiver_counts_as_slow(webhooks: WebhookFixture, call: str) -> None:
    """Here Firestore needs five seconds, and the receiver answers at once."""
    worker = webhooks.process().worker
    webhooks.at(call, lambda: webhooks.wait(5))
    worker.attempt(AttemptRequest(EVENT, webhooks.delivery().id, 1))
    worker.attempt(AttemptRequest(EVENT, webhooks.delivery(cause="next").id, 1))
    assert [record.slow for record in webhooks.records] == [False, False]
    assert len(webhooks.posts) == 2


def test_a_first_attempt_at_a_slow_receiver_moves_to_the_slow_queue(
    webhooks: WebhookFixture,
) -> None:
    """Make no attempt, record the queue, and create its task."""
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
    """The worker need not know the receiver."""
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
def test_a_retry_after_a_slow_attempt_is_on_the_slow_queue(
    webhooks: WebhookFixture, seconds: float, queue: str, answer: int | None
) -> None:
    """Spec 3.4: the delay is the same. An attempt of a second or more is slow."""
    delivery = webhooks.delivery()
    takes(webhooks, seconds)
    webhooks.answers.append(answer)
    webhooks.attempt(delivery)
    assert last_task(webhooks).queue == queue
    assert last_task(webhooks).due == NOW + timedelta(seconds=seconds + 1)
    record = webhooks.attempts(delivery, 500)
    assert (record.slow, last_task(webhooks).queue) == (False, "retryWebhookAfter5s")


def test_attempts_at_slow_receivers_have_a_rate(webhooks: WebhookFixture) -> None:
    """An event with many of them delays only itself."""
    worker = slow_worker(webhooks)
    due = []
    for number in range(4):
        delivery = webhooks.delivery(cause=f"w{number}")
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
        due.append(last_task(webhooks).due - webhooks.now)
    assert due == [timedelta(seconds=seconds) for seconds in (0.25, 0.5, 0.75, 1)]


def test_an_ended_delivery_uses_nothing_of_the_slow_rate(webhooks: WebhookFixture) -> None:
    """After a slow acknowledgement the next delivery is due at once on the slow queue."""
    worker = webhooks.process().worker
    done, waiting = webhooks.delivery(cause="w1"), webhooks.delivery(cause="w2")
    takes(webhooks, 3)
    worker.attempt(AttemptRequest(EVENT, done.id, 1))
    assert (webhooks.record(done).outcome, webhooks.record(done).slow) == (Outcome.SUCCESS, False)
    worker.attempt(AttemptRequest(EVENT, waiting.id, 1))
    assert (last_task(webhooks).queue, last_task(webhooks).due) == (SLOW_QUEUE, webhooks.now)


@pytest.mark.parametrize("by_another", [True, False])
def test_a_delivery_that_was_already_moved_is_queued(
    webhooks: WebhookFixture, *, by_another: bool
) -> None:
    """Another dispatch has moved it, or the answer to the write was lost."""
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


def test_a_swept_delivery_stays_on_its_queue(webhooks: WebhookFixture) -> None:
    """The sweep queues it on the slow queue."""
    worker = slow_worker(webhooks)
    delivery = webhooks.delivery()
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    webhooks.now += OVERDUE_AFTER + timedelta(seconds=10)
    webhooks.process().sweeper.sweep()
    swept = [task for task in webhooks.queued if "-sweep" in task.name and delivery.id in task.name]
    assert [task.queue for task in swept] == [SLOW_QUEUE]


def test_a_test_delivery_is_sent_at_once(webhooks: WebhookFixture) -> None:
    """Spec 4.6 makes no exception for a slow receiver."""
    worker = slow_worker(webhooks)
    delivery = webhooks.delivery(test=True)
    worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    assert webhooks.record(delivery).outcome is Outcome.SUCCESS


def host_limit_reached() -> None:
    """Raise the error for too many concurrent POSTs to the host."""
    raise HostLimitError


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("slow", [False, True])
def test_a_delivery_over_the_host_limit_is_postponed(
    webhooks: WebhookFixture, before: int, *, slow: bool
) -> None:
    """Spec 8: it does not count as an attempt, even if the task has failed `before`."""
    delivery = webhooks.delivery()
    if slow:
        slow_worker(webhooks).attempt(AttemptRequest(EVENT, delivery.id, 1))
    names = set()
    for _ in range(5):
        webhooks.at("sender.post", host_limit_reached)
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
def test_a_postponed_delivery_keeps_its_place(
    webhooks: WebhookFixture, misses: int, others: int
) -> None:
    """Later deliveries of its event do not overtake it and are not delayed by it."""
    worker = slow_worker(webhooks)
    first, *later = [webhooks.delivery(cause=f"w{number}") for number in range(others + 1)]
    for delivery in (first, *later):
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
    last = webhooks.delivery(cause="last")
    for _ in range(misses):
        record = webhooks.record(first)
        assert record.next_attempt_at is not None
        webhooks.now = max(webhooks.now, record.next_attempt_at)
        webhooks.at("sender.post", host_limit_reached)
        worker.attempt(AttemptRequest.read(attempt_task(record).data))
        assert webhooks.record(first).next_attempt_at == webhooks.now + HOST_LIMIT_WAIT
    worker.attempt(AttemptRequest(EVENT, last.id, 1))
    behind = timedelta(seconds=(others + 2) / 4)
    assert (webhooks.record(last).next_attempt_at or NOW) <= webhooks.now + behind
    webhooks.lose_answer("update deliveries")
    webhooks.at("sender.post", host_limit_reached)
    webhooks.now += HOST_LIMIT_WAIT
    assert worker.attempt(AttemptRequest(EVENT, first.id, 1, slow=True)) == webhooks.record(first)
