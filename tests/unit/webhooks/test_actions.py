"""What an organizer does with webhooks, and what may come in between (spec 6, design 2 and 3)."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from functions.call_rules import Caller, Code, Role
from functions.webhooks.calls.actions import Resent
from functions.webhooks.calls.webhook_arguments import (
    Page,
    ResendArguments,
    RevokeArguments,
    RotateArguments,
    ShareArguments,
    TestArguments,
)
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.webhook_settings import key
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.parts import (
    EVENT,
    FAILURES,
    NOW,
    OTHER,
    URL,
    Parts,
    crashes,
    fails,
    refused,
)

ADMIN = Caller("u1", Role.ADMIN, "t1")


@pytest.fixture
def parts() -> Parts:
    """An event with one URL."""
    return Parts()


def send_test(parts: Parts, url: str = URL) -> Delivery:
    """Try a URL."""
    return parts.process().url_test.send_test(ADMIN, TestArguments(event_id=EVENT, url=url))


def resend(parts: Parts, delivery: Delivery) -> Resent:
    """Send one delivery again."""
    wanted = ResendArguments(event_id=EVENT, what=delivery.id)
    return parts.process().actions.resend(ADMIN, wanted)


def resend_page(parts: Parts, **page: Any) -> Resent:
    """Send a page of them again."""
    what = Page(since=NOW - timedelta(days=1), **page)
    return parts.process().actions.resend(ADMIN, ResendArguments(event_id=EVENT, what=what))


def disable(parts: Parts, url: str) -> None:
    """Put an entry into `disabled`."""
    parts.subscribe(url, disabled={key(url): {"url": url, "reason": "dead"}})


@pytest.mark.parametrize("act", ["test", "resend", "rotate", "share", "revoke"])
def test_an_event_must_be_there_and_the_callers_business(parts: Parts, act: str) -> None:
    """Spec 5, design 3.3: before anything else is looked at."""
    acts: dict[str, Callable[[Caller, str], object]] = {
        "test": lambda who, event: parts.process().url_test.send_test(
            who, TestArguments(event_id=event, url=URL)
        ),
        "resend": lambda who, event: parts.process().actions.resend(
            who, ResendArguments(event_id=event, what="d1")
        ),
        "rotate": lambda who, event: parts.process().actions.rotate_secret(
            who, RotateArguments(event_id=event)
        ),
        "share": lambda who, event: parts.process().log_links.give_out(
            who, ShareArguments(event_id=event, url=URL)
        ),
        "revoke": lambda who, event: parts.process().log_links.revoke(
            who, RevokeArguments(event_id=event, share_id="s1")
        ),
    }
    refused(Code.NOT_FOUND, lambda: acts[act](ADMIN, "another"))
    stranger = Caller("u2", Role.ADMIN, "t2")
    refused(Code.PERMISSION_DENIED, lambda: acts[act](stranger, EVENT))
    assert set(parts.calls) == {"get events"}


@pytest.mark.parametrize(
    ("answer", "outcome", "queued"),
    [(204, Outcome.SUCCESS, 0), (500, Outcome.RETRYING, 1), (None, Outcome.RETRYING, 1)],
)
def test_a_test_is_a_delivery_like_any_other(
    parts: Parts, answer: int | None, outcome: Outcome, queued: int
) -> None:
    """Its first attempt is made at once; what fails is tried again (spec 6)."""
    parts.answers = [answer]
    delivery = send_test(parts)
    assert delivery == parts.record(delivery)
    assert (delivery.outcome, delivery.test, delivery.event_type) == (
        outcome,
        True,
        "photo.uploaded",
    )
    assert len(parts.queued) == queued


def test_a_test_goes_to_a_url_whatever_it_takes(parts: Parts) -> None:
    """Disabled, or without that type: this is how one finds out whether it works."""
    disable(parts, URL)
    assert send_test(parts).outcome is Outcome.SUCCESS
    parts.subscribe({"url": URL, "events": []})
    assert send_test(parts).outcome is Outcome.SUCCESS
    assert len({record.id for record in parts.records}) == 2


def test_a_test_goes_to_no_other_url(parts: Parts) -> None:
    """Or the service would post wherever somebody wants."""
    refused(Code.INVALID_ARGUMENT, lambda: send_test(parts, OTHER))
    assert not parts.records


def test_a_test_of_an_unusable_url_is_skipped(parts: Parts) -> None:
    """Spec 3.4: a test of a URL without HTTPS is skipped, and nothing is posted."""
    parts.subscribe("http://example.com")
    assert send_test(parts, "http://example.com").outcome is Outcome.SKIPPED
    assert not parts.posts


def test_a_test_whose_record_is_there_already_goes_on(parts: Parts) -> None:
    """The answer to the commit was lost, and the adapter has tried again."""
    parts.repeats("create deliveries")
    assert send_test(parts).outcome is Outcome.SUCCESS
    assert len(parts.records) == len(parts.posts) == 1


@pytest.mark.parametrize("answers", [[200], FAILURES])
def test_what_has_ended_is_sent_again(parts: Parts, answers: list[int]) -> None:
    """Another round, at once, with the same id and body."""
    ended = parts.attempts(parts.delivery(), *answers)
    parts.now += timedelta(hours=1)
    assert resend(parts, ended) == Resent(resent=1)
    record = parts.record(ended)
    assert (record.outcome, record.round, record.attempts) == (Outcome.PENDING, 1, 0)
    assert record.next_attempt_at == parts.now
    assert parts.queued[-1].name == f"{ended.id}-r1-1"
    assert parts.attempts(record, 500, 204).outcome is Outcome.SUCCESS


def test_what_was_skipped_for_a_disabled_url_is_sent_once_it_is_enabled(parts: Parts) -> None:
    """Not before: nothing goes to a disabled URL but tests."""
    skipped = parts.delivery(disabled="the URL is disabled: dead")
    disable(parts, URL)
    refused(Code.FAILED_PRECONDITION, lambda: resend(parts, skipped))
    parts.subscribe(URL)
    assert resend(parts, skipped) == Resent(resent=1)
    assert parts.record(skipped).reason is None


def test_what_cannot_be_sent_again(parts: Parts) -> None:
    """Each with the reason, and nothing is written."""
    ended = parts.attempts(parts.delivery(), 200)
    open_one = parts.delivery(cause="open")
    unusable = parts.delivery(cause="unusable", url="http://example.com")
    parts.subscribe(URL, "http://example.com")
    before = parts.records
    assert "still being attempted" in refused(Code.ABORTED, lambda: resend(parts, open_one))
    assert "skipped" in refused(Code.FAILED_PRECONDITION, lambda: resend(parts, unusable))
    parts.subscribe(OTHER)
    assert "not one of" in refused(Code.FAILED_PRECONDITION, lambda: resend(parts, ended))
    parts.delete(f"events/{EVENT}/deliveries/{ended.id}")
    refused(Code.NOT_FOUND, lambda: resend(parts, ended))
    assert parts.records == [delivery for delivery in before if delivery.id != ended.id]
    assert not parts.queued


def test_a_restart_whose_answer_was_lost_is_queued(parts: Parts) -> None:
    """The adapter was told that the record has changed: by itself."""
    ended = parts.attempts(parts.delivery(), 200)
    parts.repeats("update deliveries")
    assert resend(parts, ended) == Resent(resent=1)
    assert parts.record(ended).round == 1
    assert parts.queued[-1].data["round"] == 1


@pytest.mark.parametrize(("answers", "round_"), [([], 1), ([204], 2)])
def test_of_two_calls_at_once_both_send_the_delivery_again(
    parts: Parts, answers: list[int], round_: int
) -> None:
    """They begin one round; where the round of the first has ended, the second begins the next."""
    ended = parts.attempts(parts.delivery(), 200)

    def sent_again_meanwhile() -> None:
        assert resend(parts, ended) == Resent(resent=1)
        parts.attempts(ended, *answers)

    parts.at("update deliveries", sent_again_meanwhile)
    assert resend(parts, ended) == Resent(resent=1)
    assert parts.record(ended).round == round_
    assert len(parts.queued) == round_


def test_a_delivery_that_is_attempted_meanwhile_is_left_to_that(parts: Parts) -> None:
    """Another call began the round, and its first attempt has failed already."""
    ended = parts.attempts(parts.delivery(), 200)

    def sent_again_meanwhile() -> None:
        resend(parts, ended)
        parts.attempts(ended, 500)

    parts.at("update deliveries", sent_again_meanwhile)
    refused(Code.ABORTED, lambda: resend(parts, ended))
    assert parts.record(ended).round == 1


@pytest.mark.parametrize("call", ["update deliveries", "queue.enqueue"])
@pytest.mark.parametrize("stop", [fails, crashes])
@pytest.mark.parametrize("when", ["at", "after"])
def test_a_round_that_is_begun_is_attempted(parts: Parts, call: str, stop: Any, when: str) -> None:
    """Wherever the call stops: by its task, or else by the sweeper (design 2)."""
    ended = parts.attempts(parts.delivery(), 200)
    getattr(parts, when)(call, stop)
    with suppress(Crash, ServiceError):
        resend(parts, ended)
    begun = parts.record(ended).round == 1
    assert begun == ((call, when) != ("update deliveries", "at"))
    parts.now += timedelta(minutes=10)
    parts.process().sweeper.sweep()
    assert any(task.data.get("round") == 1 for task in parts.queued) == begun


def failed(parts: Parts, count: int, **fields: Any) -> list[Delivery]:
    """So many that failed, a minute after one another."""
    made = []
    for number in range(count):
        made.append(parts.failed(parts.delivery(cause=f"failed {number}", **fields)))
        parts.now += timedelta(minutes=1)
    return made


def test_a_page_leaves_alone_what_others_have_taken_up(parts: Parts) -> None:
    """A delivery that another call has sent again since the query is left alone."""
    made = failed(parts, 2)

    def acknowledged_after_all() -> None:
        resend(parts, made[0])
        parts.attempts(made[0], 204)

    parts.after("find deliveries", acknowledged_after_all)
    assert resend_page(parts) == Resent(resent=1, left_alone=1)
    assert [parts.record(delivery).round for delivery in made] == [1, 1]
