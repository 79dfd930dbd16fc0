"""`rotateWebhookSecret`: which secret signs when, on instances that remember (spec 2.1, 4.8)."""

from datetime import timedelta

import pytest

from functions.webhooks.arguments import RotateArguments, TestArguments
from tests.unit.webhooks.house import EVENT, SUPERADMIN, URL, House, Instance

TEN_MINUTES = timedelta(minutes=10)


@pytest.fixture
def house() -> House:
    """An event."""
    return House()


def rotate(instance: Instance, active_in: timedelta = timedelta(0)) -> None:
    """Replace the event's secret."""
    instance.actions.rotate_secret(SUPERADMIN, RotateArguments(event_id=EVENT, active_in=active_in))


def signing(*instances: Instance) -> list[str]:
    """What each of the instances signs with now."""
    return [one.secrets.of(EVENT) for one in instances]


def test_the_present_secret_signs_until_the_next_one_takes_over(house: House) -> None:
    """On every instance in the same moment, whatever it remembers."""
    one, another = Instance(house), Instance(house)
    [present, same] = signing(one, another)
    house.wait(seconds=15)  # so that one of them would look again only later
    rotate(one, TEN_MINUTES)
    announced = house.secret().next.secret
    seen = []
    for _ in range(61):
        seen.append((house.now, signing(one, another)))
        house.wait(seconds=10)
    at = house.secret().rotated_at

    assert present == same != announced
    assert at == seen[0][0] + TEN_MINUTES
    assert [signs for now, signs in seen if now < at] == [[present] * 2] * 60
    assert [signs for now, signs in seen if now >= at] == [[announced] * 2]


def test_then_it_alone_is_left_on_record(house: House) -> None:
    """Put there by whoever reads it first, before it signs; the old one is nowhere any more."""
    one, another = Instance(house), Instance(house)
    signing(one, another)
    rotate(one, TEN_MINUTES)
    announced = house.secret().next.secret
    house.wait(minutes=10)
    assert house.secret().secret != announced
    house.calls.clear()

    assert signing(another, one) == [announced] * 2
    assert house.secret().fields == {"secret": announced, "rotatedAt": house.now}
    assert house.calls == ["secrets.load", "secrets.replace", "secrets.load"]


def test_instances_that_notice_at_once_write_once(house: House) -> None:
    """The second finds the record changed, and looks again."""
    one, another = Instance(house), Instance(house)
    rotate(one, TEN_MINUTES)
    announced = house.secret().next.secret
    house.wait(minutes=10)
    house.before["secrets.replace"] = lambda: signing(another)

    assert signing(one) == [announced]
    written = house.database.get(f"events/{EVENT}/secrets/webhooks")
    assert written is not None
    assert written.version == house.now


def test_to_announce_again_replaces_what_was_announced(house: House) -> None:
    """The one that was withdrawn in time never signs, also where it is remembered."""
    one, another = Instance(house), Instance(house)
    [present] = signing(one)
    rotate(one, TEN_MINUTES)
    withdrawn = house.secret().next.secret
    house.wait(minutes=9, seconds=59)
    assert signing(another) == [present]
    rotate(one, TEN_MINUTES)
    announced = house.secret().next.secret
    seen = []
    for _ in range(60):
        seen += signing(one, another)
        house.wait(seconds=10)

    assert set(seen) == {present}
    assert signing(one, another) == [announced] * 2
    assert announced != withdrawn


def test_what_was_announced_and_is_due_is_the_present_one_of_the_next(house: House) -> None:
    """Also where nobody has signed with it yet."""
    one = Instance(house)
    rotate(one, TEN_MINUTES)
    first = house.secret().next.secret
    at = house.now + TEN_MINUTES
    house.wait(hours=1)
    rotate(one, TEN_MINUTES)

    assert (house.secret().secret, house.secret().rotated_at) == (first, at)
    assert signing(one) == [first]


def test_a_rotation_at_once_ends_an_announced_one(house: House) -> None:
    """Nor does what was announced ever sign on an instance that remembers it."""
    one, another = Instance(house), Instance(house)
    [present] = signing(one)
    rotate(one, timedelta(minutes=1))
    announced = house.secret().next.secret
    house.wait(seconds=10)
    assert signing(another) == [present]
    rotate(one)
    fresh = house.secret().secret
    seen = []
    for _ in range(7):
        seen.append(signing(one, another))
        house.wait(seconds=9)

    assert house.secret().next is None
    assert seen == [[fresh, present]] * 6 + [[fresh, fresh]]
    assert announced not in (present, fresh)


def test_a_withdrawal_between_reading_and_taking_over_counts(house: House) -> None:
    """Whoever is about to put the announced one in place finds the record changed."""
    one, another = Instance(house), Instance(house)
    rotate(one, TEN_MINUTES)
    house.wait(minutes=10)
    house.before["secrets.replace"] = lambda: rotate(another)

    assert signing(one) == [house.secret().secret]
    assert signing(one) == signing(another)


def test_a_delivery_signs_with_what_is_remembered(house: House) -> None:
    """An announced secret costs a delivery no call until it is due."""
    one = Instance(house)
    rotate(one, TEN_MINUTES)
    house.calls.clear()
    one.actions.send_test(SUPERADMIN, TestArguments(event_id=EVENT, url=URL))

    assert len(house.posted) == 1
    assert [call for call in house.calls if call.startswith("secrets.")] == []
    assert house.posted[0].headers["Wall-Signature"].count("v1=") == 1


@pytest.mark.parametrize("active_in", [timedelta(0), TEN_MINUTES])
def test_no_secret_is_in_the_answer_or_in_a_line_of_the_log(
    house: House, capsys: pytest.CaptureFixture[str], active_in: timedelta
) -> None:
    """Neither the present one nor the next."""
    one = Instance(house)
    signing(one)
    rotated = one.actions.rotate_secret(
        SUPERADMIN, RotateArguments(event_id=EVENT, active_in=active_in)
    )
    written = capsys.readouterr().out

    assert "webhook.secret_" in written
    assert "whsec_" not in f"{written} {rotated} {house.secret()}"
    assert rotated.active_from == house.now + active_in
    assert rotated.old_secret_used_until == rotated.active_from + timedelta(minutes=1)
