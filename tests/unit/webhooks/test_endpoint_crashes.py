"""Failing endpoints with crashes and concurrent writes (spec 6.4, 6.5 and 7.3).

`tests/simulation/endpoints` checks that a crash repeats no redelivery.
"""

from datetime import timedelta

import pytest

from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.endpoints.failing_endpoint import NOTICE_QUEUE
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.endpoint_fixture import ANN, MINUTE, SETTINGS, EndpointFixture
from tests.unit.webhooks.webhook_fixture import NOW, URL, crashes, fails


def test_a_failure_that_was_not_recorded_is_recorded_by_the_next_task(
    endpoints: EndpointFixture,
) -> None:
    """Cover a failed write, and a process that stops while another task records a failure."""
    failures = endpoints.process().worker.failures
    one, another = (endpoints.end_delivery(name, is_noted=False) for name in ("d1", "d2"))
    endpoints.at("create endpoints", fails)
    with pytest.raises(ServiceError):
        failures.note(one)
    assert endpoints.endpoint_record() is None

    def another_task() -> None:
        failures.note(another)
        assert endpoints.endpoint_record()
        crashes()

    endpoints.at("create endpoints", another_task)
    with pytest.raises(Crash):
        failures.note(one)
    assert endpoints.endpoint_record()


def test_two_instances_create_one_record(endpoints: EndpointFixture) -> None:
    """Design 2: the second finds the record and adds its failure to it."""
    one, another = (endpoints.end_delivery(name, is_noted=False) for name in ("d1", "d2"))
    endpoints.at("create endpoints", lambda: endpoints.process().worker.failures.note(another))
    endpoints.process().worker.failures.note(one)
    known = endpoints.endpoint_record()

    assert known
    assert known.failed_at == endpoints.now


def test_the_fifth_failure_causes_a_notice(endpoints: EndpointFixture) -> None:
    """Spec 6.4: other instances record the first four after the fifth."""
    for number in range(5):
        endpoints.end_delivery(f"d{number}", is_noted=number == 4)
        endpoints.now += timedelta(seconds=10) - MINUTE
        endpoints.sweep()
        assert len(endpoints.queued) == (number == 4)
    assert [task.queue for task in endpoints.queued] == [NOTICE_QUEUE]


def test_recovery_includes_a_failure_that_is_recorded_late(endpoints: EndpointFixture) -> None:
    """Spec 6.5: it ended before the acknowledgement and is recorded minutes after the sweep."""
    endpoints.end_delivery("missed")
    ended = endpoints.now
    endpoints.now += MINUTE
    endpoints.end_delivery("arrived", Outcome.SUCCESS)
    endpoints.sweep_until(endpoints.now + 5 * MINUTE)
    late, endpoints.now = endpoints.now, ended
    endpoints.end_delivery("late")
    endpoints.now = late
    endpoints.sweep_until(late + 5 * MINUTE)

    assert endpoints.resent == ["missed", "late"]


def test_recovery_includes_a_failure_missing_from_the_endpoints_record(
    endpoints: EndpointFixture,
) -> None:
    """Spec 6.5: it ended within a minute of a recorded one, after an acknowledgement."""
    endpoints.subscribe(URL, recover=[URL])
    endpoints.end_delivery("missed")
    endpoints.now -= timedelta(seconds=50)
    endpoints.end_delivery("arrived", Outcome.SUCCESS)
    endpoints.now -= timedelta(seconds=50)
    endpoints.end_delivery("unnoted", is_noted=False)
    endpoints.sweep_until(endpoints.now + 30 * MINUTE)
    endpoints.acknowledge()
    endpoints.sweep_until(endpoints.now + 5 * MINUTE)

    assert endpoints.resent == ["missed", "unnoted"]


def test_the_service_does_not_overwrite_settings_that_an_admin_just_saved(
    endpoints: EndpointFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spec 7.3: an admin saves between the service's read and its write."""
    for number in range(100):
        endpoints.now = NOW + number * timedelta(hours=2)
        endpoints.end_delivery(f"d{number}")
    endpoints.at("update settings", lambda: endpoints.subscribe(URL, labels={"a": "Screen"}))
    endpoints.sweep()

    assert "disabled" not in endpoints.fields(SETTINGS)
    assert "endpoint.not-swept" not in capfd.readouterr().out, "this is not an error"


def test_an_acknowledgement_during_the_count_of_failures_prevents_disabling(
    endpoints: EndpointFixture,
) -> None:
    """Spec 7.3: the acknowledgement ends the hundred failures in a row."""
    for number in range(100):
        endpoints.now = NOW + number * timedelta(hours=2)
        endpoints.end_delivery(f"d{number}")
    endpoints.after("count deliveries", endpoints.acknowledge)
    endpoints.sweep()

    assert "disabled" not in endpoints.fields(SETTINGS)


def test_after_a_crash_a_notice_may_come_twice_and_is_never_lost(
    endpoints: EndpointFixture,
) -> None:
    """Spec 6.4: the process stops before it records the notice."""
    endpoints.subscribe(URL, notify=[ANN])
    endpoints.fail(5)
    endpoints.at("update endpoints", crashes, skip=1)  # the first update is from the sweep
    with pytest.raises(Crash):
        endpoints.collect_notices()
    assert len(endpoints.collect_notices(60)) == 1
