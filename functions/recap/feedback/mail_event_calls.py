"""The handler of `mailEvents`: the mail provider's requests, in the words of this package."""

import functools
import threading
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import flask

from functions import log
from functions.gcp.request import bounded_body
from functions.mail.outcome import MisconfiguredError, TrackingEvent

if TYPE_CHECKING:
    from functions.service import Service

_RECORDING: Final = threading.BoundedSemaphore(20)
"""Genuine requests at work at a time: parsing takes memory and CPU."""


def mail_events(service: "Service", request: flask.Request) -> flask.Response:
    """Record the tracking events in a signed request of the mail provider (spec 4.10).

    The body is read only where the headers are plausible. The answer is 2xx once everything is on
    record; after 503 the provider repeats the request.
    """
    if request.method != "POST":
        answer = _text(HTTPStatus.METHOD_NOT_ALLOWED, "Use POST.")
        answer.headers["Allow"] = "POST"
        return answer
    webhook, headers = service.mail_reports, dict(request.headers)
    has_keys = _has_keys(service)
    refused = functools.partial(_not_verified, key=has_keys, signed=webhook.is_signed(headers))
    signature = webhook.signature(headers, service.clock.now())
    if not has_keys or signature is None:
        return refused()
    body = bounded_body(request, webhook.max_body_bytes)
    if body is None:
        text = f"Send {webhook.max_body_bytes} bytes at most."
        return _text(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
    if not webhook.is_genuine(signature, body):
        return refused()
    with _RECORDING:
        events = webhook.events(body)
        if events is None:
            log.warning("mail.unreadable", bytes=len(body))  # a repetition would be unreadable too
            return _text(HTTPStatus.OK, "No list of events.")
        return _recorded(service, events)


def _recorded(service: "Service", events: Sequence[TrackingEvent]) -> flask.Response:
    try:
        changed = service.mail_events.record(events)
    except Exception as error:  # noqa: BLE001 - the text may hold data: see `log.fault`
        log.fault("mail.not-recorded", error)
        return _text(HTTPStatus.SERVICE_UNAVAILABLE, "Send it again.")
    log.info("mail.told", told=len(events), new=changed)
    return _text(HTTPStatus.OK, "Recorded.")


def _has_keys(service: "Service") -> bool:
    try:
        return bool(service.mail_reports.keys)
    except MisconfiguredError as error:
        log.fault("mail.unusable-key", error)
        return False


def _not_verified(*, key: bool, signed: bool) -> flask.Response:
    log.warning("mail.not-verified", key=key, signed=signed)
    return _text(HTTPStatus.FORBIDDEN, "Not signed with a key of this project, or not now.")


def _text(status: HTTPStatus, text: str) -> flask.Response:
    answer = flask.Response(f"{text}\n", status, mimetype="text/plain")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
