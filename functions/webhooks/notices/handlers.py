"""What the queue of notices calls."""

from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest, FunctionsErrorCode, HttpsError

from functions.gcp.run_again import run_again
from functions.webhooks.endpoints import notice_task

if TYPE_CHECKING:
    from functions.service import Service


def notify(service: "Service", task: CallableRequest[Any]) -> None:
    """A task of the queue of notices.

    Raises:
        HttpsError: `invalid-argument` where the body is no task of ours.
        InternalServerError: the queue is to bring it back.
    """
    try:
        event_id = notice_task.event_of(task.data)
    except ValueError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    with run_again("notice.not-sent-yet"):
        service.notifier.notify(event_id)
