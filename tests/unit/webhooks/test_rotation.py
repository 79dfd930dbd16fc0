"""`rotateWebhookSecret`: which secret signs when, on instances that remember (spec 2.1, 4.8)."""

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
    """A superadmin replaces the event's secret, in an instance that has just begun."""
    webhooks.process().actions.rotate_secret(EVENT, SUPERADMIN, active_in)


def recorded(webhooks: WebhookFixture) -> Any:
    """The secret as it is recorded."""
    return WebhookSecret.read(webhooks.fields(f"events/{EVENT}/secrets/webhooks"))


def announce(webhooks: WebhookFixture) -> str:
    """A superadmin announces a secret; the secret."""
    rotate(webhooks, TEN_MINUTES)
    return str(recorded(webhooks).next.secret)


def signing(*instances: RememberedSecrets) -> list[str]:
    """What each of the instances signs with now."""
    return [instance.of(EVENT) for instance in instances]


def test_the_present_secret_signs_until_the_next_one_takes_over(webhooks: WebhookFixture) -> None:
    """Every instance changes its secret in the same moment, whenever it read the record."""
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


def test_then_only_the_new_secret_is_recorded(webhooks: WebhookFixture) -> None:
    """The first reader puts it there before it signs; the old one is nowhere any more."""
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
def test_an_announced_secret_that_is_given_up_in_time_never_signs(
    webhooks: WebhookFixture, act: str
) -> None:
    """Spec 4.8: on every instance, even one that remembers it; the recorded one signs then."""
    one, another = webhooks.process().webhook_secrets, webhooks.process().webhook_secrets
    [present] = signing(one)
    given_up = announce(webhooks)
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

    assert given_up not in seen
    assert signing(one, another) == [recorded(webhooks).secret] * 2
    assert (recorded(webhooks).secret == present) is (act == "withdraw")


@pytest.mark.parametrize("active_in", [None, timedelta(0), TEN_MINUTES])
def test_the_call_that_withdraws_a_secret_says_so(
    webhooks: WebhookFixture, active_in: timedelta | None
) -> None:
    """Also where the answer to its write was lost, and another call came in between."""
    announced = announce(webhooks)

    def loses_its_answer() -> None:
        if active_in is not None:
            rotate(webhooks, active_in)
        raise ChangedMeanwhileError

    webhooks.after("update secrets", loses_its_answer)

    assert webhooks.process().actions.withdraw_secret(EVENT, SUPERADMIN)
    assert announced != recorded(webhooks).secret


def test_a_secret_that_has_taken_over_meanwhile_is_not_withdrawn(webhooks: WebhookFixture) -> None:
    """The call read it announced, and another instance signed with it before the call's write."""
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


def test_what_was_announced_and_is_due_is_the_present_one_of_the_next(
    webhooks: WebhookFixture,
) -> None:
    """A due secret is the present one, also where nobody has signed with it yet."""
    one = webhooks.process().webhook_secrets
    first = announce(webhooks)
    at = webhooks.now + TEN_MINUTES
    webhooks.wait(3600)
    rotate(webhooks, TEN_MINUTES)

    assert (recorded(webhooks).secret, recorded(webhooks).rotated_at) == (first, at)
    assert signing(one) == [first]


def test_the_instance_that_replaces_a_secret_knows_at_once(webhooks: WebhookFixture) -> None:
    """The instance signs with its new secret without reading the record again."""
    one = webhooks.process().webhook_secrets
    signing(one)
    one.rotate(EVENT)
    webhooks.calls.clear()

    assert signing(one) == [recorded(webhooks).secret]
    assert webhooks.calls == []


def test_a_secret_is_as_old_as_the_question(webhooks: WebhookFixture) -> None:
    """Spec 4.8: after a rotation an instance signs with the old secret for a minute at most."""
    slow = webhooks.process().webhook_secrets
    [old] = signing(webhooks.process().webhook_secrets)
    webhooks.after("get secrets", lambda: webhooks.wait(50))
    assert signing(slow) == [old]

    rotate(webhooks)
    webhooks.wait(11)

    assert signing(slow) == [recorded(webhooks).secret] != [old]


def test_a_secret_whose_reading_took_over_a_minute_is_read_again(webhooks: WebhookFixture) -> None:
    """Spec 4.8: it was replaced while the call that had read it was held up."""
    slow = webhooks.process().webhook_secrets
    signing(webhooks.process().webhook_secrets)

    def replaced_meanwhile() -> None:
        rotate(webhooks)
        webhooks.wait(61)

    webhooks.after("get secrets", replaced_meanwhile)

    assert signing(slow) == [recorded(webhooks).secret]


def test_a_withdrawal_between_reading_and_taking_over_counts(webhooks: WebhookFixture) -> None:
    """A reader that is about to put the announced one in place finds the record changed."""
    one, another = webhooks.process().webhook_secrets, webhooks.process().webhook_secrets
    rotate(webhooks, TEN_MINUTES)
    webhooks.wait(600)
    webhooks.at("update secrets", lambda: rotate(webhooks))

    assert signing(one) == [recorded(webhooks).secret]
    assert signing(one) == signing(another)


def test_a_delivery_signs_with_what_is_remembered(webhooks: WebhookFixture) -> None:
    """An announced secret costs a delivery no call until it is due; the header has one `v1`."""
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
def test_a_missing_secret_is_made(
    webhooks: WebhookFixture, found: dict[str, object] | None
) -> None:
    """Design 3.23: the first use makes it; the record's other fields stay."""
    path = f"events/{EVENT}/secrets/webhooks"
    if found is not None:
        webhooks.put(path, found)
    assert signing(webhooks.process().webhook_secrets) == ["whsec_made"]
    assert webhooks.fields(path) == (found or {}) | {"secret": "whsec_made"}
