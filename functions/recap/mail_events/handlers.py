"""What the deployed function calls: from SendGrid's requests to the nouns of this package."""

from http import HTTPStatus
from typing import Final

import flask

from functions import log
from functions.gcp.request_body import bounded_body, hurry
from functions.mail.sendgrid_events import (
    MAX_BODY_BYTES,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    EventKeys,
    UnusableKeyError,
    told,
)
from functions.recap.mail_events import wiring

_REFUSED: Final = "Not signed with a key of this project, or not now."


def mail_events(request: flask.Request) -> flask.Response:
    """A request of SendGrid's signed Event Webhook (spec 4.10).

    The body is read only where the headers may be SendGrid's. Answers 2xx once everything is on
    record; after 503 SendGrid sends it again.
    """
    if request.method != "POST":
        hurry(request)
        answer = _text(HTTPStatus.METHOD_NOT_ALLOWED, "Use POST.")
        answer.headers["Allow"] = "POST"
        return answer
    keys = _keys()
    signature, timestamp = (
        request.headers.get(one, "") for one in (SIGNATURE_HEADER, TIMESTAMP_HEADER)
    )
    now = wiring.now()
    if not keys or not keys.plausible(signature, timestamp, now):
        hurry(request)
        return _not_verified(keys, signature, timestamp)
    body = bounded_body(request, MAX_BODY_BYTES)
    if body is None:
        return _text(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Send {MAX_BODY_BYTES} bytes at most.")
    if not keys.verify(signature, timestamp, body, now):
        return _not_verified(keys, signature, timestamp)
    return _recorded(body)


def _recorded(body: bytes) -> flask.Response:
    events = told(body)
    if events is None:
        log.warning("mail.unreadable", bytes=len(body))  # and would be, sent again
        return _text(HTTPStatus.OK, "No list of events.")
    try:
        news = wiring.mail_events().record(events)
    except Exception as error:  # noqa: BLE001 - whatever it is, it has to be told again
        log.fault("mail.not-recorded", error)
        return _text(HTTPStatus.SERVICE_UNAVAILABLE, "Send it again.")
    log.info("mail.told", told=len(events), new=news)
    return _text(HTTPStatus.OK, "Recorded.")


def _keys() -> EventKeys | None:
    try:
        return wiring.keys()
    except UnusableKeyError as error:
        log.fault("mail.unusable-key", error)
        return None


def _not_verified(keys: EventKeys | None, signature: str, timestamp: str) -> flask.Response:
    log.warning("mail.not-verified", key=bool(keys), signed=bool(signature and timestamp))
    return _text(HTTPStatus.FORBIDDEN, _REFUSED)


def _text(status: HTTPStatus, text: str) -> flask.Response:
    answer = flask.Response(f"{text}\n", status, mimetype="text/plain")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
