"""Handlers of the recap: callables, tasks of its queue, and requests from SendGrid."""

import threading
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import flask
from firebase_functions.https_fn import CallableRequest

from functions import log, ports
from functions.gcp.callables import StaffCall
from functions.gcp.request import bounded_body, text_answer
from functions.gcp.triggers import retry_on_error
from functions.mail.outcome import MisconfiguredError
from functions.recap.recap_arguments import (
    PreviewArguments,
    RecapArguments,
    ScheduleArguments,
    verified_address,
)

if TYPE_CHECKING:
    from functions.service import Service

_RECORDING: Final = threading.BoundedSemaphore(20)
"""Limit of 20 requests that are parsed concurrently, because parsing needs memory and CPU."""


def send_event_recap(service: "Service", call: StaffCall) -> dict[str, Any]:
    """Handle a call of `sendEventRecap` (spec 4.1), with the checks in the order of design 3.3.

    Raises:
        CallError: See spec 7.1.
    """
    arguments = RecapArguments.read(call.data)
    service.admission.count_staff_call(call)
    result = service.recap_sender.send(call.caller, arguments)
    optional = {"message": result.message, "notes": result.notes, "skippedBy": result.skipped_by}
    return {"sent": result.sent, "skipped": result.skipped} | {
        name: value for name, value in optional.items() if value
    }


def preview_event_recap(service: "Service", call: StaffCall) -> dict[str, Any]:
    """Handle a call of `previewEventRecap` (spec 4.9), with the checks in the order of design 3.3.

    Raises:
        CallError: See spec 7.4.
    """
    arguments = PreviewArguments.read(call.data)
    service.admission.count_staff_call(call)
    own_address = verified_address(call.claims)
    preview = service.recap_preview.show(call.caller, arguments, own_address)
    mail, unreached = preview.mail, preview.unreached
    optional = {
        "skipped": preview.skipped,
        "blocked": preview.blocked,
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


def schedule_event_recap(service: "Service", call: StaffCall) -> dict[str, Any]:
    """Handle a call of `scheduleEventRecap` (spec 4.15).

    The checks are in the order of design 3.3.

    Raises:
        CallError: See spec 7.4.
    """
    arguments = ScheduleArguments.read_at(service.clock.now(), call.data)
    service.admission.count_staff_call(call)
    at = service.recap_schedule.schedule(call.caller, arguments)
    return {"scheduledFor": at and ports.wire_time(at)}


def send_scheduled_recap(service: "Service", task: CallableRequest[Any]) -> None:
    """Run a task of the queue of scheduled recaps."""
    from functions.recap.schedule import task_of  # noqa: PLC0415 - a cold start

    with retry_on_error("recap.schedule-not-run"):
        service.recap_schedule.send(*task_of(task.data))


def sweep(service: "Service") -> None:
    """Settle recaps with a crashed call, and end overdue schedules.

    The next sweep retries errors.
    """
    for part in (service.crashed_recaps, service.schedule_sweep):
        try:
            part.sweep()
        except Exception as error:  # noqa: BLE001 - the text may contain personal data
            log.fault("recaps.not-swept", error)


def mail_events(service: "Service", request: flask.Request) -> flask.Response:
    """Record the delivery reports in a signed request from SendGrid (spec 4.10).

    The body is read only if the headers have a well-formed, recent signature. The response is 2xx
    once all reports are recorded. SendGrid repeats the request after a 503.
    """
    if request.method != "POST":
        return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, "Use POST.", Allow="POST")
    webhook, headers = service.mail_reports, dict(request.headers)
    has_keys = _has_keys(service)
    refused = partial(_not_verified, key=has_keys, signed=webhook.is_signed(headers))
    signature = webhook.signature(headers, service.clock.now())
    if not has_keys or signature is None:
        return refused()
    body = bounded_body(request, webhook.max_body_bytes)
    if body is None:
        text = f"Send at most {webhook.max_body_bytes} bytes."
        return text_answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
    if not webhook.is_genuine(signature, body):
        return refused()
    with _RECORDING:
        return _recorded(service, body)


def _recorded(service: "Service", body: bytes) -> flask.Response:
    reports = service.mail_reports.reports(body)
    if reports is None:
        log.warning("mail.unreadable", bytes=len(body))  # a retry would be malformed, too
        return text_answer(HTTPStatus.OK, "The body is not a list of delivery reports.")
    try:
        changed = service.delivery_report_recorder.record(reports)
    except Exception as error:  # noqa: BLE001 - the text may contain data: see `log.fault`
        log.fault("mail.not-recorded", error)
        text = "The delivery reports were not recorded. Retry."
        return text_answer(HTTPStatus.SERVICE_UNAVAILABLE, text)
    log.info("mail.events_recorded", events=len(reports), newStatuses=changed)
    return text_answer(HTTPStatus.OK, "Recorded.")


def _has_keys(service: "Service") -> bool:
    try:
        return bool(service.mail_reports.keys)
    except MisconfiguredError as error:
        log.fault("mail.unusable-key", error)
        return False


def _not_verified(*, key: bool, signed: bool) -> flask.Response:
    log.warning("mail.not-verified", key=key, signed=signed)
    return text_answer(HTTPStatus.FORBIDDEN, "The signature is invalid or expired.")
