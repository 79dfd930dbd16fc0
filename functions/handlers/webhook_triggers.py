"""Handlers of the webhooks' triggers, queues and sweeps."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest

from functions import log
from functions.gcp.triggers import DocumentWritten, retry_on_error
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.endpoints.failing_endpoint import event_of_notice

if TYPE_CHECKING:
    from functions.service import Service


def photo_written(service: "Service", event: DocumentWritten) -> None:
    """Publish a write of `events/{eventId}/photos/{photoId}`."""
    before, after = (
        Photo.read(found.id, found.fields, created=found.created, updated=found.written)
        if found
        else None
        for found in (event.before, event.after)
    )
    if before and after is None:
        before = replace(before, updated_at=event.at)
    with retry_on_error("photo.not-published"):
        service.publisher.photo_written(event.id, event.ids["eventId"], before, after)


def event_written(service: "Service", event: DocumentWritten) -> None:
    """Publish a write of `events/{eventId}`."""
    before, after = (
        WallEvent.read(found.fields, updated=found.written) if found else None
        for found in (event.before, event.after)
    )
    with retry_on_error("event.not-published"):
        service.publisher.event_written(event.id, event.ids["eventId"], before, after)


def attempt(service: "Service", task: CallableRequest[Any]) -> None:
    """Run a task of one of the queues of attempts.

    The header `X-CloudTasks-TaskRetryCount` has the number of failed dispatches of the task:
    https://cloud.google.com/tasks/docs/creating-http-target-tasks#handler
    """
    count = task.raw_request.headers.get("X-CloudTasks-TaskRetryCount", "")
    dispatched_before = int(count) if count.isdecimal() else 0
    with retry_on_error("delivery.not-attempted"):
        request = AttemptRequest.read(task.data, dispatched_before=dispatched_before)
        service.worker.attempt(request)


def sweep_deliveries(service: "Service") -> None:
    """Requeue overdue deliveries. The next sweep retries errors."""
    try:
        service.sweeper.sweep()
    except Exception as error:  # noqa: BLE001 - see `retry_on_error`
        log.fault("deliveries.not-swept", error)


def sweep_endpoints(service: "Service") -> None:
    """Check failing endpoints. The next sweep retries errors."""
    try:
        service.endpoint_sweep.sweep()
    except Exception as error:  # noqa: BLE001 - see `retry_on_error`
        log.fault("endpoints.not-swept", error)


def notify(service: "Service", task: CallableRequest[Any]) -> None:
    """Run a task of the queue of notices."""
    with retry_on_error("notice.not-sent-yet"):
        service.notifier.notify(event_of_notice(task.data))
