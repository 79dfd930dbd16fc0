"""The sweep of failing endpoints: its counts, order and cost (spec 6.5 and 7.3).

`test_failing_endpoint.py` has its decisions as a table. `tests/simulation/endpoints` checks that
each missed delivery is redelivered once.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import pytest

from functions.parameters import Parameters
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.endpoints import endpoint_sweep
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.webhook_settings import endpoint_id
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.webhooks.endpoint_fixture import HOUR, MINUTE, SETTINGS, EndpointFixture
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, OTHER, URL, fails

T = TypeVar("T")


def test_each_failed_delivery_is_redelivered_once_in_order(endpoints: EndpointFixture) -> None:
    """Spec 6.5: the oldest is first. Tests, and deliveries that failed again, are not included."""
    endpoints.parameters = Parameters(deliveries_at_once=2)
    for number in range(5):
        endpoints.end_delivery(f"d{number}")
    endpoints.end_delivery("test", test=True)
    endpoints.acknowledge()
    endpoints.sweep_until(endpoints.now + 30 * MINUTE)

    assert endpoints.resent == [f"d{number}" for number in range(5)]


def test_recovery_starts_with_an_acknowledgement_and_reaches_back_a_day(
    endpoints: EndpointFixture,
) -> None:
    """Spec 6.5: at most 24 hours before the acknowledgement."""
    endpoints.end_delivery("old")
    endpoints.now += 25 * HOUR
    endpoints.end_delivery("missed")
    endpoints.sweep_until(endpoints.now + HOUR)
    assert endpoints.resent == []
    endpoints.acknowledge()
    endpoints.sweep_until(endpoints.now + 10 * MINUTE)

    assert endpoints.resent == ["missed"]


def test_a_long_backlog_follows_all_other_endpoints(
    endpoints: EndpointFixture,
) -> None:
    """Spec 6.5: one sweep resends many pages. Deliveries that failed again use none of them."""
    endpoints.subscribe(URL, OTHER, recover=[URL, OTHER])
    endpoints.parameters = Parameters(deliveries_at_once=1)
    backlog = [f"d{number}" for number in range(25)]
    for name in backlog:
        endpoints.end_delivery(name)
    endpoints.end_delivery("other", url=OTHER)
    for url in (URL, OTHER):
        endpoints.acknowledge(url)
    endpoints.sweep()
    assert [name for name in endpoints.resent if name != "other"] == backlog
    assert endpoints.resent.index("other") <= 10, "at most ten pages of the backlog were first"

    for record in [record for record in endpoints.records if record.id in backlog[:15]]:
        endpoints.failed(record)
    endpoints.end_delivery("late")
    endpoints.acknowledge()
    endpoints.sweep_until(endpoints.now + 5 * MINUTE)
    assert {record.id for record in endpoints.records if record.round} == {
        *backlog,
        "other",
        "late",
    }
    assert all(record.round < 2 for record in endpoints.records)


def test_a_recovery_stops_when_an_admin_ends_it(endpoints: EndpointFixture) -> None:
    """Spec 6.5: a sweep that continues with an endpoint reads the settings again."""
    endpoints.parameters = Parameters(deliveries_at_once=1)
    endpoints.fail(15)
    endpoints.acknowledge()
    endpoints.at("update endpoints", lambda: endpoints.subscribe(URL))
    endpoints.sweep()
    assert len(endpoints.resent) == 10


def test_a_recovery_uses_the_present_url_of_the_endpoint(endpoints: EndpointFixture) -> None:
    """Spec 6.5: no delivery is lost when an organizer corrects a typo."""
    wrong, right = "https://localhsot.example/hook", "https://localhost.example/hook"
    endpoints.subscribe({"url": wrong, "id": "screen"}, recover=["screen"])
    missed = endpoints.end_delivery("missed", url=wrong, endpoint="screen")
    endpoints.subscribe({"url": right, "id": "screen"}, recover=["screen"])
    endpoints.end_delivery("arrived", Outcome.SUCCESS, url=right, endpoint="screen")
    endpoints.sweep_until(endpoints.now + 5 * MINUTE)
    again = endpoints.record(missed)

    assert (again.url, again.endpoint, again.round, again.body) == (right, "screen", 1, missed.body)


@pytest.mark.parametrize(
    ("days", "failures", "acknowledged", "is_disabled"),
    [
        (5.1, 100, None, True),
        (5.1, 99, None, False),
        (4.9, 100, None, False),
        (12, 199, 110, False),
        (12, 212, 110, True),
    ],
)
def test_an_endpoint_is_disabled_after_a_hundred_failures_over_five_days(
    endpoints: EndpointFixture,
    days: float,
    failures: int,
    acknowledged: int | None,
    *,
    is_disabled: bool,
) -> None:
    """Spec 7.3: count the last hundred without tests. Other endpoints do not affect the count."""
    endpoints.subscribe(URL, OTHER, disabled={endpoint_id(OTHER): {"url": OTHER}})
    endpoints.end_delivery("test", test=True)
    for number in range(failures):
        endpoints.now = NOW + number * timedelta(days=days) / (failures - 1)
        outcome = Outcome.SUCCESS if number == acknowledged else Outcome.FAILED
        endpoints.end_delivery(f"d{number}", outcome)
    endpoints.sweep()
    disabled = endpoints.fields(SETTINGS)["disabled"]

    assert (endpoint_id(URL) in disabled) is is_disabled
    assert endpoint_id(OTHER) in disabled


def test_failures_of_an_endpoint_are_recorded_once_a_minute(endpoints: EndpointFixture) -> None:
    """Spec 6.4: one read and one write for any number of failed deliveries."""
    failures = endpoints.process().worker.failures
    delivery = endpoints.end_delivery("d1")
    failures.tenants.of(EVENT)  # as the attempt does
    endpoints.calls.clear()
    for _ in range(100):
        failures.note(delivery)
    assert endpoints.calls == ["get endpoints", "update endpoints"]
    endpoints.monotonic += 60
    failures.note(delivery)

    assert len(endpoints.calls) == 4


WATCHED = 300


class SlowEndpointFixture(EndpointFixture):
    """Calls that take some seconds, and many failing endpoints of another tenant."""

    seconds = 0.0

    def _through(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        self.monotonic += self.seconds
        return super()._through(what, effect, retried=retried)

    def add_endpoints_of_another_tenant(self) -> None:
        """Add endpoints that wait for recovery and are due earlier."""
        for event in range(WATCHED // 20):
            urls = [f"https://{event}.example/{number}" for number in range(20)]
            self.put(f"events/x{event}/settings/webhooks", {"urls": urls, "recover": urls})
            for url in urls:
                EndpointStore(InMemoryDocuments(self.firestore)).note_failure(
                    failing(f"x{event}", endpoint_id(url), "t2", hours_late=1)
                )
        self.seconds = 2.5


def failing(event_id: str, name: str, tenant_id: str, *, hours_late: int = 0) -> FailingEndpoint:
    """Return the record of an endpoint that has just failed."""
    return FailingEndpoint(
        event_id=event_id,
        id=name,
        tenant_id=tenant_id,
        url=URL,
        since=NOW - HOUR,
        failed_at=NOW,
        due_at=NOW - hours_late * HOUR,
    )


def test_endpoints_of_another_tenant_do_not_delay_a_recovery() -> None:
    """Spec 6.5: a sweep has no time for all of them, and still redelivers this one."""
    endpoints = SlowEndpointFixture()
    endpoints.add_endpoints_of_another_tenant()
    endpoints.end_delivery("missed")
    endpoints.acknowledge()

    assert endpoints.sweep() < WATCHED / 2
    assert endpoints.resent == ["missed"]


def test_tenants_take_turns() -> None:
    """Spec 6.5: one endpoint of each tenant, the earliest due first, and the next of each."""
    made = [failing("e", name, name[0]) for name in ("a1", "a2", "a3", "b1", "c1", "b2")]
    turns = [record.id for record in endpoint_sweep.tenants_in_turn(made)]

    assert turns == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_an_error_at_one_endpoint_does_not_affect_the_others(endpoints: EndpointFixture) -> None:
    """Spec 6.5: the next sweep tries this endpoint again."""
    endpoints.subscribe(URL, OTHER, recover=[URL, OTHER])
    for url in (OTHER, URL):
        endpoints.end_delivery(f"missed-{url[-4:]}", url=url)
        endpoints.acknowledge(url)
    endpoints.at("find deliveries", fails)
    endpoints.sweep()
    assert len(endpoints.resent) == 1
    endpoints.sweep_until(endpoints.now + 5 * MINUTE)
    assert sorted(endpoints.resent) == ["missed-hook", "missed-ther"]


def test_failures_are_not_counted_without_recipients(endpoints: EndpointFixture) -> None:
    """Such an endpoint costs one read of its last success and no task."""
    endpoints.subscribe(URL, OTHER)
    endpoints.fail(5)
    endpoints.calls.clear()

    assert endpoints.collect_notices() == []
    assert endpoints.queued == []
    assert "count deliveries" not in endpoints.calls
