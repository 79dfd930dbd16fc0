"""No tenant's previews keep another tenant waiting (spec 8)."""

from contextlib import ExitStack

import pytest

from functions.call_error import CallError, Code
from functions.recap.sending import places
from functions.recap.sending.places import LARGE_EVENT, PLACES, Places, RecapPlaces
from tests.unit.recap.parts import TENANT, House


def test_a_tenant_has_two_previews_at_a_time() -> None:
    """The third is refused at once, as waiting would take a place; another tenant goes on."""
    made = Places()
    with made.place("t1"), made.place("t1"):
        with pytest.raises(CallError) as refused, made.place("t1"):
            pass
        with made.place("t2"):
            pass
    assert refused.value.code is Code.RESOURCE_EXHAUSTED
    assert "2 previews of your events are being made right now" in refused.value.message
    with made.place("t1"), made.place("t1"):
        pass


def test_as_many_recaps_are_sent_as_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec 8: two of a tenant, five in all; whose recap has no place is told to come again."""
    monkeypatch.setattr(places, "RECAP_WAIT_SECONDS", 0)
    made = RecapPlaces()
    with ExitStack() as stack:
        for tenants, refused in ((["t0", "t0"], "t0"), (["t1", "t1", "t2"], "other")):
            for tenant_id in tenants:
                stack.enter_context(made.place(tenant_id))
            with pytest.raises(CallError, match="call again soon"), made.place(refused):
                pass
    with made.place("other"):
        pass


def test_a_large_event_does_not_take_the_last_place() -> None:
    """Whose event it is plays no part; a small one finds a place."""
    made = Places()
    with ExitStack() as stack:
        large = [stack.enter_context(made.place(f"t{number}")) for number in range(PLACES)]
        for place in large[:-1]:
            place.read(LARGE_EVENT)
            place.read(LARGE_EVENT + 1)
            place.read(LARGE_EVENT + 2)
        large[-1].read(LARGE_EVENT)
        with pytest.raises(CallError) as refused:
            large[-1].read(LARGE_EVENT + 1)
    assert refused.value.code is Code.RESOURCE_EXHAUSTED
    with made.place("t1") as place:
        place.read(LARGE_EVENT + 1)


def test_a_preview_takes_a_place_and_gives_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spec 8: also where it fails, and before a preview by mail is counted."""
    monkeypatch.setattr(places, "LARGE_EVENT", 2)
    house = House()
    house.guests(3)
    for number in range(PLACES):
        with ExitStack() as stack:
            for other in range(PLACES - 1):
                stack.enter_context(house.places.place(f"o{other}")).read(3)
            with pytest.raises(CallError) as refused:
                house.preview()
        assert refused.value.code is Code.RESOURCE_EXHAUSTED, number
    with house.places.place(TENANT), house.places.place(TENANT):
        with pytest.raises(CallError) as refused:
            house.preview(sendToMe=True, address="me@example.com")
        assert (refused.value.code, house.counted) == (Code.RESOURCE_EXHAUSTED, [])
    assert house.preview().recipients == 3
