"""The limit of concurrent recaps and previews, by tenant and in total (spec 8)."""

import threading
from contextlib import ExitStack, suppress

import pytest

from functions.call.errors import CallError
from functions.ports import ParallelMap
from functions.process import ProcessThreads
from functions.recap.slots import SLOTS, Slots
from tests.in_memory.adapters import InMemoryThreads, one_by_one, service_on


def test_a_tenant_has_two_slots_of_five() -> None:
    """The numbers follow from the memory. A released slot is used by the next call."""
    slots = Slots(wait_seconds=0)
    with ExitStack() as stack:
        for tenants, refused in ((["t0", "t0"], "t0"), (["t1", "t1", "t2"], "other")):
            for tenant_id in tenants:
                stack.enter_context(slots.slot(tenant_id))
            with pytest.raises(CallError, match="in a minute"), slots.slot(refused):
                pass
    for _ in range(SLOTS + 1):
        with slots.slot("other"):
            pass


class Queue(threading.Condition):
    """A condition that knows when a thread waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        """Record the wait. The lock is held until it begins."""
        self.entered.set()
        return super().wait(timeout)


def test_a_waiting_call_gets_the_first_free_place() -> None:
    """The call waits while two calls of its tenant are at work."""
    queue, served = Queue(), threading.Event()
    slots = Slots(wait_seconds=600, _changed=queue)

    def call() -> None:
        with slots.slot("t"):
            served.set()

    with slots.slot("t"):
        with slots.slot("t"):
            threading.Thread(target=call, daemon=True).start()
            assert queue.entered.wait(60)
            assert not served.is_set()
        assert served.wait(60)


def test_calls_that_come_first_at_the_same_moment_share_the_places() -> None:
    """A cold instance creates one use case, whose slots all calls share."""
    both_made = threading.Barrier(2)

    class Threads(InMemoryThreads):
        def pool(self, *_: object, **__: object) -> ParallelMap:
            with suppress(threading.BrokenBarrierError):
                both_made.wait(0.2)
            return one_by_one

    fresh = service_on(threads=Threads())
    first, second = ProcessThreads().pool(2, "calls")(lambda _: fresh.recap_sender, range(2))
    assert first.planner.slots is second.planner.slots
