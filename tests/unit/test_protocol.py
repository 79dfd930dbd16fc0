"""Spec 4 and 5: each callable of `main.py` goes through this project's own protocol."""

import re
from pathlib import Path
from typing import Final

import flask
import pytest

import main

CALLABLES: Final = re.findall(
    r"^@https_fn\.on_call\(.*?^def (\w+)\(",
    (Path(__file__).parents[2] / "main.py").read_text(),
    re.DOTALL | re.MULTILINE,
)
ANONYMOUS: Final = {
    "getEmailPreferences",
    "updateEmailPreferences",
    "getWebhookLog",
    "resendSharedWebhook",
}


def error_of(name: str, body: bytes) -> str:
    """The code with which the callable `name` answers a call by nobody."""
    app = flask.Flask("worker")
    with app.test_request_context(method="POST", data=body, content_type="application/json"):
        answer: flask.Response = getattr(main, name)(flask.request)
    code: str = answer.get_json()["error"]["status"]
    return code


@pytest.mark.parametrize("name", sorted(ANONYMOUS))
def test_a_malformed_body_is_no_fault_of_ours(name: str) -> None:
    """Design 3.6: the SDK alone answers `internal`."""
    assert error_of(name, b"{") == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", sorted(set(CALLABLES) - ANONYMOUS))
def test_nobody_is_refused(name: str) -> None:
    """Spec 5: a caller shows an ID token first, unless the link is the proof."""
    for body in (b"{", b'{"data": {}}'):
        assert error_of(name, body) == "UNAUTHENTICATED"


def test_anonymous_callables_are_callables() -> None:
    """A name that is not declared would let another one through."""
    assert set(CALLABLES) > ANONYMOUS
