"""The handlers of the recap's callables: the SDK's requests, in the words of this package."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest, FunctionsErrorCode, HttpsError

from functions.call_error import CallError
from functions.clock import wire_time
from functions.gcp.callables import staff_call
from functions.gcp.triggers import run_again
from functions.recap.recap_arguments import (
    PreviewArguments,
    RecapArguments,
    ScheduleArguments,
    verified_address,
)

if TYPE_CHECKING:
    from functions.service import Service


def send_event_recap(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `sendEventRecap` (spec 4.1); design 3.3 gives the order of the checks.

    Raises:
        CallError: as in spec 7.1.
    """
    caller, arguments = staff_call(service, "sendEventRecap", request, RecapArguments.read)
    result = service.recap_sender.send(caller, arguments)
    optional = {
        "message": result.message,
        "notes": result.notes,
        "skippedBy": result.skipped_by,
    }
    given = {name: value for name, value in optional.items() if value}
    return {"sent": result.sent, "skipped": result.skipped} | given


def preview_event_recap(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `previewEventRecap` (spec 4.9), with the checks in the same order.

    Raises:
        CallError: as in spec 7.4.
    """
    caller, arguments = staff_call(service, "previewEventRecap", request, PreviewArguments.read)
    own_address = verified_address(request.auth.token if request.auth else {})
    preview = service.recap_preview.show(caller, arguments, own_address)
    mail, blocked, unreached = preview.mail, preview.blocked, preview.unreached
    optional = {
        "skipped": preview.skipped,
        "blocked": blocked and _refusal(blocked),
        "notes": preview.notes or None,
        "mailed": preview.mailed,
        "unreached": unreached if unreached is None else [asdict(guest) for guest in unreached],
    }
    return {
        "from": mail.sender,
        "replyTo": mail.reply_to or mail.sender,
        "subject": mail.subject,
        "html": mail.html,
        "text": mail.text,
        "recipients": preview.recipients,
        "hadRecap": preview.had_recap,
        "left": preview.left,
        "hidden": preview.hidden,
    } | {name: value for name, value in optional.items() if value is not None}


def schedule_event_recap(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `scheduleEventRecap` (spec 4.15), with the checks in the same order.

    Raises:
        CallError: as in spec 7.4.
    """
    read = partial(ScheduleArguments.read_at, service.clock.now())
    caller, arguments = staff_call(service, "scheduleEventRecap", request, read)
    at = service.recap_schedule.schedule(caller, arguments)
    return {"scheduledFor": at and wire_time(at)}


def send_scheduled_recap(service: "Service", task: CallableRequest[Any]) -> None:
    """A task of the queue of planned recaps.

    Raises:
        HttpsError: `aborted`, so that the queue brings the task back after its backoff;
            `invalid-argument` where the body is no task of ours.
        InternalServerError: a fault; the queue brings the task back as well.
    """
    from functions.recap.schedule import NotYetError, task_of  # noqa: PLC0415 - a cold start

    try:
        event_id, version, at = task_of(task.data)
    except ValueError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    with run_again("recap.schedule-not-run"):
        try:
            service.recap_schedule.send(event_id, version, at)
        except NotYetError as waiting:
            raise HttpsError(FunctionsErrorCode.ABORTED, "not yet") from waiting


def _refusal(error: CallError) -> dict[str, object]:
    return {"code": error.code, "message": error.message, **(error.details or {})}
