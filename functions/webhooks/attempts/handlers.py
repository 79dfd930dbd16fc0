"""What the queues of attempts and the schedule call."""

from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest, FunctionsErrorCode, HttpsError

from functions import log
from functions.gcp.run_again import run_again
from functions.webhooks.deliveries.attempt_task import AttemptRequest, TooEarlyError

if TYPE_CHECKING:
    from functions.service import Service


def attempt(service: "Service", task: CallableRequest[Any]) -> None:
    """A task of one of the queues of attempts.

    Raises:
        HttpsError: `aborted`, so that the queue brings the task back after its backoff, where the
            attempt is not due yet. Not `unavailable`: Cloud Tasks would throttle the queue.
            `invalid-argument` where the body is no task of ours.
    """
    try:
        request = AttemptRequest.read(task.data, dispatched_before=_dispatched_before(task))
    except ValueError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    with run_again("delivery.not-attempted"):
        try:
            service.worker.attempt(request)
        except TooEarlyError as early:
            raise HttpsError(FunctionsErrorCode.ABORTED, "the attempt is not due yet") from early


def _dispatched_before(task: CallableRequest[Any]) -> int:
    """How often Cloud Tasks has dispatched this task before, and got no answer or a bad one.

    https://cloud.google.com/tasks/docs/creating-http-target-tasks#handler
    """
    count = task.raw_request.headers.get("X-CloudTasks-TaskRetryCount", "")
    return int(count) if count.isdecimal() else 0


def sweep(service: "Service") -> None:
    """The schedule; the next sweep tries again."""
    try:
        service.sweeper.sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("deliveries.not-swept", error)
