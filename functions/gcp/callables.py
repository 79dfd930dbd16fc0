"""Server side of the callable protocol, for `httpsCallable` of the Firebase SDKs (spec 1, 4, 7).

https://firebase.google.com/docs/functions/callable-reference

The SDK's `on_call` creates the entry in the manifest, and the decorators of this module serve the
requests. firebase-functions 0.6.0 itself answers a malformed body with `internal` and logs a
traceback, logs rejected bodies and tokens, and rejects anonymous calls with an expired ID token.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NoReturn

import firebase_admin
import flask
from firebase_admin import auth
from firebase_functions.https_fn import on_call
from flask_cors import cross_origin
from werkzeug.exceptions import BadRequest

from functions import cache, log
from functions.call.caller import Caller, Role, staff
from functions.call.errors import CallError, Code, refuse
from functions.gcp.request import bounded_body

MAX_BODY_BYTES: Final = 100_000
"""Maximum size of a body: twice the longest valid body of any function. A parsed body needs up to
twenty times its size in memory, and an instance serves 80 bodies concurrently."""

MAX_ANONYMOUS_BYTES: Final = 6_000
"""Maximum size of an anonymous body: the longest token (spec 8), with a margin."""

CLOCK_SKEW_SECONDS: Final = 10
"""Tolerated difference between the clocks of Google's sign-in and of this instance."""

