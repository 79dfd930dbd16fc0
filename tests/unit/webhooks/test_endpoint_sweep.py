"""The sweep over endpoints that fail: what it counts, its order and its cost (spec 6.5 and 7.3).

`test_failing_endpoint.py` has what follows, row by row; `tests/simulation/endpoints` has that each
missed delivery is sent again, once.
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
from functions.webhooks.webhook_settings import key
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.webhooks.evening import HOUR, MINUTE, SETTINGS, Evening
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, fails

T = TypeVar("T")


def test_each_failure_is_sent_again_once_in_order(evening: Evening) -> None:
    """Spec 6.5: tests and what has failed again are left alone; the oldest comes first."""
    evening.parameters = Parameters(deliveries_at_once=2)
    for number in range(5):
        evening.ends(f"d{number}")
    evening.ends("test", test=True)
    evening.answer_at_last()
    evening.swept_until(evening.now + 30 * MINUTE)

    assert evening.sent_again == [f"d{number}" for number in range(5)]


def test_nothing_goes_to_a_silent_receiver_nor_what_failed_a_day_before(evening: Evening) -> None:
    """Spec 6.5: 24 hours before the acknowledgement at most."""
    evening.ends("old")
    evening.now += 25 * HOUR
    evening.ends("missed")
    evening.swept_until(evening.now + HOUR)
    assert evening.sent_again == []
    evening.answer_at_last()
    evening.swept_until(evening.now + 10 * MINUTE)

    assert evening.sent_again == ["missed"]


def test_a_long_backlog_is_sent_again_behind_all_other_endpoints(evening: Evening) -> None:
    """Spec 6.5: one sweep, many pages; what has failed again in the meantime uses up none."""
    evening.subscribe(URL, OTHER, recover=[URL, OTHER])
    evening.parameters = Parameters(deliveries_at_once=1)
    backlog = [f"d{number}" for number in range(25)]
    for name in backlog:
        evening.ends(name)
    evening.ends("other", url=OTHER)
    for url in (URL, OTHER):
        evening.answer_at_last(url)
    evening.sweep()
    assert [name for name in evening.sent_again if name != "other"] == backlog
    assert evening.sent_again.index("other") <= 10, "at most ten pages of the long one came before"

    for record in [record for record in evening.records if record.id in backlog[:15]]:
        evening.failed(record)
    evening.ends("late")
    evening.answer_at_last()
    evening.swept_until(evening.now + 5 * MINUTE)
    assert {record.id for record in evening.records if record.round} == {*backlog, "other", "late"}
    assert all(record.round < 2 for record in evening.records)


def test_a_recovery_that_an_admin_ends_meanwhile_stops(evening: Evening) -> None:
    """Spec 6.5: a sweep that goes on with an endpoint reads the settings again."""
    evening.parameters = Parameters(deliveries_at_once=1)
    evening.fail(15)
    evening.answer_at_last()
    evening.at("update endpoints", lambda: evening.subscribe(URL))
    evening.sweep()
    assert len(evening.sent_again) == 10


def test_what_failed_goes_to_the_present_url_of_its_endpoint(evening: Evening) -> None:
    """Spec 6.5: a typo is corrected, and nothing is lost."""
    wrong, right = "https://localhsot.example/hook", "https://localhost.example/hook"
    evening.subscribe({"url": wrong, "id": "screen"}, recover=["screen"])
    missed = evening.ends("missed", url=wrong, endpoint="screen")
    evening.subscribe({"url": right, "id": "screen"}, recover=["screen"])
    evening.ends("arrived", Outcome.SUCCESS, url=right, endpoint="screen")
    evening.swept_until(evening.now + 5 * MINUTE)
    again = evening.record(missed)

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
    evening: Evening, days: float, failures: int, acknowledged: int | None, *, is_disabled: bool
) -> None:
    """Spec 7.3: the last hundred in a row, tests aside; others' entries do not move its count."""
    evening.subscribe(URL, OTHER, disabled={key(OTHER): {"url": OTHER}})
    evening.ends("test", test=True)
    for number in range(failures):
        evening.now = NOW + number * timedelta(days=days) / (failures - 1)
        outcome = Outcome.SUCCESS if number == acknowledged else Outcome.FAILED
        evening.ends(f"d{number}", outcome)
    evening.sweep()
    disabled = evening.fields(SETTINGS)["disabled"]

    assert (key(URL) in disabled) is is_disabled
    assert key(OTHER) in disabled


