"""Hostile calls get a code of the specification, never `internal` (spec 7; design 3.6).

`tests/unit/gcp/test_callables.py` has every malformed request; here some meet the real server.
Nothing that a callable is sent here may leave a traceback or a fault in its log.
"""

import ipaddress
import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from emulator.accounts import sign_in
from emulator.cloud.environment import parameters
from tests.suite.call import call, fetch
from tests.suite.process import FunctionProcess

PROTOCOL: Final = ("sendTestWebhook", "getEmailPreferences")
"""One for staff and one for anybody; `tests/unit/gcp/test_staff_call.py` holds that every callable
goes through the same two ways."""

JSON: Final = {"Content-Type": "application/json"}
BODY: Final = b'{"data":{"eventId":"none","token":"t","url":"https://example.com"}}'


@pytest.fixture(scope="module", params=PROTOCOL)
def process(request: pytest.FixtureRequest) -> Iterator[FunctionProcess]:
    """Start one callable of each kind, and check its log at the end."""
    with FunctionProcess(request.param) as function:
        yield function
        log = function.stop_and_read_output()
    assert not re.search("Traceback|callable.failed", log)


def send(
    process: FunctionProcess, body: Any = BODY, *, method: str = "POST", token: str | None = None
) -> tuple[int, str]:
    """Send one request as a superadmin or with `token`, and return status and body."""
    headers = JSON | {
        "Authorization": f"Bearer {token or sign_in('superadmin').id_token}",
        "X-Forwarded-For": str(ipaddress.IPv4Address(random.getrandbits(32))),
    }
    address = f"http://127.0.0.1:{process.port}/"
    return fetch(address, body, headers, method=method)[:2]


def test_a_hostile_request_gets_a_specified_code(process: FunctionProcess) -> None:
    """Design 3.6: half a body is `invalid-argument`, and the response to HEAD has no body."""
    assert send(process, method="HEAD") == (400, "")
    status, body = send(process, BODY[:-1])
    assert (status, json.loads(body)["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_an_invalid_token_gets_a_specified_code(process: FunctionProcess) -> None:
    """Spec 5: `unauthenticated`, but an anonymous endpoint ignores the token (spec 4.2)."""
    own, _ = send(process)
    assert send(process, token="x.y.z")[0] == {400: 401, 403: 403}[own]


def test_a_chunked_body_gets_a_specified_code(process: FunctionProcess) -> None:
    """HTTP allows chunks. The response is the same as for a body in one piece."""
    assert send(process, iter([BODY[:9], BODY[9:]])) == send(process)


def test_the_deployed_limit_on_calls() -> None:
    """Spec 8: `.env` limits a person's calls. Calls with unknown arguments do not count."""
    at_most = int(parameters()["STAFF_CALLS_AN_HOUR"])
    token = sign_in("superadmin").id_token
    wanted = {"eventId": "none", "url": "https://example.com"}
    unknown = call("sendTestWebhook", wanted | {"dryrun": True}, id_token=token)
    assert unknown.error[0] == "INVALID_ARGUMENT"
    for passed in range(2 * at_most + 1):  # noqa: B007 - the number of calls before the refusal
        called_at = datetime.now(UTC)
        answer = call("sendTestWebhook", wanted, id_token=token)
        if answer.error[0] == "RESOURCE_EXHAUSTED":
            break
    assert answer.error[0] == "RESOURCE_EXHAUSTED"
    assert at_most <= passed <= 2 * at_most  # twice, if a new hour begins meanwhile
    possible_from = datetime.fromisoformat(answer.body["error"]["details"]["possibleFrom"])
    assert timedelta(0) < possible_from - called_at <= timedelta(hours=1)
