"""Design 3.6 and 5: the callable protocol, and its errors for malformed requests."""

import base64
import gzip
import io
import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import flask
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from functions.call.caller import STAFF
from functions.call.errors import CallError, Code
from functions.gcp import callables
from functions.gcp.callables import (
    MAX_ANONYMOUS_BYTES,
    MAX_BODY_BYTES,
    Call,
    anonymous_callable,
    staff_callable,
)

JSON = {"Content-Type": "application/json"}
PRIVATE = "guest@example.com"


STAFF_ONLY: Final = partial(staff_callable, STAFF)


def serve(handler: Callable[[Call], Any], protocol: Any = anonymous_callable) -> FlaskClient:
    """Return a client of `handler` as a deployed callable."""
    deployed = protocol(region="us-central1")(handler)
    app = flask.Flask("worker")
    methods = ["GET", "POST", "PUT", "OPTIONS", "POSTS"]
    app.add_url_rule(
        "/",
        endpoint="run",
        view_func=lambda: deployed(flask.request),
        methods=methods,
        provide_automatic_options=False,
    )
    return app.test_client()


def echo(call: Call) -> Any:
    """Return the parameters."""
    return call.data


def unsigned(algorithm: str = "none", **claims: object) -> str:
    """Return an ID token without a signature."""
    parts = [json.dumps(part).encode() for part in ({"alg": algorithm}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


def error_of(answer: TestResponse) -> tuple[int, str, str]:
    """Return HTTP status, status and message of an error body without other fields."""
    body = answer.get_json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"status", "message"}
    return answer.status_code, body["error"]["status"], body["error"]["message"]


def test_the_result_is_in_the_field_result() -> None:
    """Spec 1: the parameters are in the field `data`."""
    answer = serve(echo).post("/", data='{"data": {"a": [1, null, "ü"]}}', headers=JSON)
    assert (answer.status_code, answer.get_json()) == (200, {"result": {"a": [1, None, "ü"]}})


INT64: Final = "type.googleapis.com/google.protobuf.Int64Value"
UINT64: Final = "type.googleapis.com/google.protobuf.UInt64Value"


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"@type": INT64, "value": "3"}, 3),
        ({"@type": INT64, "value": "-9223372036854775808"}, -(2**63)),
        ({"@type": UINT64, "value": "18446744073709551615"}, 2**64 - 1),
        ({"@type": INT64, "value": 7}, 7),
        ({"@type": INT64, "value": "9223372036854775808"}, None),
        ({"@type": UINT64, "value": "-1"}, None),
        ({"@type": INT64, "value": "3.0"}, None),
        ({"@type": INT64, "value": True}, None),
        ({"@type": INT64}, None),
        ({"@type": "another", "value": "3"}, None),
        (3.0, 3),
        (-2.0, -2),
        (3.5, 3.5),
    ],
)
def test_wrapped_numbers_and_integral_floats_are_integers(sent: object, read: object) -> None:
    """Native SDKs wrap 64-bit numbers. Any other value is unchanged."""
    nested = {"data": {"days": sent, "list": [sent]}}
    answer = serve(echo).post("/", data=json.dumps(nested), headers=JSON)
    expected = sent if read is None else read
    result = answer.get_json()["result"]
    assert result == {"days": expected, "list": [expected]}
    assert type(result["days"]) is type(expected)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b"", "valid JSON"),
        (b"{", "valid JSON"),
        (b'{"data": NaN}', "valid JSON"),
        (b'{"data": Infinity}', "valid JSON"),
        (b'{"data": ' + b"9" * 5000 + b"}", "valid JSON"),
        (b'{"data":{}}{"data":{}}', "valid JSON"),
        (b'{"data":{"eventId":-Infinity}}', "valid JSON"),
        (b"null", '"data"'),
        (b"[]", '"data"'),
        (b"{}", '"data"'),
        (b'{"Data": {}}', '"data"'),
        (b'{"data": {}, "eventId": "e1"}', "only key"),
        (b'{"data": "\xff"}', "UTF-8"),
        ('{"data": "ü"}'.encode("latin-1"), "UTF-8"),
        ('{"data": {}}'.encode("utf-16"), "UTF-8"),
        (b'{"data": "\xed\xa0\x80"}', "UTF-8"),
        (gzip.compress(b'{"data": {}}', mtime=0), "UTF-8"),
        (b'{"data": "\\ud83d"}', "incomplete characters"),
        (b'{"data": {"\\ud800": 1}}', "incomplete characters"),
        (b'{"data": "' + b"x" * MAX_ANONYMOUS_BYTES + b'"}', "at most 6000"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_malformed_body_is_an_invalid_argument(
    body: bytes, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Design 3.6: the message names the correct form."""
    code, status, message = error_of(serve(echo).post("/", data=body, headers=JSON))
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert hint in message
    assert capfd.readouterr() == ("", "")


def test_a_chunked_body_that_is_too_long_is_rejected() -> None:
    """Design 3.6: its length is unknown at the start, and a truncated body must not count."""
    body = b'{"data": {}}' + b" " * MAX_ANONYMOUS_BYTES
    answer = serve(echo).post(
        "/",
        input_stream=io.BytesIO(body),
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
        headers=JSON,
    )
    assert "at most 6000" in error_of(answer)[2]


@pytest.mark.parametrize(
    "body", [b"[" * 40_000 + b"]" * 40_000, b'{"a":' * 15_000 + b"1" + b"}" * 15_000]
)
def test_a_deeply_nested_body_is_rejected(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design 3.6: it is `invalid-argument`, even if the function allows long bodies."""
    monkeypatch.setattr(callables, "MAX_ANONYMOUS_BYTES", MAX_BODY_BYTES)
    answer = serve(echo).post("/", data=b'{"data": ' + body + b"}", headers=JSON)
    assert "nested" in error_of(answer)[2]


@pytest.mark.parametrize(
    ("method", "content_type", "hint"),
    [
        ("GET", "application/json", "POST"),
        ("PUT", "application/json", "POST"),
        ("POSTS", "application/json", "POST"),
        ("POST", "text/plain", "Content-Type"),
        ("POST", "application/x-www-form-urlencoded", "Content-Type"),
        ("POST", "", "Content-Type"),
        ("POST", "multipart/form-data", "Content-Type"),
        ("POST", "application/json, text/plain", "Content-Type"),
        ("POST", ";;;===", "Content-Type"),
        ("POST", "application/json; charset=utf-16", "UTF-8"),
        ("POST", "application/json; charset=nonsense", "UTF-8"),
        ("POST", "application/json; charset=latin-1", "UTF-8"),
    ],
)
def test_a_request_must_be_a_post_of_json_in_utf_8(
    method: str, content_type: str, hint: str
) -> None:
    """See spec 4."""
    answer = serve(echo).open(
        "/", method=method, data='{"data": {}}', headers={"Content-Type": content_type}
    )
    code, status, message = error_of(answer)
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert hint in message


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
def test_the_content_type_can_have_a_charset(content_type: str) -> None:
    """SDKs and browsers add it."""
    answer = serve(echo).post("/", data='{"data": 1}', headers={"Content-Type": content_type})
    assert answer.get_json() == {"result": 1}


@pytest.mark.parametrize(
    ("code", "http"),
    [
        (Code.INVALID_ARGUMENT, 400),
        (Code.UNAUTHENTICATED, 401),
        (Code.PERMISSION_DENIED, 403),
        (Code.NOT_FOUND, 404),
        (Code.ABORTED, 409),
        (Code.RESOURCE_EXHAUSTED, 429),
        (Code.INTERNAL, 500),
    ],
)
def test_each_code_has_its_http_status(code: Code, http: int) -> None:
    """Design 3.6: the codes are those of spec 7 in the callable protocol."""

    def refuse(_: Call) -> None:
        raise CallError(code, "change this")

    answer = serve(refuse).post("/", data='{"data": {}}', headers=JSON)
    assert error_of(answer) == (http, code.value.upper().replace("-", "_"), "change this")


def test_a_fault_is_internal_and_its_text_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    """The text of an exception can contain personal data."""

    def fail(_: Call) -> None:
        raise KeyError(PRIVATE)

    answer = serve(fail).post("/", data='{"data": {}}', headers=JSON)
    out, err = capfd.readouterr()
    code, status, message = error_of(answer)
    assert (code, status) == (500, "INTERNAL")
    assert PRIVATE not in message + out + err
    line = json.loads(out)
    assert (line["severity"], line["message"]) == ("ERROR", "callable.failed")
    assert (line["exception"], line["function"]) == ("builtins.KeyError", "fail")
    assert line["at"].startswith("functions.gcp.callables:")


def test_a_result_that_is_not_json_is_internal(capfd: pytest.CaptureFixture[str]) -> None:
    """It is a fault of the service."""
    answer = serve(lambda _: object()).post("/", data='{"data": {}}', headers=JSON)
    assert error_of(answer)[:2] == (500, "INTERNAL")
    assert "callable.failed" in capfd.readouterr().out


def test_a_preflight_allows_the_headers_of_httpscallable() -> None:
    """Browsers send a preflight for calls from another origin."""
    answer = serve(echo, STAFF_ONLY).options(
        "/",
        headers={
            "Origin": "https://wall.example.com",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type",
        },
    )
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] in ("*", "https://wall.example.com")
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert answer.headers["Access-Control-Allow-Headers"] == "authorization, content-type"


@pytest.mark.parametrize("body", ['{"data": {}}', "{"])
def test_results_and_errors_can_be_read_from_another_origin(body: str) -> None:
    """The app's page can be on another origin."""
    headers = JSON | {"Origin": "https://wall.example.com"}
    answer = serve(echo).post("/", data=body, headers=headers)
    assert answer.headers["Access-Control-Allow-Origin"] in ("*", "https://wall.example.com")


@pytest.mark.parametrize("header", ["Bearer stale", "Bearer a.b.c", "Basic xyz", "Bearer", "é"])
def test_an_anonymous_callable_ignores_authorization(header: str) -> None:
    """SDKs add the header if the user is signed in."""
    headers = JSON | {"Authorization": header}
    answer = serve(echo).post("/", data='{"data": 1}', headers=headers)
    assert answer.get_json() == {"result": 1}


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic xyz",
        "Bearer no-token",
        "x",
        "Bearer x.y",
        "Bearer ..",
        "Bearer a.b.c",
        "Bearer a.b.c.d",
        "Bearer x, Bearer y",
        "Bearer bnVsbA.bnVsbA.",  # its parts are null
        f"Bearer {unsigned(aud='x', iss='x', sub='u')}",  # for another project
        f"Bearer {unsigned(aud=[], iss={}, sub=1, exp='x')}",
        "Bearer W10.W10.W10",  # its parts are lists
        "Bearer MQ.MQ.MQ",  # its parts are numbers
        "Bearer e30.e30.e30",  # its parts are empty objects
        f"Bearer e30.{'W1tb' * 1000}.e30",  # its payload is nested 3,000 deep
        f"Bearer {unsigned('HS256', v=0, d=5)}",  # nearly Firebase's first kind of token
        "Bearer " + "é",
    ],
)
@pytest.mark.parametrize("emulator", ["127.0.0.1:9", ""])
def test_a_call_of_staff_needs_a_valid_id_token(
    header: str | None,
    emulator: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Spec 7.1: the code is `unauthenticated`. The log contains no token."""
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", emulator)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "demo-wall")
    headers = JSON | ({} if header is None else {"Authorization": header})
    answer = serve(echo, STAFF_ONLY).post("/", data='{"data": 1}', headers=headers)
    assert error_of(answer)[:2] == (401, "UNAUTHENTICATED")
    assert capfd.readouterr() == ("", "")


class Counting(io.BytesIO):
    """A body that counts its bytes that were read."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        """Read and count."""
        chunk = super().read(size)
        self.taken += len(chunk)
        return chunk

    def readinto(self, buffer: Any) -> int:
        """Read into `buffer` and count."""
        taken = super().readinto(buffer)
        self.taken += taken
        return taken


@pytest.mark.parametrize("length", ["31000000", "7", "1", None])
@pytest.mark.parametrize("protocol", [anonymous_callable, STAFF_ONLY])
def test_at_most_a_megabyte_over_the_limit_is_read(length: str | None, protocol: Any) -> None:
    """This holds for right, wrong and missing lengths."""
    body = Counting(b'{"data": "' + b"x" * 31_000_000)
    environ = {"wsgi.input": body, "wsgi.input_terminated": True}
    if length:
        environ["CONTENT_LENGTH"] = length
    answer = serve(echo, protocol).post("/", headers=JSON, environ_overrides=environ)
    assert error_of(answer)[:2] in ((400, "INVALID_ARGUMENT"), (401, "UNAUTHENTICATED"))
    assert body.taken <= 1_048_576 + MAX_BODY_BYTES
