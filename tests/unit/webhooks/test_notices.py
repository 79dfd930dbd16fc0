"""Who is told of what, and when: the law of `notices/watch.py`, in memory (design 3.31)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from functions.mail.outcome import Accepted, BadAddresses, Later, Refused, SendOutcome, Unknown
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.notices.watch import TRIES, Standing
from functions.webhooks.settings.webhook_settings import key
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.parts import EVENT, OTHER, URL, crashes, fails
from tests.unit.webhooks.watched import ANN, BOB, WATCH, House

FAILING = "A webhook URL is failing: Garden party"
DISABLED = "A webhook URL is switched off: Garden party"
RECOVERED = "A webhook URL works again: Garden party"


@pytest.fixture
def house() -> House:
    """With no delivery yet."""
    return House()


@pytest.fixture
def failing() -> House:
    """Of one URL Ann has been told that it fails, at minute 0."""
    house = House()
    house.fails(5)
    assert house.look() == [FAILING]
    return house


def disable(house: House, *urls: str) -> None:
    """The service gives them up."""
    entries = {key(url): {"url": url, "reason": "dead"} for url in urls}
    house.subscribe(URL, OTHER, notify=[ANN], disabled=entries)


# --- what is news ----------------------------------------------------------------------------


@pytest.mark.parametrize(("failed", "told"), [(4, []), (5, [FAILING]), (60, [FAILING])])
def test_five_failures_in_a_row_are_told(house: House, failed: int, told: list[str]) -> None:
    """And four are not."""
    house.fails(failed)
    assert house.look() == told


@pytest.mark.parametrize(
    ("endings", "told"),
    [
        ("FFSFFFF", []),
        ("SFFFFF", [FAILING]),
        ("FFFFFS", []),
        ("FFFFtF", [FAILING]),  # a test that has worked
        ("FFFFf", []),  # one that has not
        ("FFFkFF", [FAILING]),  # what was skipped was never sent
    ],
)
def test_a_row_is_one_of_deliveries_that_are_no_tests(
    house: House, endings: str, told: list[str]
) -> None:
    """Whatever was acknowledged ends it."""
    for ending in endings:
        outcome = {"S": Outcome.SUCCESS, "t": Outcome.SUCCESS, "k": Outcome.SKIPPED}
        house.ended(outcome.get(ending, Outcome.FAILED), test=ending in "tf")
    house.notices().create(EVENT, house.watch.marked([URL], house.now))
    assert house.look() == told


def test_what_fails_in_the_minute_after_a_test_is_seen(house: House) -> None:
    """The process has looked because of the test, and passes the others unseen."""
    health = house.endpoint_health()
    health.delivery_failed(house.ended(test=True))
    assert house.look() == []
    house.fails(5, by=health)
    assert house.look(2) == [FAILING]


def test_a_url_that_goes_on_failing_is_told_once(failing: House) -> None:
    """However long it lasts."""
    for minute in range(5, 600, 5):
        failing.at_minute(minute)
        failing.fails(3)
        assert failing.look() == []


def test_what_has_recovered_is_told_once(failing: House) -> None:
    """Without another delivery that fails: the looks go on."""
    failing.at_minute(70)
    failing.ended(Outcome.SUCCESS)
    assert failing.look() == [RECOVERED]
    assert [failing.look(minute) for minute in range(75, 300, 5)] == [[]] * 45


def test_nothing_recovers_that_was_not_told_to_fail(house: House) -> None:
    """Four failures, and a success."""
    house.fails(4)
    house.look()
    house.ended(Outcome.SUCCESS)
    assert [house.look(minute) for minute in range(2, 100)] == [[]] * 98
    assert not house.watch.urls


def test_a_test_that_works_is_no_recovery(failing: House) -> None:
    """The next photo may fail again."""
    failing.ended(Outcome.SUCCESS, test=True)
    assert failing.look(70) == []


def test_what_is_sent_again_and_still_on_its_way_changes_nothing(failing: House) -> None:
    """The records of the failures are open again, and no success is there."""
    for record in failing.records:
        failing.stored.save(replace(record, outcome=Outcome.PENDING, ended_at=None, attempts=0))
    assert failing.look(70) == []
    assert failing.watch.urls[0].told is Standing.FAILING


def test_a_url_that_is_disabled_is_told(failing: House) -> None:
    """Which nobody has to report: the looks go on."""
    disable(failing, URL)
    assert failing.look(70) == [DISABLED]


def test_a_url_that_was_dead_before_anybody_wanted_to_know(house: House) -> None:
    """It is marked before it is disabled."""
    house.fails(100)
    disable(house, URL)
    assert house.look() == [DISABLED]


def test_an_admin_who_enables_a_url_knows_that_it_was_failing(failing: House) -> None:
    """Only its recovery is news, or that it was given up again."""
    disable(failing, URL)
    assert failing.look(70) == [DISABLED]
    failing.ended(Outcome.SKIPPED)
    failing.ended(Outcome.SKIPPED)
    failing.subscribe(URL, OTHER, notify=[ANN])
    assert failing.look(140) == []
    failing.ended(Outcome.SUCCESS)
    assert failing.look(200) == [RECOVERED]
    assert "2 of them were skipped while the URL was switched off." in failing.mails[-1].text


def test_a_url_that_an_admin_has_switched_off_is_not_told(house: House) -> None:
    """The admin knows, and nothing is sent that could fail."""
    house.fails(5)
    house.subscribe(URL, OTHER, notify=[ANN], off={URL: "2026-05-01T18:30:00.000Z"})

    assert house.look() == []


def test_all_the_dead_urls_are_marked_before_they_are_disabled() -> None:
    """Also those to which nothing has failed since somebody wants to know."""
    house = House()
    house.ended(count=100, url=OTHER)
    house.ended(count=99)
    house.at_minute(121 * 60)
    house.fails()
    assert {url.url for url in house.watch.urls} == {URL, OTHER}
    house.subscribe(URL, OTHER, notify=[ANN], disabled=dict(_disabled(house)))
    assert house.look() == ["Webhook URLs: 2 are switched off: Garden party"]


def _disabled(house: House) -> Any:
    disabled = house.fields(f"events/{EVENT}/settings/webhooks")["disabled"]
    assert len(disabled) == 2
    return disabled


# --- how often -------------------------------------------------------------------------------


def test_of_one_url_there_is_news_once_an_hour(failing: House) -> None:
    """What has changed meanwhile is told when the hour is over, if it still holds."""
    failing.at_minute(10)
    failing.ended(Outcome.SUCCESS)
    assert [failing.look(minute) for minute in (11, 20, 40, 59)] == [[]] * 4
    assert failing.look(61) == [RECOVERED]


def test_what_holds_no_more_when_the_hour_is_over_is_not_told(failing: House) -> None:
    """It works for ten minutes, and fails again."""
    failing.at_minute(10)
    failing.ended(Outcome.SUCCESS)
    failing.look(15)
    failing.at_minute(20)
    failing.fails(5)
    assert [failing.look(minute) for minute in (21, 61, 90)] == [[]] * 3


def test_a_flapping_url_is_told_of_once_an_hour(house: House) -> None:
    """Whatever it does in between."""
    sent = []
    for minute in range(24 * 60):
        house.at_minute(minute)
        if minute % 20 < 10:
            house.fails(5)
        else:
            house.ended(Outcome.SUCCESS)
        sent += [minute] * len(house.look())
    assert len(sent) <= 24
    assert min(later - one for one, later in pairwise(sent)) >= 60
    assert set(house.subjects) == {FAILING, RECOVERED}


def test_one_mail_tells_all_the_news_of_an_event() -> None:
    """Twenty URLs at one dead host: two mails, and not twenty."""
    urls = [f"https://example.com/{number}" for number in range(20)]
    house = House(*urls)
    for number, url in enumerate(urls):
        house.fails(5, url)
        if not number:
            assert house.look() == [FAILING]
    assert house.look(1) == []
    assert house.look(5.1) == ["Webhook URLs: 19 fail: Garden party"]
    assert [house.look(minute) for minute in range(10, 60, 5)] == [[]] * 10


# --- who, and whether at all -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("notify", "addresses"),
    [
        ([ANN, BOB], [ANN, BOB]),
        ([ANN, " Ann@Example.com "], [ANN]),
        (
            [f"a{number}@example.com" for number in range(9)],
            [f"a{n}@example.com" for n in range(5)],
        ),
        ([ANN, "no address", None, {"a": 1}, f"{BOB}\r\nBcc: eve@example.com"], [ANN]),
        (["no address"], []),
        (ANN, []),
        ([], []),
    ],
)
def test_only_those_named_are_told(house: House, notify: Any, addresses: Sequence[str]) -> None:
    """Five at most, each once, in a copy of their own; whatever a script has written there."""
    house.subscribe(URL, notify=notify)
    house.fails(5)
    house.look()
    assert [copy.address for mail in house.mails for copy in mail.copies] == list(addresses)


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda house: house.subscribe(URL, notify=[]),
        lambda house: house.subscribe(OTHER, notify=[ANN]),
        lambda house: house.delete_event(),
    ],
    ids=["nobody is named", "the URL is gone", "the event is gone"],
)
def test_what_concerns_nobody_any_more_is_not_told(
    house: House, meanwhile: Callable[[House], None]
) -> None:
    """As it is when the mail would leave; and then nothing is watched any more."""
    house.fails(5)
    meanwhile(house)
    assert house.look() == []
    assert house.look(2) == []
    assert house.watch.look_at is None


def test_where_nobody_is_named_a_failure_costs_what_it_did(house: House) -> None:
    """One read of the settings."""
    house.subscribe(URL)
    house.calls.clear()
    house.fails(5)
    assert house.calls == ["get settings"]
    assert not house.queued


def test_a_dead_url_that_was_told_of_costs_one_read_more(failing: House) -> None:
    """And no task."""
    failing.calls.clear()
    queued = len(failing.queued)
    failing.fails(5)
    assert failing.calls == ["get settings", "notices.load"]
    assert len(failing.queued) == queued


def test_what_fails_while_nobody_looks_is_seen_later(house: House) -> None:
    """A process looks once a minute; after a mark somebody looks again once that is over."""
    health = house.endpoint_health()
    house.fails(1, by=health)
    assert house.look() == []
    house.at_minute(0.9)
    house.fails(4, by=health)
    assert house.look() == []
    assert house.look(1.1) == [FAILING]


def test_a_url_is_not_watched_for_ever(failing: House) -> None:
    """Nor is it looked at every few minutes for a month: its records are gone then."""
    looks = 0
    while failing.watch.look_at:
        failing.now = failing.watch.look_at
        failing.look()
        looks += 1
    assert looks < 1000
    assert not failing.watch.urls


# --- what the mail service says --------------------------------------------------------------


@pytest.mark.parametrize("outcome", [Accepted("m"), Unknown("no answer")])
def test_a_mail_that_may_have_been_taken_is_never_sent_again(
    house: House, outcome: SendOutcome
) -> None:
    """An answer that is lost counts as one."""
    house.taken = [outcome]
    house.fails(5)
    house.look()
    assert [house.look(minute) for minute in range(1, 200)] == [[]] * 199
    assert house.watch.urls[0].told is Standing.FAILING


@pytest.mark.parametrize("outcome", [Later("HTTP 429", None), Refused("HTTP 401")])
def test_a_mail_that_was_not_taken_is_tried_again(house: House, outcome: SendOutcome) -> None:
    """By the sweep, later and later, so many times; then it is given up."""
    house.taken = [outcome] * 99
    house.fails(5)
    tried = [minute for minute in range(1000) if house.look(minute)]
    assert tried == [0, 5, 15, 35, 75, 155]
    assert len(tried) == TRIES


def test_a_mail_service_that_says_when_is_asked_then(house: House) -> None:
    """And not before."""
    house.taken = [Later("HTTP 429", 1800.0)]
    house.fails(5)
    assert [minute for minute in range(100) if house.look(minute)] == [0, 30]


def test_what_has_changed_until_it_is_taken_is_told_instead(house: House) -> None:
    """It failed, nobody was told, and it works again: nothing to tell."""
    house.taken = [Later("HTTP 429", None)]
    house.fails(5)
    house.look()
    house.ended(Outcome.SUCCESS)
    assert house.look(6) == []


def test_without_a_key_it_is_tried_again(house: House, capfd: pytest.CaptureFixture[str]) -> None:
    """A wrong configuration is our fault: logged, and no delivery knows of it."""
    house.fails(5)
    broken = house.notifier()
    broken._mailer = fails  # type: ignore[assignment]  # noqa: SLF001 - the key is missing
    broken.look(EVENT)
    assert "notice.not-written" in capfd.readouterr().out
    assert house.look(4) == []
    assert house.look(5) == [FAILING]


def test_an_address_that_is_refused_keeps_the_mail_from_nobody_else(house: House) -> None:
    """The request is made again without it."""
    house.subscribe(URL, notify=[ANN, BOB])
    house.taken = [BadAddresses(frozenset({0}))]
    house.fails(5)
    house.look()
    assert [[copy.address for copy in mail.copies] for mail in house.mails] == [[ANN, BOB], [BOB]]


def test_where_every_address_is_refused_nothing_is_tried_again(house: House) -> None:
    """Nobody is left."""
    house.taken = [BadAddresses(frozenset({0}))] * 3
    house.fails(5)
    house.look()
    assert [house.look(minute) for minute in range(1, 100)] == [[]] * 99


# --- two at once, and crashes ----------------------------------------------------------------

CALLS = [
    "notices.load",
    "get settings",
    "find deliveries",
    "get events",
    "find deliveries",
    "count deliveries",
    "notices.save",
    "mailer.send",
]


def test_the_calls_of_a_look(house: House) -> None:
    """The list above, which the tests below go through, is complete."""
    house.fails(5)
    house.calls.clear()
    house.look()
    assert set(house.calls) == set(CALLS)


@pytest.mark.parametrize("call", CALLS)
def test_two_who_look_at_once_send_one_mail(house: House, call: str) -> None:
    """The second one comes at any call of the first."""
    house.fails(5)
    other = house.notifier()
    house.at(call, lambda: other.look(EVENT))
    house.look()
    assert house.subjects == [FAILING]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", [crashes, fails])
@pytest.mark.parametrize("after", [False, True])
def test_after_a_crash_at_any_call_one_mail_has_left(
    house: House, call: str, fault: Callable[[], None], *, after: bool
) -> None:
    """Or none, where it was on record already and nobody can know: never two."""
    house.fails(5)
    (house.after if after else house.at)(call, fault)
    with pytest.raises((Crash, ServiceError)):
        house.look()
    on_record = house.watch.sending is not None
    for minute in range(0, 60, 5):
        house.look(minute)
    assert house.subjects == [FAILING] or (on_record and house.subjects == [])


@pytest.mark.parametrize("call", ["notices.save"])
def test_a_claim_whose_answer_is_lost_is_ones_own(house: House, call: str) -> None:
    """The adapter writes again, and is told that the record has changed."""
    house.fails(5)
    house.repeats(call)
    assert house.look() == [FAILING]


def test_a_mark_that_comes_while_a_mail_leaves_stays(house: House) -> None:
    """And so does what was told."""
    house.fails(5)
    house.at("mailer.send", lambda: house.fails(5, OTHER))
    house.look()
    assert {url.url: url.told for url in house.watch.urls} == {
        URL: Standing.FAILING,
        OTHER: None,
    }
    assert house.look(6) == ["A webhook URL is failing: Garden party"]


@pytest.mark.parametrize("call", ["notices.load", "notices.create", "queue.enqueue"])
def test_a_mark_survives_a_crash(house: House, call: str) -> None:
    """The task of the attempt comes again, finds it failed, and looks in its place."""
    delivery = house.attempts(house.delivery(), 500, 500, 500)
    house.ended(count=4)
    house.answers = [500]
    house.now = delivery.next_attempt_at or house.now
    house.at(call, crashes)
    with pytest.raises(Crash):
        house.attempt(delivery, 4)
    house.attempt(delivery, 4)
    assert len(house.posts) == 4
    assert house.look() == [FAILING]


def test_a_look_that_fails_in_one_process_is_made_again_by_it(house: House) -> None:
    """It does not count as this minute's."""
    health = house.endpoint_health()
    failed = house.ended(count=5)
    house.at("get settings", fails)
    with pytest.raises(ServiceError):
        health.delivery_failed(failed)
    health.delivery_failed(failed)
    assert house.look() == [FAILING]


