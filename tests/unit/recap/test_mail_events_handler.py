"""Requests to `mailEvents` (spec 4.10)."""

import gzip
import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import flask
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from emulator.mailbox import signature_headers
from functions.handlers import recap_calls
from functions.mail.sendgrid_events import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    SendGridWebhook,
)
from tests.in_memory.through import Through, at_once
from tests.unit.mail.test_sendgrid_events import public
from tests.unit.recap.recap_fixture import At, RecapFixture, guest

KEY: Final = ec.generate_private_key(ec.SECP256R1())
APP: Final = flask.Flask(__name__)
REFUSED: Final = (403, "The signature is invalid or expired.\n")

Logged = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def fixture() -> RecapFixture:
    """Return a recap that was sent to two guests."""
    made = RecapFixture()
    made.guests(2)
    made.send()
    return made


@pytest.fixture
def logged(capfd: pytest.CaptureFixture[str]) -> Logged:
    """Return a function that returns the log lines so far."""
    return lambda: [
        line
        for line in map(json.loads, capfd.readouterr().out.splitlines())
        if line["message"].startswith("mail.")
    ]


def at(fixture: RecapFixture) -> int:
    """Return the time in the format of SendGrid."""
    return int(fixture.now.timestamp())


def delivered(fixture: RecapFixture) -> bytes:
    """Return SendGrid's reports of both emails."""
    return json.dumps(
        [
            {"email": person, "event": "delivered", **fixture.labels(person)}
            for person in (guest(0), guest(1))
        ]
    ).encode()


def post(
    fixture: RecapFixture,
    body: bytes,
    headers: dict[str, str] | None = None,
    through: Through = at_once,
    key: str = public(KEY),
    **request: Any,
) -> tuple[int, str]:
    """Post a request, signed unless `headers` differ, and return status and text of the answer."""
    fixture.parameters["sendgrid_webhook_key"] = key
    by = fixture.process(through)
    own = signature_headers(KEY, body, at(fixture)) if headers is None else headers
    with APP.test_request_context(**{"method": "POST", "data": body, "headers": own} | request):
        answer = recap_calls.mail_events(by, flask.request)
    return answer.status_code, answer.get_data(as_text=True)


def test_verified_statuses_are_recorded(fixture: RecapFixture, logged: Logged) -> None:
    """Answer after the record is written. A repetition a day later has no effect."""
    body = delivered(fixture)
    headers = signature_headers(KEY, body, at(fixture))
    logged()
    assert post(fixture, body, headers) == (200, "Recorded.\n")
    fixture.now += timedelta(hours=25)
    assert post(fixture, body, headers) == (200, "Recorded.\n")
    assert fixture.recap()["delivered"] == 2
    assert [(line["events"], line["newStatuses"]) for line in logged()] == [(2, 2), (2, 0)]


def test_every_request_that_does_not_verify_is_answered_the_same(
    fixture: RecapFixture, logged: Logged
) -> None:
    """An altered, foreign, late or unsigned request learns no reason."""
    body = delivered(fixture)
    good = signature_headers(KEY, body, at(fixture))
    other = ec.generate_private_key(ec.SECP256R1())
    logged()
    answers = {
        post(fixture, body + b" ", good),
        post(fixture, body, signature_headers(other, body, at(fixture))),
        post(fixture, body, signature_headers(KEY, body, at(fixture) - 25 * 3600 - 1)),
        post(fixture, body, {SIGNATURE_HEADER: good[SIGNATURE_HEADER]}),
        post(fixture, body, {TIMESTAMP_HEADER: good[TIMESTAMP_HEADER]}),
    }
    assert answers == {REFUSED}
    assert fixture.recap()["delivered"] == 0
    lines = logged()
    assert {line["message"] for line in lines} == {"mail.not-verified"}
    assert "example.com" not in repr(lines)


def test_a_body_that_does_not_verify_is_not_parsed(
    fixture: RecapFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's request must be cheap, and its answer has no details."""

    def parsed(_: SendGridWebhook, __: bytes) -> None:
        raise AssertionError

    monkeypatch.setattr(SendGridWebhook, "reports", parsed)
    assert post(fixture, delivered(fixture), {}) == REFUSED


def test_without_a_key_every_request_is_rejected(fixture: RecapFixture, logged: Logged) -> None:
    """The log distinguishes an empty parameter from an invalid key."""
    body = delivered(fixture)
    logged()
    for key in ("", "no key"):
        assert post(fixture, body, key=key) == REFUSED
    assert [line["message"] for line in logged()] == [
        "mail.not-verified",
        "mail.unusable-key",
        "mail.not-verified",
    ]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_post_is_accepted(fixture: RecapFixture, method: str) -> None:
    """Reject other methods even with a valid signature."""
    status, _ = post(fixture, delivered(fixture), method=method)
    assert status == 405
    assert fixture.recap()["delivered"] == 0


@pytest.mark.parametrize("told_length", [True, False])
def test_a_body_beyond_the_limit_is_not_read(fixture: RecapFixture, *, told_length: bool) -> None:
    """At most the limit is read, with and without a Content-Length."""
    body = b" " * SendGridWebhook.max_body_bytes + delivered(fixture)
    stream = io.BytesIO(body)
    request: dict[str, Any] = {}
    if not told_length:
        environ = {"wsgi.input_terminated": True}
        request = {"data": None, "input_stream": stream, "environ_overrides": environ}
    status, _ = post(fixture, body, **request)
    assert status == 413
    assert stream.tell() <= SendGridWebhook.max_body_bytes + 100_000
    assert fixture.recap()["delivered"] == 0


def test_a_signed_body_that_is_no_list_is_answered_200(
    fixture: RecapFixture, logged: Logged
) -> None:
    """A repetition would not be a list either."""
    body = gzip.compress(b"[]")
    logged()
    headers = signature_headers(KEY, body, at(fixture)) | {"Content-Encoding": "gzip"}
    assert post(fixture, body, headers) == (200, "The body is not a list of delivery reports.\n")
    assert [line["message"] for line in logged()] == ["mail.unreadable"]


def test_a_failed_record_is_answered_503(fixture: RecapFixture, logged: Logged) -> None:
    """SendGrid repeats the request. The log line contains no data of the report."""

    def away() -> None:
        raise ConnectionError(guest(0))

    body = delivered(fixture)
    logged()
    assert post(fixture, body, through=At("get batches", away)) == (
        503,
        "The delivery reports were not recorded. Retry.\n",
    )
    assert fixture.recap()["delivered"] == 0
    [line] = logged()
    assert line["message"] == "mail.not-recorded"
    assert "example.com" not in repr(line)
