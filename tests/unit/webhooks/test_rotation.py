"""Rotation of secrets: the secret that signs at each time on caching instances (spec 2.1, 4.8)."""

from datetime import timedelta
from typing import Any

import pytest

from functions.call.caller import Caller, Role
from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.signing import RememberedSecrets, WebhookSecret
from tests.unit.webhooks.webhook_fixture import EVENT, WebhookFixture

TEN_MINUTES = timedelta(minutes=10)
SUPERADMIN = Caller("u1", Role.SUPERADMIN, "t1")


def rotate(webhooks: WebhookFixture, active_in: timedelta = timedelta(0)) -> None:
    """Replace the event's secret as a superadmin, in a new process."""
    webhooks.process().actions.rotate_secret(EVENT, SUPERADMIN, active_in)


def recorded(webhooks: WebhookFixture) -> Any:
    """Return the record of the secret."""
    return WebhookSecret.read(webhooks.fields(f"events/{EVENT}/secrets/webhooks"))


def announce(webhooks: WebhookFixture) -> str:
    """Announce a secret as a superadmin, and return it."""
    rotate(webhooks, TEN_MINUTES)
    return str(recorded(webhooks).next.secret)


def signing(*instances: RememberedSecrets) -> list[str]:
    """Return the secrets that the instances sign with now."""
    return [instance.of(EVENT) for instance in instances]


def test_all_instances_change_to_an_announced_secret_at_the_same_time(
    webhooks: WebhookFixture,
) -> None:
    """The time at which an instance has read the record must not matter."""
    one, another = webhooks.process().webhook_secrets, webhooks.process().webhook_secrets
    [present] = signing(one)
    webhooks.wait(25)
    [same] = signing(another)
    webhooks.wait(15)
    announced = announce(webhooks)
    seen = []
    for _ in range(61):
        seen.append((webhooks.now, signing(one, another)))
        webhooks.wait(10)
    at = recorded(webhooks).rotated_at

    assert present == same != announced
    assert at == seen[0][0] + TEN_MINUTES
    assert [signs for now, signs in seen if now < at] == [[present] * 2] * 60
    assert [signs for now, signs in seen if now >= at] == [[announced] * 2]


def test_the_first_reader_after_the_change_records_only_the_new_secret(
    webhooks: WebhookFixture,
) -> None:
    """Record it before it signs, and remove the old one."""
    one, another = webhooks.process().webhook_secrets, webhooks.process().webhook_secrets
    signing(one, another)
    announced = announce(webhooks)
    webhooks.wait(600)
    assert recorded(webhooks).secret != announced
    webhooks.calls.clear()

    assert signing(another, one) == [announced] * 2
    assert recorded(webhooks).fields == {
        "secret": announced,
        "rotatedAt": webhooks.now,
        "rotatedBy": SUPERADMIN.record,
    }
    assert webhooks.calls == ["get secrets", "update secrets", "get secrets"]


@pytest.mark.parametrize("act", ["announce", "withdraw", "rotate"])
def test_an_announced_secret_that_is_withdrawn_or_replaced_never_signs(
    webhooks: WebhookFixture, act: str
) -> None:
    """Spec 4.8: this includes instances that have cached it."""
    one, another = webhooks.process().webhook_secrets, webhooks.process().webhook_secrets
    [present] = signing(one)
    withdrawn = announce(webhooks)
    webhooks.wait(599)
    assert signing(another) == [present]
    if act == "withdraw":
        answers = [webhooks.process().actions.withdraw_secret(EVENT, SUPERADMIN) for _ in range(2)]
        assert answers == [True, False]
    else:
        rotate(webhooks, TEN_MINUTES if act == "announce" else timedelta(0))
    seen = []
    for _ in range(61):
        seen += signing(one, another)
        webhooks.wait(10)

    assert withdrawn not in seen
    assert signing(one, another) == [recorded(webhooks).secret] * 2
    assert (recorded(webhooks).secret == present) is (act == "withdraw")


@pytest.mark.parametrize("active_in", [None, timedelta(0), TEN_MINUTES])
def test_withdrawing_returns_true_after_a_lost_answer(
    webhooks: WebhookFixture, active_in: timedelta | None
) -> None:
    """Another call may have changed the record in between."""
    announced = announce(webhooks)

    def loses_its_answer() -> None:
        if active_in is not None:
            rotate(webhooks, active_in)
        raise ChangedMeanwhileError

    webhooks.after("update secrets", loses_its_answer)

    assert webhooks.process().actions.withdraw_secret(EVENT, SUPERADMIN)
    assert announced != recorded(webhooks).secret


