"""The webhooks with one thought left out each."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from unittest import mock

from functions.documents.refusals import AlreadyRecordedError
from functions.documents.write import Put
from functions.gcp.task_queue import Task
from functions.wall.photo import Photo
from functions.webhooks import publisher
from functions.webhooks.attempts import sweeper, worker
from functions.webhooks.attempts.endpoint_health import EndpointHealth
from functions.webhooks.attempts.sweeper import Sweeper
from functions.webhooks.attempts.worker import Worker
from functions.webhooks.deliveries import next_round, store
from functions.webhooks.deliveries.attempt_task import AttemptRequest, TooEarlyError, attempt_task
from functions.webhooks.deliveries.delivery import LOG_KEPT, Attempt, Delivery
from functions.webhooks.deliveries.fan_out import fan_out
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.message import Message
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.milestones import Milestones, Unclaimed
from functions.webhooks.publisher import Publisher
from functions.webhooks.recovery import recoverer
from functions.webhooks.recovery.outage_marks import OutageMarks
from functions.webhooks.recovery.recoverer import Recoverer
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import Subscription, WebhookSettings
from tests.simulation.mutant import Mutant, instead_of

_save = DeliveryStore.save
_restart = DeliveryStore.restart
_create = DeliveryStore.create
_disable = SettingsStore.disable
_attempt = Worker.attempt
_publish = Publisher._publish  # noqa: SLF001
_after = Delivery.after
_unclaimed = Milestones.unclaimed
_belongs = Worker._belongs_on_slow_queue  # noqa: SLF001

_JUST_BEGUN: Final = 30.0


def _save_without_version(self: DeliveryStore, delivery: Delivery) -> None:
    _save(self, replace(delivery, version=None))


def _restart_without_version(self: DeliveryStore, delivery: Delivery) -> None:
    _restart(self, replace(delivery, version=None))


def _create_in_two_commits(
    self: DeliveryStore,
    event_id: str,
    deliveries: Iterable[Delivery],
    milestones: Iterable[Milestone] = (),
) -> None:
    _create(self, event_id, deliveries)
    if reached := list(milestones):
        _create(self, event_id, [], reached)


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


def _attempt_and_no_more(self: Worker, request: AttemptRequest) -> Delivery | None:
    try:
        return _attempt(self, request)
    except TooEarlyError:
        return None


def _task_of_any_round(delivery: Delivery, *, suffix: str = "") -> Task:
    task = attempt_task(delivery, suffix=suffix)
    return replace(task, name=f"{delivery.id}-{delivery.due_attempt}{suffix}")


def _with_tasks_of_any_round() -> ExitStack:
    stack = ExitStack()
    for module in (publisher, worker, sweeper, next_round):
        stack.enter_context(mock.patch.object(module, "attempt_task", _task_of_any_round))
    return stack


def _after_as_well(self: Delivery, attempt: Attempt) -> Delivery:
    return replace(_after(self, attempt), log=(*self.log, attempt)[-LOG_KEPT:])


def _is_news_while_open(self: Delivery, attempt: Attempt) -> bool:
    return attempt.acknowledged and attempt.round == self.round and self.outcome.is_open


def _unclaimed_later(self: Milestones, event_id: str, photo: Any, at: datetime) -> Unclaimed:
    has_just_begun = self._claimed._monotonic() < _JUST_BEGUN  # noqa: SLF001
    return Unclaimed() if has_just_begun else _unclaimed(self, event_id, photo, at)


def _passed_by_now(self: Milestones, event_id: str, at_most: int, _: datetime) -> int:
    return self._wall.count_photos(event_id, at_most=at_most)


def _joined_if_found_first(self: Publisher, event_id: str, photo: Photo) -> Iterable[Message]:
    first = self.wall.first_photo_by(event_id, photo)
    return [Message.of_guest(event_id, photo)] if first is None or first.id == photo.id else []


def _is_dead_for_ever(
    self: EndpointHealth, event_id: str, url: str, since: datetime, now: datetime
) -> bool:
    del now
    return self._deliveries.count_failed(event_id, url, since, 100) >= 100


def _disable_anyway(
    self: SettingsStore, event_id: str, given_up: Any, found: WebhookSettings
) -> None:
    _disable(self, event_id, given_up, replace(found, version=None))


def _belongs_to_the_slow(self: Worker, request: AttemptRequest, delivery: Delivery) -> bool:
    return _belongs(self, replace(request, slow=False), delivery)


def _moved_off_the_record(self: Worker, delivery: Delivery) -> Delivery:
    return self._paced(replace(delivery, slow=True))


def _begin_every_round(self: Recoverer, found: Sequence[Delivery]) -> int:
    return sum(self._next_round.begin(delivery) for delivery in found)


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
        "restart-without-version",
        "the same when the next round begins",
        DeliveryStore,
        "restart",
        _restart_without_version,
    ),
    _webhooks(
        "create-over",
        "create-if-absent: a record that is there is written over",
        store,
        "Create",
        Put,
    ),
    _webhooks(
        "milestone-by-itself",
        "one commit for a milestone and its deliveries: it has one of its own, after them",
        DeliveryStore,
        "create",
        _create_in_two_commits,
    ),
    _webhooks(
        "conflict-is-done",
        "to queue what a trigger finds on record, untried",
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
    Mutant(
        "webhooks", "any-round-name", "the round in the names of tasks", _with_tasks_of_any_round
    ),
    _webhooks(
        "never-too-early",
        "to look at `next_attempt_at`",
        Worker,
        "_wait_until_due",
        lambda *_: None,
    ),
    _webhooks(
        "too-early-is-done",
        "to have a task that is too early come back",
        Worker,
        "attempt",
        _attempt_and_no_more,
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
        "that an attempt made twice stands on record once",
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
        "behind-by-now",
        "that a milestone is behind only if it was when the URLs were written",
        Milestones,
        "_passed",
        _passed_by_now,
    ),
    _webhooks(
        "never-behind",
        "that a milestone may be behind",
        Milestones,
        "_passed",
        lambda *_: 0,
    ),
    _webhooks(
        "joined-and-gone",
        "that the next photo of a guest is the first where the first was deleted",
        Publisher,
        "_joined",
        _joined_if_found_first,
    ),
    _webhooks(
        "success-forgotten",
        "that a success, or five days, end the count of failures of a URL",
        EndpointHealth,
        "_is_dead",
        _is_dead_for_ever,
    ),
    _webhooks(
        "disable-anyway",
        "the precondition on the settings when a URL is disabled",
        SettingsStore,
        "disable",
        _disable_anyway,
    ),
    _webhooks(
        "moved-off-the-record",
        "to put it on record that a delivery waits on the slow queue",
        Worker,
        "_moved_to_slow_queue",
        _moved_off_the_record,
    ),
    _webhooks(
        "slow-once-more",
        "that an attempt on the slow queue is made there",
        Worker,
        "_belongs_on_slow_queue",
        _belongs_to_the_slow,
    ),
    _webhooks(
        "ordered-again",
        "that a standing order sends a delivery again once, and no test",
        Recoverer,
        "_begin",
        _begin_every_round,
    ),
    _webhooks(
        "outage-unmarked",
        "to mark a URL with a standing order",
        OutageMarks,
        "mark",
        lambda *_: None,
    ),
    _webhooks(
        "ordered-back-for-ever",
        "that a standing order goes 24 hours back at most",
        recoverer,
        "BACK",
        timedelta(days=30),  # type: ignore[arg-type]
    ),
)
