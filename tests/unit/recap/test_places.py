"""No tenant's recaps and previews keep another tenant waiting (spec 8)."""

from contextlib import ExitStack

import pytest

from functions.call_error import CallError, Code
from functions.recap.sending import places
from functions.recap.sending.places import LARGE_EVENT, PLACES, Places
from tests.unit.recap.parts import TENANT, House


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for a place."""
    monkeypatch.setattr(places, "WAIT_SECONDS", 0)


def test_as_many_are_at_work_as_fit_into_memory() -> None:
    """Two of a tenant, five in all; a place that is given back serves the next call."""
    made = Places()
    with ExitStack() as stack:
        for tenants, refused in ((["t0", "t0"], "t0"), (["t1", "t1", "t2"], "other")):
            for tenant_id in tenants:
                stack.enter_context(made.place(tenant_id))
            with pytest.raises(CallError, match="call again in a minute"), made.place(refused):
                pass
    with made.place("other"):
        pass


def test_a_large_event_does_not_take_the_last_place() -> None:
    """Four large events leave the fifth place to small ones."""
    made = Places()
    with ExitStack() as stack:
        held = [stack.enter_context(made.place(f"t{number}")) for number in range(PLACES)]
        for place in held[:-1]:
            place.read(LARGE_EVENT + 1)
            place.read(LARGE_EVENT + 2)
        held[-1].read(LARGE_EVENT)
        with pytest.raises(CallError) as refused:
            held[-1].read(LARGE_EVENT + 1)
    assert refused.value.code is Code.RESOURCE_EXHAUSTED
    with made.place("t1") as place:
        place.read(LARGE_EVENT + 1)


def test_a_large_preview_tells_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The photos of a preview count while they are read."""
    monkeypatch.setattr(places, "LARGE_EVENT", 2)
    house = House()
    house.guests(3)
    with ExitStack() as stack:
        for number in range(PLACES - 1):
            stack.enter_context(house.places.place(f"o{number}")).read(3)
        with pytest.raises(CallError, match="Large events have their places"):
            house.preview()
    assert house.preview().recipients == 3


def test_a_preview_takes_a_place_and_gives_it_back() -> None:
    """A preview by mail that finds no place is not counted."""
    house = House()
    house.guests(3)
    with house.places.place(TENANT), house.places.place(TENANT):
        with pytest.raises(CallError) as refused:
            house.preview(sendToMe=True, address="me@example.com")
        assert (refused.value.code, house.counted) == (Code.RESOURCE_EXHAUSTED, [])
    for _ in range(places.PLACES + 1):
        assert house.preview().recipients == 3
