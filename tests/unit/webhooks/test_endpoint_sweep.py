"""The sweep over endpoints that fail: recovery, giving up, its cost, its order (spec 6.5, 7.3)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import pytest

from functions.parts import Parameters
from functions.webhooks.deliveries.delivery import Attempt, Delivery, Outcome
from functions.webhooks.failing_endpoints import endpoint_sweep
from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore
from functions.webhooks.failing_endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.webhook_settings import WebhookSettings, key
from tests.in_memory.documents import InMemoryDocuments
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts, crashes, fails

T = TypeVar("T")

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
SETTINGS: Final = f"events/{EVENT}/settings/webhooks"


class Evening(Parts):
    """An event whose deliveries end as a test says."""

    def ends(
        self,
        name: str,
        outcome: Outcome,
        *,
        url: str = URL,
        endpoint: str | None = None,
        test: bool = False,
        is_noted: bool = True,
    ) -> Delivery:
        """A delivery that ends now; a failure is noted."""
        delivery = Delivery(
            id=name,
            event_id=EVENT,
            event_type="photo.uploaded",  # type: ignore[arg-type]
            url=url,
            endpoint=endpoint or key(url),
            body="{}",
            created_at=self.now,
            outcome=outcome,
            attempts=4,
            ended_at=self.now,
            log=(Attempt(number=4, at=self.now, status=500, milliseconds=1),),
            test=test,
        )
        self.stored.create(EVENT, [delivery])
        if outcome is Outcome.FAILED and is_noted:
            self.process().worker.failures.note(delivery)
        return delivery

    def failed_again(self, name: str) -> None:
        """The delivery, which was sent again, fails once more."""
        [delivery] = [record for record in self.records if record.id == name]
        self.failed(delivery)

    def swept_until(self, moment: datetime) -> None:
        """The schedule, every five minutes."""
        while self.now < moment:
            self.now += 5 * MINUTE
            self.process().endpoint_sweep.sweep()

    @property
    def sent_again(self) -> set[str]:
        """Ids of deliveries in a later round."""
        return {record.id for record in self.records if record.round}

    def known(self, url: str = URL) -> FailingEndpoint | None:
        """The record of the endpoint."""
        records = EndpointStore(InMemoryDocuments(self.firestore)).of_event(EVENT)
        return next((record for record in records if record.id == key(url)), None)


@pytest.fixture
def evening() -> Evening:
    """With automatic recovery."""
    evening = Evening()
    evening.subscribe(URL, recover=[URL])
    return evening


def test_a_delivery_that_is_refused_for_good_holds_nothing_up(evening: Evening) -> None:
    """Spec 6.5: three fail in an outage, twenty arrive, and the last of the evening is refused."""
    for number in range(3):
        evening.ends(f"outage-{number}", Outcome.FAILED)
        evening.now += MINUTE
    for number in range(20):
        evening.ends(f"arrived-{number}", Outcome.SUCCESS)
    acknowledged = evening.now
    evening.now += MINUTE
    evening.ends("refused", Outcome.FAILED)
    evening.swept_until(acknowledged + 10 * MINUTE)

    assert evening.sent_again == {"outage-0", "outage-1", "outage-2"}


def test_each_failure_is_sent_again_once_in_order(evening: Evening) -> None:
    """Spec 6.5: tests and what has failed again are left alone; the oldest comes first."""
    for number in range(5):
        evening.ends(f"d{number}", Outcome.FAILED)
        evening.now += MINUTE
    evening.ends("test", Outcome.FAILED, test=True)
    evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS)
    evening.parameters = Parameters(deliveries_at_once=2)
    evening.swept_until(evening.now + 30 * MINUTE)

    assert [task.data["deliveryId"] for task in evening.queued] == [f"d{n}" for n in range(5)]
    assert evening.sent_again == {f"d{number}" for number in range(5)}


def test_a_test_that_is_acknowledged_shows_that_the_receiver_is_back(evening: Evening) -> None:
    """Spec 6.5: a quiet event sends no other."""
    evening.ends("missed", Outcome.FAILED)
    evening.now += HOUR
    evening.ends("test", Outcome.SUCCESS, test=True)
    evening.swept_until(evening.now + 5 * MINUTE)

    assert evening.sent_again == {"missed"}


def test_nothing_goes_to_a_silent_receiver_nor_what_failed_a_day_before(evening: Evening) -> None:
    """Spec 6.5: 24 hours before the acknowledgement at most."""
    evening.ends("old", Outcome.FAILED)
    evening.now += 25 * HOUR
    evening.ends("missed", Outcome.FAILED)
    evening.swept_until(evening.now + HOUR)
    assert evening.sent_again == set()
    evening.ends("arrived", Outcome.SUCCESS)
    evening.swept_until(evening.now + 10 * MINUTE)

    assert evening.sent_again == {"missed"}


@pytest.mark.parametrize("failed_again", [0, 40])
def test_a_long_backlog_is_sent_again_behind_all_other_endpoints(
    evening: Evening, failed_again: int
) -> None:
    """Spec 6.5: one sweep, many pages; what has failed again in the meantime uses up none."""
    evening.subscribe(URL, OTHER, recover=[URL, OTHER])
    evening.parameters = Parameters(deliveries_at_once=2)
    for number in range(70):
        evening.ends(f"d{number}", Outcome.FAILED)
        evening.now += timedelta(seconds=20)
    evening.ends("other", Outcome.FAILED, url=OTHER)
    evening.now += MINUTE
    for url in (URL, OTHER):
        evening.ends(f"arrived-{url[-4:]}", Outcome.SUCCESS, url=url)
    evening.now += MINUTE
    evening.process().endpoint_sweep.sweep()
    again = [task.data["deliveryId"] for task in evening.queued]
    assert set(again) == evening.sent_again == {f"d{number}" for number in range(70)} | {"other"}
    assert again.index("other") <= 20, "ten pages of the long one, at most, came before"
    assert [name for name in again if name != "other"] == [f"d{number}" for number in range(70)]

    for number in range(failed_again):
        evening.failed_again(f"d{number}")
    evening.ends("late", Outcome.FAILED)
    evening.now += timedelta(seconds=1)
    evening.ends("arrived too", Outcome.SUCCESS)
    evening.swept_until(evening.now + 5 * MINUTE)
    assert evening.sent_again == {f"d{number}" for number in range(70)} | {"other", "late"}
    assert all(record.round < 2 for record in evening.records)


def test_a_recovery_that_an_admin_ends_meanwhile_stops(evening: Evening) -> None:
    """A sweep that goes on with an endpoint reads the settings again."""
    evening.parameters = Parameters(deliveries_at_once=2)
    for number in range(50):
        evening.ends(f"d{number}", Outcome.FAILED)
        evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS)
    evening.at("update endpoints", lambda: evening.subscribe(URL))
    evening.process().endpoint_sweep.sweep()
    assert len(evening.sent_again) == 20


def test_a_url_that_cannot_be_used_fails_no_sweep(
    evening: Evening, capfd: pytest.CaptureFixture[str]
) -> None:
    """The endpoint has answered, and its URL was changed to an unusable one since."""
    evening.subscribe({"url": URL, "id": "screen"}, recover=["screen"])
    evening.ends("missed", Outcome.FAILED, endpoint="screen")
    evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS, endpoint="screen")
    evening.subscribe({"url": "http://example.com/hook", "id": "screen"}, recover=["screen"])
    evening.swept_until(evening.now + 20 * MINUTE)

    assert "endpoint.not-swept" not in capfd.readouterr().out
    assert evening.sent_again == set()


def test_exactly_five_failures_are_told(evening: Evening) -> None:
    """Other instances note four of them later than the fifth is noted."""
    evening.subscribe(URL, notify=["ann@example.com"])
    for number in range(4):
        evening.ends(f"d{number}", Outcome.FAILED, is_noted=False)
        evening.now += timedelta(seconds=10)
    evening.ends("d4", Outcome.FAILED)
    evening.process().endpoint_sweep.sweep()

    assert [task.queue for task in evening.queued] == ["sendWebhookNotice"]


def test_a_failure_that_could_not_be_noted_is_noted_by_the_next_task(evening: Evening) -> None:
    """Whether the write failed, or its process ended while another task had a failure to note."""
    failures = evening.process().worker.failures
    one, another = (evening.ends(name, Outcome.FAILED, is_noted=False) for name in ("d1", "d2"))
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


def test_a_failure_that_is_recorded_late_is_found(evening: Evening) -> None:
    """It ended before the acknowledgement, and is recorded minutes after the sweep."""
    evening.ends("missed", Outcome.FAILED)
    ended = evening.now
    evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS)
    evening.swept_until(evening.now + 5 * MINUTE)
    late, evening.now = evening.now, ended
    evening.ends("late", Outcome.FAILED)
    evening.now = late
    evening.swept_until(late + 5 * MINUTE)

    assert evening.sent_again == {"missed", "late"}


def test_a_crash_in_between_repeats_none(evening: Evening) -> None:
    """The deliveries are in their second round, though the record was not written."""
    evening.ends("missed", Outcome.FAILED)
    evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS)
    evening.at("update endpoints", crashes)
    with pytest.raises(BaseException):  # noqa: B017, PT011 - the process is gone
        evening.process().endpoint_sweep.sweep()
    evening.swept_until(evening.now + 20 * MINUTE)

    assert [record.round for record in evening.records if record.id == "missed"] == [1]


def test_what_failed_goes_to_the_present_url_of_its_endpoint(evening: Evening) -> None:
    """Spec 6.5: a typo is corrected, and nothing is lost."""
    wrong, right = "https://localhsot.example/hook", "https://localhost.example/hook"
    evening.subscribe({"url": wrong, "id": "screen"}, recover=["screen"])
    missed = evening.ends("missed", Outcome.FAILED, url=wrong, endpoint="screen")
    evening.now += MINUTE
    evening.subscribe({"url": right, "id": "screen"}, recover=["screen"])
    evening.ends("arrived", Outcome.SUCCESS, url=right, endpoint="screen")
    evening.swept_until(evening.now + 5 * MINUTE)
    again = evening.record(missed)

    assert (again.url, again.endpoint, again.round, again.body) == (right, "screen", 1, missed.body)


def test_a_record_is_forgotten_once_the_endpoint_works(evening: Evening) -> None:
    """And costs nothing then; a delivery that succeeds costs nothing at any time."""
    evening.ends("missed", Outcome.FAILED)
    assert evening.known()
    evening.swept_until(evening.now + 15 * MINUTE)
    assert evening.known()
    evening.ends("arrived", Outcome.SUCCESS)
    evening.swept_until(evening.now + 15 * MINUTE)

    assert evening.known() is None


@pytest.mark.parametrize(
    ("days", "failures", "given_up"), [(5.1, 100, True), (5.1, 99, False), (4.9, 100, False)]
)
def test_an_endpoint_is_given_up_after_a_hundred_failures_over_five_days(
    evening: Evening, days: float, failures: int, *, given_up: bool
) -> None:
    """Spec 7.3: under its id, with the reason; others' entries do not move its count."""
    evening.subscribe(URL, OTHER, disabled={key(OTHER): {"url": OTHER}})
    for number in range(failures):
        evening.now = NOW + number * timedelta(days=days) / (failures - 1)
        evening.ends(f"d{number}", Outcome.FAILED)
    evening.now += MINUTE
    evening.process().endpoint_sweep.sweep()
    disabled = evening.fields(SETTINGS)["disabled"]

    assert (key(URL) in disabled) is given_up
    assert key(OTHER) in disabled


