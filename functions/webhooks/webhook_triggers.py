"""What triggers, queues and schedules call: from a write or a task to its use case."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest

from functions import log
from functions.firestore.model import Document
from functions.gcp.triggers import DocumentWritten, run_again
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.deliveries.delivery import AttemptRequest
from functions.webhooks.failing_endpoints.failing_endpoint import event_of_notice

if TYPE_CHECKING:
    from functions.service import Service


def photo_written(service: "Service", event: DocumentWritten) -> None:
    """A write of `events/{eventId}/photos/{photoId}`."""
    before, after = _photo(event.before), _photo(event.after)
    if before and after is None:
        before = replace(before, updated_at=event.at)
    with run_again("photo.not-published"):
        service.publisher.photo_written(event.id, event.ids["eventId"], before, after)


def event_written(service: "Service", event: DocumentWritten) -> None:
    """A write of `events/{eventId}`."""
    before, after = _wall_event(event.before), _wall_event(event.after)
    with run_again("event.not-published"):
        service.publisher.event_written(event.id, event.ids["eventId"], before, after)


def _photo(snapshot: Document | None) -> Photo | None:
    if snapshot is None:
        return None
    return Photo.read(
        snapshot.id, snapshot.fields, created=snapshot.created, updated=snapshot.written
    )


def _wall_event(snapshot: Document | None) -> WallEvent | None:
    if snapshot is None:
        return None
    return WallEvent.read(snapshot.fields, updated=snapshot.written)


def attempt(service: "Service", task: CallableRequest[Any]) -> None:
    """A task of one of the queues of attempts.

    The header counts how often Cloud Tasks has dispatched the task before, and got no answer or a
    bad one: https://cloud.google.com/tasks/docs/creating-http-target-tasks#handler
    """
    count = task.raw_request.headers.get("X-CloudTasks-TaskRetryCount", "")
    dispatched_before = int(count) if count.isdecimal() else 0
    with run_again("delivery.not-attempted"):
        request = AttemptRequest.read(task.data, dispatched_before=dispatched_before)
        service.worker.attempt(request)


def sweep_deliveries(service: "Service") -> None:
    """The schedule; the next sweep tries again."""
    try:
        service.sweeper.sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("deliveries.not-swept", error)


def sweep_endpoints(service: "Service") -> None:
    """The schedule; the next sweep tries again."""
    try:
        service.endpoint_sweep.sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("endpoints.not-swept", error)


def notify(service: "Service", task: CallableRequest[Any]) -> None:
    """A task of the queue of notices."""
    with run_again("notice.not-sent-yet"):
        service.notifier.notify(event_of_notice(task.data))
