"""The endpoints that fail with one thought left out each."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from functions.webhooks.deliveries.delivery import Delivery, EndedWithin, Outcome
from functions.webhooks.endpoints import failing_endpoint, observer, sweep
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint, Latest, Step
from functions.webhooks.endpoints.failures import Failures
from functions.webhooks.endpoints.store import EndpointStore
from functions.webhooks.endpoints.sweep import EndpointSweep
from functions.webhooks.notices import notifier
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.settings.webhook_settings import Subscription
from tests.simulation.mutant import Mutant, instead_of

_what_follows = failing_endpoint.what_follows
_latest = observer.Observer.latest
_forget = EndpointStore.forget
_resent = EndpointSweep._resent  # noqa: SLF001 - a mutant goes inside


def _endpoints(name: str, left_out: str, of: Any, what: str, do: Callable[..., Any]) -> Mutant:
    return Mutant("endpoints", name, left_out, instead_of(of, what, do))


def _latest_alone(
    self: Any, record: FailingEndpoint, endpoint: Subscription, **given: Any
) -> Latest:
    found = _latest(self, record, endpoint, **given)
    failed = self._deliveries.first_failure(record.event_id, record.id, found.acknowledged_at)
    return replace(found, acknowledged_at=None) if failed else found


def _with_tests(self: EndedWithin) -> EndedWithin:
    return replace(self, outcomes=(Outcome.PENDING,))


def _sent_again_once_more(
    self: EndpointSweep,
    record: FailingEndpoint,
    endpoint: Subscription,
    latest: Latest,
    now: datetime,
) -> FailingEndpoint:
    until = latest.acknowledged_at or now
    failed = EndedWithin(
        since=until - timedelta(days=1), until=until, outcomes=(Outcome.FAILED,), endpoint=record.id
    )
    for delivery in self._deliveries.ended(record.event_id, failed, None, 300):
        self._next_round.begin(delivery, endpoint)
    return record.resent(until)


def _twice_an_hour(*args: Any, **given: Any) -> Step:
    record, *others = args
    told_at = record.told_at and record.told_at - timedelta(hours=1)
    return _what_follows(replace(record, told_at=told_at), *others, **given)


def _unrecorded(self: Notifier, news: Iterable[Any]) -> None:
    del self, news


def _forgotten_at_once(
    record: FailingEndpoint, endpoint: Subscription | None, latest: Latest, **given: Any
) -> Step:
    step = _what_follows(record, endpoint, latest, **given)
    return Step.FORGET if step is Step.WAIT and latest.failures < 1 else step


def _never_noted(self: Failures, delivery: Delivery) -> None:
    del self, delivery


MUTANTS: Final = (
    _endpoints(
        "latest-end-alone",
        "that an acknowledgement counts whatever has failed since",
        observer.Observer,
        "latest",
        _latest_alone,
    ),
    _endpoints("tests-count", "that tests count for nothing", EndedWithin, "of_tests", _with_tests),
    _endpoints(
        "sent-again-once-more",
        "that a delivery is sent again by itself once",
        EndpointSweep,
        "_resent",
        _sent_again_once_more,
    ),
    _endpoints(
        "news-all-the-time",
        "that an endpoint makes news once an hour",
        notifier,
        "what_follows",
        _twice_an_hour,
    ),
    _endpoints(
        "told-unrecorded", "to record what people were told", Notifier, "_record", _unrecorded
    ),
    _endpoints(
        "forgotten-at-once",
        "that people wait to be told of the recovery",
        sweep,
        "what_follows",
        _forgotten_at_once,
    ),
    _endpoints("never-noted", "to note a failure", Failures, "note", _never_noted),
)
