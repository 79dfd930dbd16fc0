"""Design 2 and 5: the local Cloud Tasks dispatches like the service of Google."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from emulator.cloud.cloud_tasks import QueuedTask
from emulator.cloud.dispatcher import Dispatcher
from emulator.cloud.http import NO_RESPONSE
from emulator.provider_models.cloud_tasks import BURST_SECONDS, Queue, RetryPolicy

AT_ONCE: Final = RetryPolicy(attempts=3, seconds=0, min_backoff=0, max_backoff=0, doublings=0)
WIDE: Final = Queue(max_concurrent=100, per_second=10_000, retry_policy=AT_ONCE)
IDLE_SECONDS: Final = 30


def task(name: str, due: float = 0.0) -> QueuedTask:
    """Return a task of the queue `q`."""
    return QueuedTask("q", name, b"{}", due, 60, "a@example.com", "https://example.com/q")


def dispatched(
    queue: Queue, call: Callable[[QueuedTask, int], Awaitable[int]], *tasks: QueuedTask
) -> None:
    """Dispatch `tasks` from a queue whose function is `call`, until no task is left."""

    async def run() -> None:
        dispatcher = Dispatcher({"q": queue}, call)
        for queued in tasks:
            dispatcher.enqueue(queued)
        await asyncio.sleep(0)  # for the event loop to start them
        assert await dispatcher.is_idle_within(IDLE_SECONDS)

    asyncio.run(run())


def test_concurrent_calls_are_limited() -> None:
    """A call over the limit of its queue waits."""
    under_way, most = 0, 0

    async def call(_: QueuedTask, __: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return 200

    queue = Queue(max_concurrent=2, per_second=10_000, retry_policy=AT_ONCE)
    dispatched(queue, call, *(task(f"t{n}") for n in range(7)))
    assert most == 2


def test_calls_a_second_are_limited() -> None:
    """The limit applies after a burst."""
    count, a_second = 30, 50.0
    times: list[float] = []

    async def call(_: QueuedTask, __: int) -> int:
        times.append(time.monotonic())
        return 200

    queue = Queue(max_concurrent=100, per_second=a_second, retry_policy=AT_ONCE)
    began = time.monotonic()
    dispatched(queue, call, *(task(f"t{n}") for n in range(count)))
    assert times[-1] - began >= (count - 1) / a_second - BURST_SECONDS - 1 / a_second


@pytest.mark.parametrize(
    ("statuses", "calls"),
    [([200], 1), ([503, NO_RESPONSE, 204], 3), ([500, 409, 429], 3)],
)
def test_a_failed_call_is_repeated(statuses: list[int], calls: int) -> None:
    """Stop after the attempts of its queue."""
    before: list[int] = []

    async def call(_: QueuedTask, earlier: int) -> int:
        before.append(earlier)
        return statuses[earlier]

    dispatched(WIDE, call, task("t"))
    assert before == list(range(calls))


def test_attempts_do_not_end_a_task_before_its_time() -> None:
    """Cloud Tasks deletes a task when both its attempts and its time are used up."""
    calls = 0

    async def call(_: QueuedTask, __: int) -> int:
        nonlocal calls
        calls += 1
        return 500 if calls < 5 else 200

    retries = RetryPolicy(attempts=2, seconds=60, min_backoff=0, max_backoff=0, doublings=0)
    dispatched(Queue(1, 1000, retries), call, task("t"))
    assert calls == 5


def test_the_backoff_doubles_then_grows_linearly_up_to_its_maximum() -> None:
    """The numbers are from the documentation of Cloud Tasks."""
    retries = RetryPolicy(attempts=9, seconds=0, min_backoff=10, max_backoff=300, doublings=3)
    found = [retries.backoff(calls) for calls in range(1, 9)]
    assert found == [10, 20, 40, 80, 160, 240, 300, 300]
