"""Design 3.6 and 5: what a callable answers to requests that are not as they should be."""

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
from hypothesis import given
from hypothesis import strategies as st
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
    """`handler` as a deployed callable."""
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
    """Answer with the parameters."""
    return call.data


ECHO = serve(echo)


def unsigned(algorithm: str = "none", **claims: object) -> str:
    """An ID token that nobody has signed."""
    parts = [json.dumps(part).encode() for part in ({"alg": algorithm}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


def error_of(answer: TestResponse) -> tuple[int, str, str]:
    """HTTP status, status and message of an error body that holds nothing else."""
    body = answer.get_json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"status", "message"}
    return answer.status_code, body["error"]["status"], body["error"]["message"]


def test_result() -> None:
    """Spec 1: parameters come under `data`, the result goes back under `result`."""
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
def test_whole_numbers_of_native_sdks(sent: object, read: object) -> None:
    """Wrapped numbers and integral floats are integers; anything else stays as it was sent."""
    nested = {"data": {"days": sent, "list": [sent]}}
    answer = serve(echo).post("/", data=json.dumps(nested), headers=JSON)
    expected = sent if read is None else read
    result = answer.get_json()["result"]
    assert result == {"days": expected, "list": [expected]}
    assert type(result["days"]) is type(expected)


def test_manifest_entry() -> None:
    """The deployment manifest still has what `on_call` declared."""
    deployed = anonymous_callable(region="us-central1", memory=512)(echo)
    entry = deployed.__firebase_endpoint__
    assert (entry.entryPoint, entry.region, entry.availableMemoryMb) == (
        "echo",
        ["us-central1"],
        512,
    )
    assert entry.callableTrigger == {}
    assert deployed.__name__ == "echo"


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
def test_malformed_body(body: bytes, hint: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Design 3.6: a malformed body is `invalid-argument`; the message says what to change."""
    code, status, message = error_of(serve(echo).post("/", data=body, headers=JSON))
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert hint in message
    assert capfd.readouterr() == ("", "")


def test_a_body_in_chunks_that_is_too_long() -> None:
    """Design 3.6: it is not cut off and read all the same, though its length comes last."""
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
def test_a_body_that_is_nested_deeply(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design 3.6: it is `invalid-argument`, also where a body may be long."""
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
def test_wrong_request(method: str, content_type: str, hint: str) -> None:
    """Spec 4: every endpoint uses POST and `application/json`."""
    answer = serve(echo).open(
        "/", method=method, data='{"data": {}}', headers={"Content-Type": content_type}
    )
    code, status, message = error_of(answer)
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert hint in message


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
def test_charset(content_type: str) -> None:
    """What SDKs and browsers add to the content type changes nothing."""
    answer = serve(echo).post("/", data='{"data": 1}', headers={"Content-Type": content_type})
    assert answer.get_json() == {"result": 1}


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    """No body makes anything but a result or `invalid-argument`."""
    assert ECHO.post("/", data=body, headers=JSON).status_code in (200, 400)


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
def test_error_codes(code: Code, http: int) -> None:
    """Design 3.6: the codes of spec 7, as the callable protocol has them."""

    def refuse(_: Call) -> None:
        raise CallError(code, "change this")

    answer = serve(refuse).post("/", data='{"data": {}}', headers=JSON)
    assert error_of(answer) == (http, code.value.upper().replace("-", "_"), "change this")


def test_unforeseen_fault(capfd: pytest.CaptureFixture[str]) -> None:
    """A fault of ours is `internal`; its text, which may hold data, is told to nobody."""

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


def test_result_that_is_no_json(capfd: pytest.CaptureFixture[str]) -> None:
    """A result that cannot be written as JSON is a fault of ours too."""
    answer = serve(lambda _: object()).post("/", data='{"data": {}}', headers=JSON)
    assert error_of(answer)[:2] == (500, "INTERNAL")
    assert "callable.failed" in capfd.readouterr().out


def test_preflight() -> None:
    """A browser's preflight is answered, with the headers that `httpsCallable` sends allowed."""
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
def test_cross_origin_answer(body: str) -> None:
    """A page of another origin may read results and errors alike."""
    headers = JSON | {"Origin": "https://wall.example.com"}
    answer = serve(echo).post("/", data=body, headers=headers)
    assert answer.headers["Access-Control-Allow-Origin"] in ("*", "https://wall.example.com")


@pytest.mark.parametrize("header", ["Bearer stale", "Bearer a.b.c", "Basic xyz", "Bearer", "é"])
def test_anonymous_with_authorization(header: str) -> None:
    """An anonymous endpoint ignores any header `Authorization`."""
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
        f"Bearer {unsigned(aud='x', iss='x', sub='u')}",  # of another project
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
def test_signed_in_without_valid_token(
    header: str | None,
    emulator: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Spec 7.1: without a valid ID token the call is `unauthenticated`; the log has no token."""
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", emulator)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "demo-wall")
    headers = JSON | ({} if header is None else {"Authorization": header})
    answer = serve(echo, STAFF_ONLY).post("/", data='{"data": 1}', headers=headers)
    assert error_of(answer)[:2] == (401, "UNAUTHENTICATED")
    assert capfd.readouterr() == ("", "")


class Counting(io.BytesIO):
    """A body that counts the bytes read of it."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        """Read, and count."""
        chunk = super().read(size)
        self.taken += len(chunk)
        return chunk

    def readinto(self, buffer: Any) -> int:
        """Read into `buffer`, and count."""
        taken = super().readinto(buffer)
        self.taken += taken
        return taken


@pytest.mark.parametrize("length", ["31000000", "7", "1", None])
@pytest.mark.parametrize("protocol", [anonymous_callable, STAFF_ONLY])
def test_a_long_body_is_not_read(length: str | None, protocol: Any) -> None:
    """At most a megabyte is dropped beyond the limit, with a right or wrong length."""
    body = Counting(b'{"data": "' + b"x" * 31_000_000)
    environ = {"wsgi.input": body, "wsgi.input_terminated": True}
    if length:
        environ["CONTENT_LENGTH"] = length
    answer = serve(echo, protocol).post("/", headers=JSON, environ_overrides=environ)
    assert error_of(answer)[:2] in ((400, "INVALID_ARGUMENT"), (401, "UNAUTHENTICATED"))
    assert body.taken <= 1_048_576 + MAX_BODY_BYTES
