"""Spec 7.2 and 8: the limit under many calls at once, and what happens when Firestore is away.

The functions run in processes of their own, which the test cuts off from Firestore.
"""

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from google.cloud import firestore

from tests.suite.call import Answer, call
from tests.suite.process import FunctionProcess
from tests.suite.wire import Wire


@pytest.fixture
def start() -> Iterator[Callable[..., FunctionProcess]]:
    """Start functions with the suite's key; all are ended in the end."""
    started: list[FunctionProcess] = []

    def one(function: str, **environment: Any) -> FunctionProcess:
        process = FunctionProcess(function, **environment)
        started.append(process)
        return process

    yield one
    for process in started:
        process.kill()


def call_at(process: FunctionProcess, data: object, headers: dict[str, str]) -> Answer:
    """Call the function that `process` serves."""
    return call("", data, headers=headers, at=f"http://127.0.0.1:{process.port}/")


@pytest.mark.usefixtures("one_hour")
def test_two_hundred_calls_at_once(
    start: Callable[..., FunctionProcess], token: str, headers: dict[str, str]
) -> None:
    """Spec 8: of 200 calls at the same moment, to two instances, exactly 20 pass."""
    instances = [start("getEmailPreferences", THREADS="80") for _ in range(2)]
    for instance in instances:
        instance.dispatch({})  # both are warm
    with ThreadPoolExecutor(100) as pool:
        answers = list(
            pool.map(lambda n: call_at(instances[n % 2], {"token": token}, headers), range(200))
        )
    statuses = [answer.status for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (20, 180)
    assert not any("limiter.failed" in instance.printed() for instance in instances)


def test_firestore_refuses(
    start: Callable[..., FunctionProcess], uid: str, token: str, headers: dict[str, str]
) -> None:
    """Spec 7.2 and 8: the limiter lets calls through; the failed look-up is `internal`."""
    process = start("getEmailPreferences", FIRESTORE_EMULATOR_HOST="127.0.0.1:9")
    answer = call_at(process, {"token": token}, headers)
    assert (answer.status, answer.error[0]) == (500, "INTERNAL")
    assert call_at(process, {"token": "bad"}, headers).error[0] == "PERMISSION_DENIED"
    log = process.printed()
    assert '"severity": "WARNING", "message": "limiter.failed"' in log
    assert '"severity": "ERROR", "message": "preferences.not-read"' in log
    assert "Traceback" not in log
    assert uid not in log
    assert token not in log


def test_firestore_says_nothing(
    start: Callable[..., FunctionProcess], headers: dict[str, str]
) -> None:
    """Spec 8: a limiter that gets no answer lets calls through."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        process = start("getEmailPreferences", FIRESTORE_EMULATOR_HOST=host)
        assert call_at(process, {"token": "bad"}, headers).error[0] == "PERMISSION_DENIED"
        assert '"message": "limiter.failed"' in process.printed()


def test_firestore_comes_back(
    start: Callable[..., FunctionProcess],
    record: firestore.DocumentReference,
    token: str,
    headers: dict[str, str],
) -> None:
    """Calls during an outage are let through, up to a client's 20; after it, all is as before."""
    record.set({"email": f"{record.id}@example.com"})
    with Wire(os.environ["FIRESTORE_EMULATOR_HOST"]) as wire:
        process = start("getEmailPreferences", FIRESTORE_EMULATOR_HOST=wire.address)
        assert call_at(process, {"token": token}, headers).status == 200
        wire.cut()
        with ThreadPoolExecutor(15) as calls:  # each waits three seconds for its count
            outage = [calls.submit(call_at, process, {"token": "bad"}, headers) for _ in range(15)]
        assert [answer.result().status for answer in outage] == [403] * 15
        wire.mend()
        # The look-up is repeated until the connection stands again.
        assert (
            call_at(process, {"token": token}, headers).result["email"]
            == f"{record.id}@example.com"
        )


def test_no_key(start: Callable[..., FunctionProcess], headers: dict[str, str]) -> None:
    """Spec 7.2: a fault of our own is `internal`; neither answer nor log tells what was sent."""
    process = start("updateEmailPreferences", secrets={})
    data = {"token": "sent-by-somebody", "preferences": {"recap": False}}
    answer = call_at(process, data, headers)
    assert (answer.status, answer.error[0]) == (500, "INTERNAL")
    log = process.printed()
    assert '"message": "callable.failed"' in log
    assert "Traceback" not in log
    assert "sent-by-somebody" not in log + answer.error[1]