STATUS: Final[Mapping[Code, HTTPStatus]] = {
    Code.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    Code.FAILED_PRECONDITION: HTTPStatus.BAD_REQUEST,
    Code.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Code.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    Code.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Code.ABORTED: HTTPStatus.CONFLICT,
    Code.RESOURCE_EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
    Code.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto"""

_FAULT: Final = "Something went wrong on our side. Try again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An anonymous call: the deployed name of its function, its arguments and its request."""

    function: str
    data: Any
    request: flask.Request


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffCall(Call):
    """A call by staff, with the `claims` of the ID token."""

    caller: Caller
    claims: Mapping[str, Any]


def anonymous_callable(**options: Any) -> Callable[[Callable[[Call], Any]], Any]:
    """Declare a callable for anonymous callers, with the SDK's `options`.

    The header `Authorization` is ignored.
    """

    def call_of(request: flask.Request, function: str) -> Call:
        data = _data(request, MAX_ANONYMOUS_BYTES)
        return Call(function=function, data=data, request=request)

    return functools.partial(_declared, options, call_of)


def staff_callable(
    roles: frozenset[Role], **options: Any
) -> Callable[[Callable[[StaffCall], Any]], Any]:
    """Declare a callable for callers with a valid ID token and one of `roles`.

    Other calls are rejected before the body is read.

    The order of the checks is (design 3.3): ID token, role, and in the handler the arguments, the
    rate limit, and the checks of the use case.
    """

    def staff_call_of(request: flask.Request, function: str) -> StaffCall:
        claims = _claims(request)
        caller = staff(claims["uid"], claims, roles)
        data = _data(request, MAX_BODY_BYTES)
        return StaffCall(
            function=function, data=data, request=request, caller=caller, claims=claims
        )

    return functools.partial(_declared, options, staff_call_of)


def _declared(
    options: Mapping[str, Any],
    call_of: Callable[[flask.Request, str], Call],
    handler: Callable[[Any], Any],
) -> Any:
    """Return a function with the SDK's manifest entry for `handler` and this module's protocol."""

    # Same settings as the SDK: every site may call, because no cookies are used.
    @cross_origin(methods="POST", origins="*")
    @functools.wraps(handler)
    def serve(request: flask.Request) -> flask.Response:
        try:
            answer = flask.jsonify(result=handler(call_of(request, handler.__name__)))
        except CallError as refused:
            answer = _error(refused)
        except BadRequest as malformed:
            answer = _error(CallError(Code.INVALID_ARGUMENT, str(malformed.description)))
        except Exception as error:  # noqa: BLE001 - the text may contain data: see `log.fault`
            log.fault("callable.failed", error, function=handler.__name__)
            answer = _error(CallError(Code.INTERNAL, _FAULT))
        answer.headers["Cache-Control"] = "no-store"  # responses are personal
        return answer

    serve.__firebase_endpoint__ = on_call(**options)(handler).__firebase_endpoint__  # type: ignore[attr-defined]
    return serve


def _error(refused: CallError) -> flask.Response:
    status = refused.code.upper().replace("-", "_")
    details = {"details": dict(refused.details)} if refused.details else {}
    answer = flask.jsonify(error={"status": status, "message": refused.message, **details})
    answer.status_code = STATUS[refused.code]
    return answer


def _data(request: flask.Request, max_bytes: int) -> Any:
    """Return the value of `data` in the request's body of at most `max_bytes`.

    Raises:
        CallError: `invalid-argument`, with instructions in the message.
    """
    body = bounded_body(request, max_bytes)
    if request.method != "POST":
        refuse("Send the request with the method POST.")
    if request.mimetype != "application/json":
        refuse("Send the header Content-Type: application/json.")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        refuse("Encode the body as UTF-8.")
    if body is None:
        refuse(f"Send a body of at most {max_bytes} bytes.")
    parsed = _parsed(body)
    if not isinstance(parsed, dict) or "data" not in parsed:
        refuse('Send a JSON object with the parameters in the key "data".')
    if len(parsed) > 1:
        refuse('Send a JSON object with "data" as its only key. Put the parameters inside "data".')
    return parsed["data"]


def _parsed(body: bytes) -> Any:
    try:
        parsed = json.loads(
            body.decode("utf-8-sig"),
            object_hook=_whole_number,
            parse_float=_number,
            parse_constant=_refuse_constant,
        )
        # JSON may contain a lone escaped surrogate, which is not valid text.
        json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeError:
        refuse("Encode the body as UTF-8, without incomplete characters.")
    except RecursionError:
        refuse("The body is nested too deeply.")
    except ValueError:
        refuse("The body is not valid JSON.")
    return parsed


_WHOLE_NUMBERS: Final = {
    "type.googleapis.com/google.protobuf.Int64Value": range(-(2**63), 2**63),
    "type.googleapis.com/google.protobuf.UInt64Value": range(2**64),
}
"""Integer types that the native SDKs send as objects, because JavaScript's numbers are less exact.
https://firebase.google.com/docs/functions/callable-reference#serialization"""

_DIGITS: Final = re.compile(r"-?[0-9]{1,20}")


def _whole_number(fields: dict[str, Any]) -> Any:
    """Return the integer in `fields`, or `fields` itself if it is not a wrapped integer."""
    kind, value = fields.get("@type"), fields.get("value")
    if not isinstance(kind, str) or kind not in _WHOLE_NUMBERS or len(fields) > 2:  # noqa: PLR2004 - the type and the value
        return fields
    is_text = isinstance(value, str) and _DIGITS.fullmatch(value)
    number: Any = int(str(value)) if is_text else value
    is_whole = type(number) is int and number in _WHOLE_NUMBERS[kind]  # a bool is an int
    return number if is_whole else fields


def _number(digits: str) -> int | float:
    """Return an integral number such as `3.0` as an integer."""
    number = float(digits)
    return int(number) if number.is_integer() else number


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError  # NaN and Infinity are not JSON


def _claims(request: flask.Request) -> Mapping[str, Any]:
    """Return the claims, including `uid`, of the ID token in the `Authorization` header (spec 5).

    Raises:
        CallError: `unauthenticated`.
        Exception: The public keys for tokens could not be fetched.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not scheme:
        _unauthenticated("Sign in and send the header Authorization: Bearer <ID token>.")
    if scheme.lower() != "bearer":
        _unauthenticated("Send the ID token in the header Authorization: Bearer <ID token>.")
    app = _app()
    try:
        claims: Mapping[str, Any] = auth.verify_id_token(
            token.strip(), app=app, clock_skew_seconds=CLOCK_SKEW_SECONDS
        )
    # The library raises other errors for empty tokens, unusual claims and deeply nested tokens.
    except (auth.InvalidIdTokenError, ValueError, TypeError, RecursionError):
        _unauthenticated("The ID token is invalid or expired. Sign in again.")
    return claims


def _unauthenticated(message: str) -> NoReturn:
    raise CallError(Code.UNAUTHENTICATED, message) from None


@cache.once
def _app() -> firebase_admin.App:
    """Return the app. Created lazily, because a deploy reads `main.py` without credentials."""
    return firebase_admin.initialize_app(name="callables")
