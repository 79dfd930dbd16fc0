"""Hostile calls get a code of the specification, never `internal` (spec 7; design 3.6).

`tests/unit/gcp/test_callables.py` has every malformed request; here some meet the real server.
Nothing that a callable is sent here may leave a traceback or a fault in its log.
"""

import http.client
import itertools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from emulator.people import sign_in
from tests.suite.call import call
from tests.suite.process import FunctionProcess
from tests.unit.contract.hostile_arguments import NAMES, VALUES

ROOT: Final = Path(__file__).parents[3]
ENV: Final = (ROOT / ".env").read_text()
MAIN: Final = (ROOT / "main.py").read_text()
CALLABLES: Final = re.findall(
    r"^@https_fn\.on_call\(.*?^def (\w+)\(", MAIN, re.DOTALL | re.MULTILINE
)

PROTOCOL: Final = ("sendTestWebhook", "getEmailPreferences")
"""One for people who are signed in and one for anybody; `tests/unit/test_protocol.py` holds that
every callable goes through the same two ways."""

STATUS: Final = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
}
"""Codes of the specification, with the HTTP status of the callable protocol."""

JSON: Final = {"Content-Type": "application/json"}
BODY: Final = b'{"data":{"eventId":"none","token":"t","url":"https://example.com"}}'


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    body: bytes

    @property
    def code(self) -> str:
        """The error's code; it is checked that the answer is one of the callable protocol."""
        error = json.loads(self.body)["error"]
        assert error.keys() == {"status", "message"}
        assert error["message"]
        assert error["status"] in STATUS, error
        assert self.status == STATUS[error["status"]]
        code: str = error["status"]
        return code


class Called:
    """A callable in a process of its own, and a superadmin who may call it."""

    def __init__(self, name: str, **environment: Any) -> None:
        self.name = name
        self.process = FunctionProcess(name, **environment)
        self.token = sign_in("superadmin").id_token
        self._addresses = itertools.count()

    def send(
        self, method: str = "POST", body: Any = BODY, headers: dict[str, Any] | None = None
    ) -> Answer:
        """One request, from a client of its own."""
        number = next(self._addresses)
        given = {"X-Forwarded-For": f"198.51.{number // 256 % 256}.{number % 256}"}
        connection = http.client.HTTPConnection("127.0.0.1", self.process.port, timeout=60)
        try:
            connection.request(method, "/", body, given | (JSON if headers is None else headers))
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        finally:
            connection.close()

    def call(self, data: object) -> Answer:
        """A call that is well formed, by nobody in particular."""
        return self.send(body=json.dumps({"data": data}).encode())

    def signed_in(self) -> dict[str, str]:
        """The headers of a call by the superadmin."""
        return JSON | {"Authorization": f"Bearer {self.token}"}


@pytest.fixture(scope="module", params=PROTOCOL)
def called(request: pytest.FixtureRequest) -> Iterator[Called]:
    """A callable of each kind; its log is looked at in the end."""
    one = Called(request.param)
    yield one
    log = one.process.printed()
    assert "Traceback" not in log
    assert "callable.failed" not in log
    assert one.token not in log


def test_there_are_callables() -> None:
    """The list that the other tests go through is not empty."""
    assert "sendTestWebhook" in CALLABLES


def test_a_head_has_no_body(called: Called) -> None:
    """HTTP says so."""
    answer = called.send("HEAD", headers=called.signed_in())
    assert (answer.status, answer.body) == (400, b"")


def test_half_a_body(called: Called) -> None:
    """Design 3.6: `invalid-argument`."""
    half = called.send(body=BODY[:-1], headers=called.signed_in())
    assert half.code == "INVALID_ARGUMENT"


def test_another_token(called: Called) -> None:
    """Spec 5: `unauthenticated`; an anonymous endpoint does not look at it (spec 4.2)."""
    headers = JSON | {"Authorization": "Bearer x.y.z"}
    assert called.send(headers=headers).code == called.send().code


def test_a_body_in_chunks(called: Called) -> None:
    """HTTP allows it; the answer is the one to the same body in one piece."""
    whole = called.send(headers=called.signed_in())
    chunked = called.send(body=iter([BODY[:9], BODY[9:]]), headers=called.signed_in())
    assert chunked.code == whole.code


def test_the_deployed_limit_on_calls() -> None:
    """Spec 8: a person has the calls that `.env` says; a call with an unknown argument is none."""
    [at_most] = re.findall(r"^STAFF_CALLS_AN_HOUR=(\d+)$", ENV, re.MULTILINE)
    with FunctionProcess("sendTestWebhook", STAFF_CALLS_AN_HOUR=at_most) as function:
        at, token = f"http://127.0.0.1:{function.port}/", sign_in("superadmin").id_token
        wanted = {"eventId": "none", "url": "https://example.com"}
        unknown = call("sendTestWebhook", wanted | {"dryrun": True}, id_token=token, at=at)
        answers = [call("sendTestWebhook", wanted, id_token=token, at=at) for _ in range(121)]
    assert unknown.error[0] == "INVALID_ARGUMENT"
    passed = [answer.error[0] for answer in answers].index("RESOURCE_EXHAUSTED")
    assert int(at_most) <= passed <= 2 * int(at_most)  # twice, if a new hour begins meanwhile
    possible_from = datetime.fromisoformat(answers[passed].body["error"]["details"]["possibleFrom"])
    assert timedelta(0) < possible_from - datetime.now(UTC) <= timedelta(hours=1)


@pytest.mark.parametrize("name", CALLABLES)
def test_arguments_of_any_kind(name: str) -> None:
    """Spec 7: some mixtures; `tests/unit/contract` has each argument by itself, and many more."""
    chance = random.Random(20260501)  # noqa: S311 - the same mixtures every time
    token = sign_in("superadmin").id_token
    for number in range(20):
        data = {key: chance.choice(VALUES) for key in NAMES if chance.random() < 0.5}
        headers = {"X-Forwarded-For": f"198.51.100.{number}"}
        answer = call(name, data, id_token=token, headers=headers)
        assert answer.status == STATUS[answer.error[0]], data
