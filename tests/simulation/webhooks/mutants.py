"""The webhooks with one thought left out each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from functions.documents.refusals import AlreadyRecordedError
from functions.webhooks.attempts.sweeper import Sweeper
from functions.webhooks.attempts.worker import Worker
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import LOG_KEPT, Attempt, Delivery
from functions.webhooks.deliveries.fan_out import fan_out
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.message import Message
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.milestones import Milestones, Unclaimed
from functions.webhooks.publisher import Publisher
from functions.webhooks.settings.webhook_settings import Subscription
from tests.simulation.mutant import Mutant, instead_of

_save = DeliveryStore.save
_attempt = Worker.attempt
_publish = Publisher._publish  # noqa: SLF001
_after = Delivery.after
_unclaimed = Milestones.unclaimed
_belongs = Worker._belongs_on_slow_queue  # noqa: SLF001

_JUST_BEGUN: Final = 30.0


def _save_without_version(self: DeliveryStore, delivery: Delivery) -> None:
    _save(self, replace(delivery, version=None))


def _record_once(
    self: Publisher,
    event_id: str,
    messages: Sequence[Message],
    subscribed: Sequence[Subscription],
    behind: Sequence[Milestone] = (),
) -> Sequence[Delivery]:
    deliveries = [
        delivery
        for what in messages
        for delivery in fan_out(what, event_id, subscribed, self.clock.now())
    ]
    try:
        self.deliveries.create(
            event_id,
            deliveries,
            [*(message.milestone for message in messages if message.milestone), *behind],
        )
    except AlreadyRecordedError:
        return []
    return [delivery for delivery in deliveries if delivery.is_untried]


def _queue_first(
    self: Publisher,
    event_id: str,
    messages: Sequence[Message],
    subscribed: Sequence[Subscription],
    behind: Sequence[Milestone] = (),
) -> None:
    for what in messages:
        for delivery in fan_out(what, event_id, subscribed, self.clock.now()):
            if delivery.is_untried:
                self.enqueue(attempt_task(delivery))
    _publish(self, event_id, messages, subscribed, behind)


def _attempt_of_any_round(self: Worker, request: AttemptRequest) -> Delivery | None:
    found = self.deliveries.load(request.event_id, request.delivery_id)
    current = found.round if found else request.round
    return _attempt(self, replace(request, round=current))


def _after_as_well(self: Delivery, attempt: Attempt) -> Delivery:
    return replace(_after(self, attempt), log=(*self.log, attempt)[-LOG_KEPT:])


def _is_news_while_open(self: Delivery, attempt: Attempt) -> bool:
    return attempt.acknowledged and attempt.round == self.round and self.outcome.is_open


def _unclaimed_later(self: Milestones, event_id: str, photo: Any, at: datetime) -> Unclaimed:
    has_just_begun = self._claimed._monotonic() < _JUST_BEGUN  # noqa: SLF001
    return Unclaimed() if has_just_begun else _unclaimed(self, event_id, photo, at)


def _belongs_to_the_slow(self: Worker, request: AttemptRequest, delivery: Delivery) -> bool:
    return _belongs(self, replace(request, slow=False), delivery)


def _webhooks(name: str, left_out: str, of: Any, what: str, do: Callable[..., Any]) -> Mutant:
    return Mutant("webhooks", name, left_out, instead_of(of, what, do))


MUTANTS: Final = (
    _webhooks(
        "save-without-version",
        "the precondition on the version of a record when an attempt is saved",
        DeliveryStore,
        "save",
        _save_without_version,
    ),
    _webhooks(
        "conflict-is-done",
        "to queue what a trigger finds recorded, untried",
        Publisher,
        "_record",
        _record_once,
    ),
    _webhooks("queue-first", "to record before queueing", Publisher, "_publish", _queue_first),
    _webhooks("no-sweeper", "the sweeper", Sweeper, "sweep", lambda _: 0),
    _webhooks(
        "any-round",
        "to leave the tasks of an earlier round alone",
        Worker,
        "attempt",
        _attempt_of_any_round,
    ),
    _webhooks(
        "never-too-early",
        "to look at `next_attempt_at`",
        Worker,
        "_wait_until_due",
        lambda *_: None,
    ),
    _webhooks(
        "failed-stays-failed",
        "that an acknowledgement counts over `failed`",
        Delivery,
        "is_news",
        _is_news_while_open,
    ),
    _webhooks(
        "attempts-pile-up",
        "that an attempt made twice is recorded once",
        Delivery,
        "after",
        _after_as_well,
    ),
    _webhooks(
        "clock-at-zero",
        "that a monotonic clock may have just begun: all milestones count as claimed then",
        Milestones,
        "unclaimed",
        _unclaimed_later,
    ),
    _webhooks(
        "slow-once-more",
        "that an attempt on the slow queue is made there",
        Worker,
        "_belongs_on_slow_queue",
        _belongs_to_the_slow,
    ),
)
