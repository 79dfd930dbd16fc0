"""`rotateWebhookSecret`: which secret signs when, on instances that remember (spec 2.1, 4.8)."""

from datetime import timedelta
from typing import Any

import pytest

from functions.call.caller import Caller, Role
from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.signing import RememberedSecrets, WebhookSecret
from tests.unit.webhooks.parts import EVENT, Parts

TEN_MINUTES = timedelta(minutes=10)
SUPERADMIN = Caller("u1", Role.SUPERADMIN, "t1")


def rotate(parts: Parts, active_in: timedelta = timedelta(0)) -> None:
    """A superadmin replaces the event's secret, in an instance that has just begun."""
    parts.process().actions.rotate_secret(EVENT, SUPERADMIN, active_in)


def recorded(parts: Parts) -> Any:
    """The secret as it is recorded."""
    return WebhookSecret.read(parts.fields(f"events/{EVENT}/secrets/webhooks"))


def announce(parts: Parts) -> str:
    """A superadmin announces a secret; the secret."""
    rotate(parts, TEN_MINUTES)
    return str(recorded(parts).next.secret)


def signing(*instances: RememberedSecrets) -> list[str]:
    """What each of the instances signs with now."""
    return [instance.of(EVENT) for instance in instances]


def test_the_present_secret_signs_until_the_next_one_takes_over(parts: Parts) -> None:
    """Every instance changes its secret in the same moment, whenever it read the record."""
    one, another = parts.process().webhook_secrets, parts.process().webhook_secrets
    [present] = signing(one)
    parts.wait(25)
    [same] = signing(another)
    parts.wait(15)
    announced = announce(parts)
    seen = []
    for _ in range(61):
        seen.append((parts.now, signing(one, another)))
        parts.wait(10)
    at = recorded(parts).rotated_at

    assert present == same != announced
    assert at == seen[0][0] + TEN_MINUTES
    assert [signs for now, signs in seen if now < at] == [[present] * 2] * 60
    assert [signs for now, signs in seen if now >= at] == [[announced] * 2]


def test_then_only_the_new_secret_is_recorded(parts: Parts) -> None:
    """The first reader puts it there before it signs; the old one is nowhere any more."""
    one, another = parts.process().webhook_secrets, parts.process().webhook_secrets
    signing(one, another)
    announced = announce(parts)
    parts.wait(600)
    assert recorded(parts).secret != announced
    parts.calls.clear()

    assert signing(another, one) == [announced] * 2
    assert recorded(parts).fields == {
        "secret": announced,
        "rotatedAt": parts.now,
        "rotatedBy": SUPERADMIN.record,
    }
    assert parts.calls == ["get secrets", "update secrets", "get secrets"]


@pytest.mark.parametrize("act", ["announce", "withdraw", "rotate"])
def test_an_announced_secret_that_is_given_up_in_time_never_signs(parts: Parts, act: str) -> None:
    """Spec 4.8: on every instance, even one that remembers it; the recorded one signs then."""
    one, another = parts.process().webhook_secrets, parts.process().webhook_secrets
    [present] = signing(one)
    given_up = announce(parts)
    parts.wait(599)
    assert signing(another) == [present]
    if act == "withdraw":
        answers = [parts.process().actions.withdraw_secret(EVENT, SUPERADMIN) for _ in range(2)]
        assert answers == [True, False]
    else:
        rotate(parts, TEN_MINUTES if act == "announce" else timedelta(0))
    seen = []
    for _ in range(61):
        seen += signing(one, another)
        parts.wait(10)

    assert given_up not in seen
    assert signing(one, another) == [recorded(parts).secret] * 2
    assert (recorded(parts).secret == present) is (act == "withdraw")


@pytest.mark.parametrize("active_in", [None, timedelta(0), TEN_MINUTES])
def test_the_call_that_withdraws_a_secret_says_so(
    parts: Parts, active_in: timedelta | None
) -> None:
    """Also where the answer to its write was lost, and another call came in between."""
    announced = announce(parts)

    def loses_its_answer() -> None:
        if active_in is not None:
            rotate(parts, active_in)
        raise ChangedMeanwhileError

    parts.after("update secrets", loses_its_answer)

    assert parts.process().actions.withdraw_secret(EVENT, SUPERADMIN)
    assert announced != recorded(parts).secret