def test_a_secret_that_has_become_active_is_not_withdrawn(webhooks: WebhookFixture) -> None:
    """Another instance signed with it between the call's read and its write."""
    announced = announce(webhooks)

    def takes_over() -> None:
        webhooks.wait(TEN_MINUTES.total_seconds())
        assert signing(webhooks.process().webhook_secrets) == [announced]

    webhooks.at("update secrets", takes_over)
    assert not webhooks.process().actions.withdraw_secret(EVENT, SUPERADMIN)
    assert recorded(webhooks).secret == announced


def test_a_replaced_secret_has_the_time_of_its_rotation(webhooks: WebhookFixture) -> None:
    """Spec 4.8: by the record, receivers know since when the new one signs."""
    rotate(webhooks)
    assert (recorded(webhooks).rotated_at, recorded(webhooks).rotated_by["uid"]) == (
        webhooks.now,
        "u1",
    )


def test_a_due_announced_secret_is_the_current_one_for_the_next_announcement(
    webhooks: WebhookFixture,
) -> None:
    """It counts as current before the first signature."""
    one = webhooks.process().webhook_secrets
    first = announce(webhooks)
    at = webhooks.now + TEN_MINUTES
    webhooks.wait(3600)
    rotate(webhooks, TEN_MINUTES)

    assert (recorded(webhooks).secret, recorded(webhooks).rotated_at) == (first, at)
    assert signing(one) == [first]


def test_the_instance_that_replaces_a_secret_signs_with_it_at_once(
    webhooks: WebhookFixture,
) -> None:
    """It does not read the record again."""
    one = webhooks.process().webhook_secrets
    signing(one)
    one.rotate(EVENT)
    webhooks.calls.clear()

    assert signing(one) == [recorded(webhooks).secret]
    assert webhooks.calls == []


def test_the_age_of_a_cached_secret_counts_from_the_start_of_its_read(
    webhooks: WebhookFixture,
) -> None:
    """Spec 4.8: an instance signs with the old secret for at most a minute."""
    slow = webhooks.process().webhook_secrets
    [old] = signing(webhooks.process().webhook_secrets)
    webhooks.after("get secrets", lambda: webhooks.wait(50))
    assert signing(slow) == [old]

    rotate(webhooks)
    webhooks.wait(11)

    assert signing(slow) == [recorded(webhooks).secret] != [old]


def test_a_secret_is_read_again_if_its_read_took_over_a_minute(webhooks: WebhookFixture) -> None:
    """Spec 4.8: it was replaced while the answer was delayed."""
    slow = webhooks.process().webhook_secrets
    signing(webhooks.process().webhook_secrets)

    def replaced_meanwhile() -> None:
        rotate(webhooks)
        webhooks.wait(61)

    webhooks.after("get secrets", replaced_meanwhile)

    assert signing(slow) == [recorded(webhooks).secret]


def test_a_secret_withdrawn_before_its_activation_does_not_sign(webhooks: WebhookFixture) -> None:
    """The reader that activates it finds the record changed."""
    one, another = webhooks.process().webhook_secrets, webhooks.process().webhook_secrets
    rotate(webhooks, TEN_MINUTES)
    webhooks.wait(600)
    webhooks.at("update secrets", lambda: rotate(webhooks))

    assert signing(one) == [recorded(webhooks).secret]
    assert signing(one) == signing(another)


def test_a_delivery_signs_with_the_cached_secret(webhooks: WebhookFixture) -> None:
    """An announced secret costs no call before it is due, and adds no second `v1`."""
    rotate(webhooks, TEN_MINUTES)
    worker = webhooks.process().worker
    calls = []
    for number in range(2):
        delivery = webhooks.delivery(cause=f"write-{number}")
        webhooks.calls.clear()
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
        calls.append(list(webhooks.calls))

    assert calls[0] == [
        *("get deliveries", "get events", "get secrets", "sender.post", "update deliveries")
    ]
    assert calls[1] == ["get deliveries", "sender.post", "update deliveries"]
    assert [headers["Wall-Signature"].count("v1=") for headers, _ in webhooks.posts] == [1, 1]


@pytest.mark.parametrize("found", [None, {}, {"secret": ""}, {"secret": 7, "more": "kept"}])
def test_a_missing_secret_is_created_at_first_use(
    webhooks: WebhookFixture, found: dict[str, object] | None
) -> None:
    """Design 3.23: keep the other fields of the record."""
    path = f"events/{EVENT}/secrets/webhooks"
    if found is not None:
        webhooks.put(path, found)
    assert signing(webhooks.process().webhook_secrets) == ["whsec_made"]
    assert webhooks.fields(path) == (found or {}) | {"secret": "whsec_made"}