def test_a_success_ends_the_count(evening: Evening) -> None:
    """Spec 7.3: the last hundred in a row."""
    evening.subscribe(URL)
    for number in range(200):
        evening.now = NOW + number * timedelta(hours=1)
        evening.ends(f"d{number}", Outcome.SUCCESS if number == 110 else Outcome.FAILED)
    evening.now += MINUTE
    evening.process().endpoint_sweep.sweep()

    assert "disabled" not in evening.fields(SETTINGS)


def test_an_admin_who_has_just_saved_is_not_overruled(evening: Evening) -> None:
    """The settings are written between the look and the entry."""
    evening.subscribe(URL)
    for number in range(100):
        evening.now = NOW + number * timedelta(hours=2)
        evening.ends(f"d{number}", Outcome.FAILED)
    evening.at("update settings", lambda: evening.subscribe(URL, labels={"a": "Screen"}))
    evening.process().endpoint_sweep.sweep()

    assert "disabled" not in evening.fields(SETTINGS)


def test_what_has_failed_is_noted_once_a_minute(evening: Evening) -> None:
    """A read and a write; a process that fails to write tries again."""
    failures = evening.process().worker.failures
    delivery = evening.ends("d1", Outcome.FAILED)
    evening.calls.clear()
    for _ in range(100):
        failures.note(delivery)
    assert evening.calls == ["get endpoints", "update endpoints"]
    evening.monotonic += 60
    failures.note(delivery)

    assert len(evening.calls) == 4


