"""No tenant's recaps and previews keep another tenant waiting (spec 8)."""

import threading
from contextlib import ExitStack, suppress
from itertools import count, islice

import pytest

from functions.call_rules import CallError, Code
from functions.process import Threads
from functions.recap.limits import LARGE_EVENT, SLOTS, Slots
from tests.in_memory.adapters import service_on
from tests.unit.recap.parts import House


@pytest.fixture
def slots() -> Slots:
    """Slots for which no call waits."""
    return Slots(seconds=0)


def test_as_many_are_at_work_as_fit_into_memory(slots: Slots) -> None:
    """Two calls of a tenant, and five in all, have slots; a returned slot serves the next."""
    with ExitStack() as stack:
        for tenants, refused in ((["t0", "t0"], "t0"), (["t1", "t1", "t2"], "other")):
            for tenant_id in tenants:
                stack.enter_context(slots.slot(tenant_id))
            with pytest.raises(CallError, match="call again in a minute"), slots.slot(refused):
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
        """See `Condition`; the lock is held until the wait begins."""
        self.entered.set()
        return super().wait(timeout)


def test_a_waiting_call_gets_the_first_free_place() -> None:
    """The call waits while two calls of its tenant are at work."""
    queue, served = Queue(), threading.Event()
    slots = Slots(seconds=600, _changed=queue)

    def call() -> None:
        with slots.slot("t"):
            served.set()

    with slots.slot("t"):
        with slots.slot("t"):
            threading.Thread(target=call, daemon=True).start()
            assert queue.entered.wait(60)
            assert not served.is_set()
        assert served.wait(10)


def test_a_large_event_does_not_take_the_last_place(slots: Slots) -> None:
    """Four large events leave the fifth place to small ones, and large ones after them."""
    with ExitStack() as stack:
        held = [stack.enter_context(slots.slot(f"t{number}")) for number in range(SLOTS)]
        photos = [slots.admitted(slot, count()) for slot in held]
        read = [[next(each) for _ in range(LARGE_EVENT + 1)] for each in photos[:-1]]
        assert read == [list(range(LARGE_EVENT + 1))] * (SLOTS - 1)
        assert [next(photos[-1]) for _ in range(LARGE_EVENT)] == read[0][:-1]
        with pytest.raises(CallError) as refused:
            next(photos[-1])
    assert refused.value.code is Code.RESOURCE_EXHAUSTED
    with slots.slot("t1") as slot:
        assert sum(1 for _ in slots.admitted(slot, range(LARGE_EVENT + 1))) == LARGE_EVENT + 1


def test_a_preview_of_a_large_event_leaves_the_last_place_to_small_ones(slots: Slots) -> None:
    """Spec 7.4: a preview is refused where its event turns out to be large and one slot is left."""
    house = House(slots=slots)
    for _ in range(LARGE_EVENT + 1):
        house.photo("ann@example.com")
    with ExitStack() as stack:
        for number in range(SLOTS - 1):
            large = slots.admitted(stack.enter_context(slots.slot(f"t{number}")), count())
            next(islice(large, LARGE_EVENT, None))
        with pytest.raises(CallError) as refused:
            house.preview()
    assert (refused.value.code, refused.value.details) == (
        Code.RESOURCE_EXHAUSTED,
        {"reason": "busy"},
    )
    assert house.preview().recipients == 1


def test_calls_that_come_first_at_the_same_moment_share_the_places() -> None:
    """A cold instance makes one use case, whose places hold all calls."""
    both_made = threading.Barrier(2)

    def threads(*_: object, **__: object) -> None:
        with suppress(threading.BrokenBarrierError):
            both_made.wait(0.2)

    fresh = service_on(threads=threads)
    first, second = Threads(2, "calls")(lambda _: fresh.recap_sender, range(2))
    assert first.slots is second.slots