def test_a_secret_that_has_taken_over_meanwhile_is_not_withdrawn(parts: Parts) -> None:
    """The call read it announced, and another instance signed with it before the call's write."""
    announced = announce(parts)

    def takes_over() -> None:
        parts.wait(TEN_MINUTES.total_seconds())
        assert signing(parts.process().webhook_secrets) == [announced]

    parts.at("update secrets", takes_over)
    assert not parts.process().actions.withdraw_secret(EVENT, SUPERADMIN)
    assert recorded(parts).secret == announced


def test_a_replaced_secret_has_the_time_of_its_rotation(parts: Parts) -> None:
    """Spec 4.8: by the record, receivers know since when the new one signs."""
    rotate(parts)
    assert (recorded(parts).rotated_at, recorded(parts).rotated_by["uid"]) == (parts.now, "u1")


def test_what_was_announced_and_is_due_is_the_present_one_of_the_next(parts: Parts) -> None:
    """A due secret is the present one, also where nobody has signed with it yet."""
    one = parts.process().webhook_secrets
    first = announce(parts)
    at = parts.now + TEN_MINUTES
    parts.wait(3600)
    rotate(parts, TEN_MINUTES)

    assert (recorded(parts).secret, recorded(parts).rotated_at) == (first, at)
    assert signing(one) == [first]


def test_the_instance_that_replaces_a_secret_knows_at_once(parts: Parts) -> None:
    """The instance signs with its new secret without reading the record again."""
    one = parts.process().webhook_secrets
    signing(one)
    one.rotate(EVENT)
    parts.calls.clear()

    assert signing(one) == [recorded(parts).secret]
    assert parts.calls == []


def test_a_secret_is_as_old_as_the_question(parts: Parts) -> None:
    """Spec 4.8: after a rotation an instance signs with the old secret for a minute at most."""
    slow = parts.process().webhook_secrets
    [old] = signing(parts.process().webhook_secrets)
    parts.after("get secrets", lambda: parts.wait(50))
    assert signing(slow) == [old]

    rotate(parts)
    parts.wait(11)

    assert signing(slow) == [recorded(parts).secret] != [old]


def test_a_secret_whose_reading_took_over_a_minute_is_read_again(parts: Parts) -> None:
    """Spec 4.8: it was replaced while the call that had read it was held up."""
    slow = parts.process().webhook_secrets
    signing(parts.process().webhook_secrets)

    def replaced_meanwhile() -> None:
        rotate(parts)
        parts.wait(61)

    parts.after("get secrets", replaced_meanwhile)

    assert signing(slow) == [recorded(parts).secret]


def test_a_withdrawal_between_reading_and_taking_over_counts(parts: Parts) -> None:
    """A reader that is about to put the announced one in place finds the record changed."""
    one, another = parts.process().webhook_secrets, parts.process().webhook_secrets
    rotate(parts, TEN_MINUTES)
    parts.wait(600)
    parts.at("update secrets", lambda: rotate(parts))

    assert signing(one) == [recorded(parts).secret]
    assert signing(one) == signing(another)


def test_a_delivery_signs_with_what_is_remembered(parts: Parts) -> None:
    """An announced secret costs a delivery no call until it is due; the header has one `v1`."""
    rotate(parts, TEN_MINUTES)
    worker = parts.process().worker
    calls = []
    for number in range(2):
        delivery = parts.delivery(cause=f"write-{number}")
        parts.calls.clear()
        worker.attempt(AttemptRequest(EVENT, delivery.id, 1))
        calls.append(list(parts.calls))

    assert calls[0] == [
        *("get deliveries", "get events", "get secrets", "sender.post", "update deliveries")
    ]
    assert calls[1] == ["get deliveries", "sender.post", "update deliveries"]
    assert [headers["Wall-Signature"].count("v1=") for headers, _ in parts.posts] == [1, 1]


@pytest.mark.parametrize("found", [None, {}, {"secret": ""}, {"secret": 7, "more": "kept"}])
def test_a_missing_secret_is_made(parts: Parts, found: dict[str, object] | None) -> None:
    """Design 3.23: the first use makes it; the record's other fields stay."""
    path = f"events/{EVENT}/secrets/webhooks"
    if found is not None:
        parts.put(path, found)
    assert signing(parts.process().webhook_secrets) == ["whsec_made"]
    assert parts.fields(path) == (found or {}) | {"secret": "whsec_made"}