def test_a_failure_is_noted_once_a_minute(evening: Evening) -> None:
    """Spec 6.4: a read and a write, however many deliveries fail."""
    failures = evening.process().worker.failures
    delivery = evening.ends("d1")
    failures.tenants.of(EVENT)  # which the attempt has asked for
    evening.calls.clear()
    for _ in range(100):
        failures.note(delivery)
    assert evening.calls == ["get endpoints", "update endpoints"]
    evening.monotonic += 60
    failures.note(delivery)

    assert len(evening.calls) == 4


WATCHED = 300


class SlowEvening(Evening):
    """Each call takes some seconds, beside many endpoints of another tenant that fail."""

    seconds = 0.0

    def _through(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        self.monotonic += self.seconds
        return super()._through(what, effect, retried=retried)

    def crowd_in(self) -> None:
        """The endpoints of the other tenant are to be recovered, and due for longer."""
        for event in range(WATCHED // 20):
            urls = [f"https://{event}.example/{number}" for number in range(20)]
            self.put(f"events/x{event}/settings/webhooks", {"urls": urls, "recover": urls})
            for url in urls:
                EndpointStore(InMemoryDocuments(self.firestore)).note_failure(
                    failing(f"x{event}", key(url), "t2", hours_late=1)
                )
        self.seconds = 2.5


def failing(event_id: str, name: str, tenant_id: str, *, hours_late: int = 0) -> FailingEndpoint:
    """The record of an endpoint that has just failed."""
    return FailingEndpoint(
        event_id=event_id,
        id=name,
        tenant_id=tenant_id,
        url=URL,
        since=NOW - HOUR,
        failed_at=NOW,
        due_at=NOW - hours_late * HOUR,
    )


def test_endpoints_of_others_keep_nobody_waiting() -> None:
    """Spec 6.5: the next sweep sends again, though its time is up after some of them."""
    evening = SlowEvening()
    evening.crowd_in()
    evening.ends("missed")
    evening.answer_at_last()

    assert evening.sweep() < WATCHED / 2
    assert evening.sent_again == ["missed"]


def test_tenants_have_their_turns() -> None:
    """Spec 6.5: the longest due first, one of each tenant, then the next one of each."""
    made = [failing("e", name, name[0]) for name in ("a1", "a2", "a3", "b1", "c1", "b2")]
    turns = [record.id for record in endpoint_sweep.tenants_in_turn(made)]

    assert turns == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_an_error_at_one_endpoint_keeps_no_other_waiting(evening: Evening) -> None:
    """Spec 6.5: the sweep checks the other endpoints, and the next sweep tries this one again."""
    evening.subscribe(URL, OTHER, recover=[URL, OTHER])
    for url in (OTHER, URL):
        evening.ends(f"missed-{url[-4:]}", url=url)
        evening.answer_at_last(url)
    evening.at("find deliveries", fails)
    evening.sweep()
    assert len(evening.sent_again) == 1
    evening.swept_until(evening.now + 5 * MINUTE)
    assert sorted(evening.sent_again) == ["missed-hook", "missed-ther"]


def test_where_nobody_is_to_be_notified_no_failure_is_counted(evening: Evening) -> None:
    """An endpoint that fails costs the read of its last success, and no task."""
    evening.subscribe(URL, OTHER)
    evening.fail(5)
    evening.calls.clear()

    assert evening.mailed() == []
    assert evening.queued == []
    assert "count deliveries" not in evening.calls