def test_two_marks_at_once_are_both_on_record(house: House) -> None:
    """Whoever comes second reads again."""
    house.at("notices.create", lambda: house.fails(5, OTHER))
    house.fails(5)
    assert {url.url for url in house.watch.urls} == {URL, OTHER}


def test_a_mail_that_is_held_up_does_not_leave(house: House) -> None:
    """For minutes, between the record and the request: it may not be true any more."""
    house.fails(5)

    def later() -> None:
        house.now += timedelta(minutes=2)

    house.after("notices.save", later)
    assert house.look() == []
    assert house.look(8) == [FAILING]


# --- the sweep -------------------------------------------------------------------------------


def test_the_sweep_queues_what_is_due(house: House) -> None:
    """Once a period, under a name that no lost task has taken."""
    house.fails(1)
    [first] = house.queued
    assert (first.queue, first.data) == ("sendWebhookNotice", {"eventId": EVENT})
    house.at_minute(1)
    assert [house.notice_sweeper().sweep() for _ in range(2)] == [1, 1]
    assert len(house.queued) <= 3
    assert len({task.name for task in house.queued}) == len(house.queued)
    house.look()
    house.at_minute(10)
    assert house.notice_sweeper().sweep() == 1
    house.look()
    assert house.notice_sweeper().sweep() == 0
    assert house.database.get(WATCH) is not None