WATCHED: Final = 1500


class SlowEvening(Evening):
    """Each call takes half a second, beside many endpoints of another tenant that fail."""

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
                EndpointStore(InMemoryDocuments(self.firestore)).create(
                    failing(f"x{event}", key(url), "t2", due_at=NOW - HOUR)
                )
        self.seconds = 0.5


def failing(event_id: str, name: str, tenant_id: str, *, due_at: datetime = NOW) -> FailingEndpoint:
    """The record of an endpoint that has just failed."""
    return FailingEndpoint(
        event_id=event_id,
        id=name,
        tenant_id=tenant_id,
        url=URL,
        since=NOW - HOUR,
        failed_at=NOW,
        due_at=due_at,
    )


def test_endpoints_of_others_keep_nobody_waiting() -> None:
    """Spec 6.5: the next sweep sends again, though its time is up after a fifth of them."""
    evening = SlowEvening()
    evening.subscribe(URL, recover=[URL])
    evening.crowd_in()
    evening.ends("missed", Outcome.FAILED)
    evening.now += MINUTE
    evening.ends("arrived", Outcome.SUCCESS)

    assert evening.process().endpoint_sweep.sweep() < WATCHED / 4
    assert evening.sent_again == {"missed"}


def test_tenants_have_their_turns() -> None:
    """The longest due first, one of each tenant, then the next one of each."""
    made = [failing("e", name, name[0]) for name in ("a1", "a2", "a3", "b1", "c1", "b2")]
    turns = [record.id for record in endpoint_sweep.tenants_in_turn(made)]

    assert turns == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_an_error_at_one_endpoint_keeps_no_other_waiting(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep checks the other endpoints, and the next sweep tries this one again."""
    evening.subscribe(URL, OTHER, recover=[URL, OTHER])
    for url in (OTHER, URL):
        evening.ends(f"missed-{url[-4:]}", Outcome.FAILED, url=url)
        evening.now += MINUTE
        evening.ends(f"arrived-{url[-4:]}", Outcome.SUCCESS, url=url)
    original = endpoint_sweep.EndpointSweep._apply  # noqa: SLF001 - an error goes inside

    def broken(self: Any, record: FailingEndpoint, settings: WebhookSettings) -> None:
        if record.url == OTHER:
            raise RuntimeError
        original(self, record, settings)

    monkeypatch.setattr(endpoint_sweep.EndpointSweep, "_apply", broken)
    evening.swept_until(evening.now + 5 * MINUTE)
    assert evening.sent_again == {"missed-hook"}
