"""Requests to `mailEvents` as they come from outside (spec 4.10)."""

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
    MAX_BODY_BYTES,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    SendGridWebhook,
)
from tests.in_memory.through import Through, at_once
from tests.unit.mail.test_sendgrid_events import public
from tests.unit.recap.parts import At, House, guest

KEY: Final = ec.generate_private_key(ec.SECP256R1())
APP: Final = flask.Flask(__name__)
REFUSED: Final = (403, "The signature is invalid or expired.\n")

Logged = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def house() -> House:
    """A recap that went to two guests, in the place of Firestore."""
    made = House()
    made.guests(2)
    made.send()
    return made


@pytest.fixture
def logged(capfd: pytest.CaptureFixture[str]) -> Logged:
    """Gives the log lines so far."""
    return lambda: [
        line
        for line in map(json.loads, capfd.readouterr().out.splitlines())
        if line["message"].startswith("mail.")
    ]


def at(house: House) -> int:
    """The time, as SendGrid writes it."""
    return int(house.now.timestamp())


def delivered(house: House) -> bytes:
    """News of both mails, with addresses, as SendGrid has them."""
    return json.dumps(
        [
            {"email": person, "event": "delivered", **house.labels(person)}
            for person in (guest(0), guest(1))
        ]
    ).encode()


def post(
    house: House,
    body: bytes,
    headers: dict[str, str] | None = None,
    through: Through = at_once,
    key: str = public(KEY),
    **request: Any,
) -> tuple[int, str]:
    """Status and text of the answer; signed as SendGrid signs unless `headers` say otherwise."""
    house.parameters["sendgrid_webhook_key"] = key
    by = house.process(through)
    own = signature_headers(KEY, body, at(house)) if headers is None else headers
    with APP.test_request_context(**{"method": "POST", "data": body, "headers": own} | request):
        answer = recap_calls.mail_events(by, flask.request)
    return answer.status_code, answer.get_data(as_text=True)


def test_verified_statuses_are_recorded(house: House, logged: Logged) -> None:
    """A signed request is answered once it is recorded; a day later it changes nothing."""
    body = delivered(house)
    headers = signature_headers(KEY, body, at(house))
    logged()
    assert post(house, body, headers) == (200, "Recorded.\n")
    house.now += timedelta(hours=25)
    assert post(house, body, headers) == (200, "Recorded.\n")
    assert house.recap()["delivered"] == 2
    assert [(line["events"], line["newStatuses"]) for line in logged()] == [(2, 2), (2, 0)]


def test_every_request_that_does_not_verify_is_answered_the_same(
    house: House, logged: Logged
) -> None:
    """An altered, foreign, late or unsigned request learns no reason."""
    body = delivered(house)
    good = signature_headers(KEY, body, at(house))
    other = ec.generate_private_key(ec.SECP256R1())
    logged()
    answers = {
        post(house, body + b" ", good),
        post(house, body, signature_headers(other, body, at(house))),
        post(house, body, signature_headers(KEY, body, at(house) - 25 * 3600 - 1)),
        post(house, body, {SIGNATURE_HEADER: good[SIGNATURE_HEADER]}),
        post(house, body, {TIMESTAMP_HEADER: good[TIMESTAMP_HEADER]}),
    }
    assert answers == {REFUSED}
    assert house.recap()["delivered"] == 0
    lines = logged()
    assert {line["message"] for line in lines} == {"mail.not-verified"}
    assert "example.com" not in repr(lines)


def test_a_body_that_does_not_verify_is_not_parsed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's request costs no parsing, and its answer tells nothing."""

    def parsed(_: SendGridWebhook, __: bytes) -> None:
        raise AssertionError

    monkeypatch.setattr(SendGridWebhook, "events", parsed)
    assert post(house, delivered(house), {}) == REFUSED


def test_without_a_key_everything_is_refused(house: House, logged: Logged) -> None:
    """The log tells an empty parameter from a parameter that is no key."""
    body = delivered(house)
    logged()
    for key in ("", "no key"):
        assert post(house, body, key=key) == REFUSED
    assert [line["message"] for line in logged()] == [
        "mail.not-verified",
        "mail.unusable-key",
        "mail.not-verified",
    ]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_post_is_taken(house: House, method: str) -> None:
    """Another method is refused, also where signature and body are right."""
    status, _ = post(house, delivered(house), method=method)
    assert status == 405
    assert house.recap()["delivered"] == 0


@pytest.mark.parametrize("told_length", [True, False])
def test_a_body_beyond_the_limit_is_not_read(house: House, *, told_length: bool) -> None:
    """At most the limit is read, with and without a Content-Length."""
    body = b" " * MAX_BODY_BYTES + delivered(house)
    stream = io.BytesIO(body)
    request: dict[str, Any] = {}
    if not told_length:
        environ = {"wsgi.input_terminated": True}
        request = {"data": None, "input_stream": stream, "environ_overrides": environ}
    status, _ = post(house, body, **request)
    assert status == 413
    assert stream.tell() <= MAX_BODY_BYTES + 100_000
    assert house.recap()["delivered"] == 0


def test_what_verifies_and_is_no_list_is_not_asked_for_again(house: House, logged: Logged) -> None:
    """A signed body that is no list is answered 200, since a repetition would be no list either."""
    body = gzip.compress(b"[]")
    logged()
    headers = signature_headers(KEY, body, at(house)) | {"Content-Encoding": "gzip"}
    assert post(house, body, headers) == (200, "The body is not a list of events.\n")
    assert [line["message"] for line in logged()] == ["mail.unreadable"]


def test_what_cannot_be_recorded_is_asked_for_again(house: House, logged: Logged) -> None:
    """After a failure the answer is 503, and the log line holds nothing of the report."""

    def away() -> None:
        raise ConnectionError(guest(0))

    body = delivered(house)
    logged()
    assert post(house, body, through=At("get batches", away)) == (
        503,
        "The events were not recorded. Retry.\n",
    )
    assert house.recap()["delivered"] == 0
    [line] = logged()
    assert line["message"] == "mail.not-recorded"
    assert "example.com" not in repr(line)
