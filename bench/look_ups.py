"""1,000 look-ups of preferences from 200 addresses, beside the smallest possible callable.

Every look-up counts its caller's address and reads a user: two calls of Firestore. The reference
answers at once, on the same `functions-framework` with as many threads. Seconds of CPU are those of
the functions' processes, user and system, without Firestore and the callers. They take turns.
"""

import http.client
import json
import statistics
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from google.cloud import firestore

from bench.figures import latencies
from bench.turns import tree_cpu
from emulator.environment import local_secrets
from functions.signed_links.limiter import MAX_CALLS, PERIOD
from functions.signed_links.token import TokenKeys
from tests.suite.process import FunctionProcess

ADDRESSES: Final = 200
TURNS: Final = 5
IN_FLIGHT: Final = 40
THREADS: Final = "80"
SMALLEST: Final = "bench/smallest_callable/main.py"

_CALL_SECONDS: Final = 60
_TURN_SECONDS: Final = 120.0
_REFUSED: Final = (429, "RESOURCE_EXHAUSTED")


@dataclass(frozen=True, slots=True)
class Caller:
    """A client: its address, and the token that it has."""

    address: str
    token: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call and its answer; `seconds` from the connection to the last byte."""

    status: int
    body: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Calls that were made `IN_FLIGHT` at a time, and what they took in all, in seconds."""

    calls: Sequence[Call]
    seconds: float
    cpu: float


def measure() -> Sequence[str]:
    """Print the figures; return the problems, in words."""
    secret = _secret()
    with (
        FunctionProcess("getEmailPreferences", THREADS=THREADS) as look_up,
        FunctionProcess("smallest", source=SMALLEST, THREADS=THREADS) as smallest,
    ):
        for process in (look_up, smallest):
            _turn(process, _callers(secret))  # warm
        callers = _callers(secret)
        pairs = [(_turn(look_up, callers), _turn(smallest, callers)) for _ in range(TURNS)]
        at_limit = _calls_in_one_hour(look_up, _callers(secret)[0])
    own, reference = zip(*pairs, strict=True)
    _print("look-ups", own)
    _print("smallest callable", reference)
    ratios = sorted(own_turn.cpu / smallest_turn.cpu for own_turn, smallest_turn in pairs)
    print(
        f"CPU of a look-up: {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        " times that of the smallest callable"
    )
    statuses = [call.status for call in at_limit]
    print(
        f"calls from one address in an hour: {statuses.count(200)} answered, then"
        f" {statuses[-1]} {_error(at_limit[-1])}"
    )
    return [*_problems(own), *_problems(reference), *_limit_problems(at_limit)]


def _print(name: str, turns: Sequence[Turn]) -> None:
    calls = [call for turn in turns for call in turn.calls]
    seconds = sum(turn.seconds for turn in turns)
    cpu = sum(turn.cpu for turn in turns) / len(calls)
    print(
        f"{name:<17}  {len(calls)} calls, {len(calls) / seconds:6.0f} /s,"
        f" {latencies([call.seconds for call in calls])}, {cpu * 1000:5.2f} ms of CPU each"
    )


def _problems(turns: Sequence[Turn]) -> Iterator[str]:
    statuses = Counter(call.status for turn in turns for call in turn.calls)
    if statuses != {200: ADDRESSES * TURNS}:
        yield f"look-ups: the answers are {dict(statuses)}"


def _limit_problems(calls: Sequence[Call]) -> Iterator[str]:
    *passed, last = calls
    if {call.status for call in passed} != {200} or (last.status, _error(last)) != _REFUSED:
        yield f"look-ups: {MAX_CALLS + 1} calls of an address are {[call.status for call in calls]}"


def _error(call: Call) -> str:
    return str(call.body.get("error", {}).get("status", ""))


def _calls_in_one_hour(function: FunctionProcess, caller: Caller) -> Sequence[Call]:
    """One call more than is allowed, one after the other, within one hour of the clock."""
    while True:
        began = time.time() // PERIOD.total_seconds()
        calls = [_call(function, caller) for _ in range(MAX_CALLS + 1)]
        if time.time() // PERIOD.total_seconds() == began:
            return calls


def _turn(function: FunctionProcess, callers: Sequence[Caller]) -> Turn:
    """One call of each, `IN_FLIGHT` at a time."""
    before, began = tree_cpu(function.pid), time.monotonic()
    with ThreadPoolExecutor(IN_FLIGHT) as threads:
        try:
            found = threads.map(lambda one: _call(function, one), callers, timeout=_TURN_SECONDS)
            calls = list(found)
        except TimeoutError:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return Turn(calls, time.monotonic() - began, tree_cpu(function.pid) - before)


def _call(function: FunctionProcess, caller: Caller) -> Call:
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", function.port, timeout=_CALL_SECONDS)
    body = json.dumps({"data": {"token": caller.token}})
    headers = {"Content-Type": "application/json", "X-Forwarded-For": caller.address}
    connection.request("POST", "/", body, headers)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    return Call(answer.status, found, time.monotonic() - began)


def _callers(secret: str) -> Sequence[Caller]:
    """Clients that have called nothing yet, each with a user's token."""
    db = firestore.Client()
    keys, now = TokenKeys([secret]), datetime.now(UTC)
    batch = db.batch()
    callers: list[Caller] = []
    network = f"2001:db8:{uuid.uuid4().hex[:4]}"
    for number in range(ADDRESSES):
        uid = f"user-{uuid.uuid4().hex[:12]}"
        preferences = {"recap": number % 2 == 0}
        user = {"email": f"{uid}@example.com", "emailPreferences": preferences}
        batch.set(db.collection("users").document(uid), user)
        callers.append(Caller(f"{network}:{number:x}::1", keys.issue(uid, now)))
    batch.commit(timeout=60)
    return callers


def _secret() -> str:
    return local_secrets.read()["EMAIL_PREFS_KEY"]
