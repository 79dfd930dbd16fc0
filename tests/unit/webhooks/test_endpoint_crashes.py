"""Failing endpoints where a process ends, or another writes, in between (spec 6.4, 6.5 and 7.3).

`tests/simulation/endpoints` has that a crash repeats no redelivery.
"""

from datetime import timedelta

import pytest

from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.endpoints.failing_endpoint import NOTICE_QUEUE
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.evening import ANN, MINUTE, SETTINGS, Evening
from tests.unit.webhooks.parts import NOW, URL, crashes, fails


def test_a_failure_that_could_not_be_noted_is_noted_by_the_next_task(evening: Evening) -> None:
    """Whether the write failed, or its process ended while another task had a failure to note."""
    failures = evening.process().worker.failures
    one, another = (evening.ends(name, is_noted=False) for name in ("d1", "d2"))
    evening.at("create endpoints", fails)
    with pytest.raises(ServiceError):
        failures.note(one)
    assert evening.known() is None

    def another_task() -> None:
        failures.note(another)
        assert evening.known()
        crashes()

    evening.at("create endpoints", another_task)
    with pytest.raises(Crash):
        failures.note(one)
    assert evening.known()


def test_two_instances_that_note_at_once_make_one_record(evening: Evening) -> None:
    """Design 2: the second finds the record there, and writes its failure into it."""
    one, another = (evening.ends(name, is_noted=False) for name in ("d1", "d2"))
    evening.at("create endpoints", lambda: evening.process().worker.failures.note(another))
    evening.process().worker.failures.note(one)
    known = evening.known()

    assert known
    assert known.failed_at == evening.now


def test_exactly_five_failures_are_told(evening: Evening) -> None:
    """Spec 6.4: other instances note four of them later than the fifth."""
    for number in range(5):
        evening.ends(f"d{number}", is_noted=number == 4)
        evening.now += timedelta(seconds=10) - MINUTE
        evening.sweep()
        assert len(evening.queued) == (number == 4)
    assert [task.queue for task in evening.queued] == [NOTICE_QUEUE]


def test_a_failure_that_is_recorded_late_is_found(evening: Evening) -> None:
    """Spec 6.5: it ended before the acknowledgement, and is recorded minutes after the sweep."""
    evening.ends("missed")
    ended = evening.now
    evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS)
    evening.swept_until(evening.now + 5 * MINUTE)
    late, evening.now = evening.now, ended
    evening.ends("late")
    evening.now = late
    evening.swept_until(late + 5 * MINUTE)

    assert evening.sent_again == ["missed", "late"]


def test_a_failure_that_no_record_tells_of_is_sent_again(evening: Evening) -> None:
    """Spec 6.5: it ended within a minute of a noted one, behind an acknowledgement."""
    evening.subscribe(URL, recover=[URL])
    evening.ends("missed")
    evening.now -= timedelta(seconds=50)
    evening.ends("arrived", Outcome.SUCCESS)
    evening.now -= timedelta(seconds=50)
    evening.ends("unnoted", is_noted=False)
    evening.swept_until(evening.now + 30 * MINUTE)
    evening.answer_at_last()
    evening.swept_until(evening.now + 5 * MINUTE)

    assert evening.sent_again == ["missed", "unnoted"]


def test_an_admin_who_has_just_saved_is_not_overruled(
    evening: Evening, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spec 7.3: the settings are written between the look at them and the service's entry."""
    for number in range(100):
        evening.now = NOW + number * timedelta(hours=2)
        evening.ends(f"d{number}")
    evening.at("update settings", lambda: evening.subscribe(URL, labels={"a": "Screen"}))
    evening.sweep()

    assert "disabled" not in evening.fields(SETTINGS)
    assert "endpoint.not-swept" not in capfd.readouterr().out, "that is no fault"


def test_an_endpoint_that_answers_while_its_failures_are_counted_is_not_disabled(
    evening: Evening,
) -> None:
    """Spec 7.3: the acknowledgement ends the hundred failures in a row."""
    for number in range(100):
        evening.now = NOW + number * timedelta(hours=2)
        evening.ends(f"d{number}")
    evening.after("count deliveries", evening.answer_at_last)
    evening.sweep()

    assert "disabled" not in evening.fields(SETTINGS)


def test_after_a_crash_a_notice_may_come_twice_and_is_never_lost(evening: Evening) -> None:
    """Spec 6.4: the process ends before the record says that people know."""
    evening.subscribe(URL, notify=[ANN])
    evening.fail(5)
    evening.at("update endpoints", crashes, skip=1)  # the first one is the sweep's
    with pytest.raises(Crash):
        evening.mailed()
    assert len(evening.mailed(60)) == 1
