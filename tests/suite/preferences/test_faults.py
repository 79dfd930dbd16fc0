"""Spec 7.2 and 8: the limit under many calls at once, and what happens when Firestore is away.

The functions run in processes of their own, which the test cuts off from Firestore.
"""

import json
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.secret_manager import DISABLED, SecretManager
from emulator.firebase import PROJECT
from functions.signed_links.token import KEY_BYTES, TokenKeys
from tests.suite.call import Answer
from tests.suite.process import FunctionProcess
from tests.suite.wire import Wire

PREFERENCES_KEY: Final = "EMAIL_PREFS_KEY"


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


def call(process: FunctionProcess, data: object, headers: dict[str, str]) -> Answer:
    """Call the function that `process` serves."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{process.port}/",
        json.dumps({"data": data}).encode(),
        {"Content-Type": "application/json"} | headers,
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - loopback
            return Answer(answer.status, json.load(answer))
    except urllib.error.HTTPError as refused:
        with refused:
            return Answer(refused.code, json.load(refused))


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
            pool.map(lambda n: call(instances[n % 2], {"token": token}, headers), range(200))
        )
    statuses = [answer.status for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (20, 180)
    assert not any("limiter.failed" in instance.printed() for instance in instances)


def test_firestore_refuses(
    start: Callable[..., FunctionProcess], uid: str, token: str, headers: dict[str, str]
) -> None:
    """Spec 7.2 and 8: the limiter lets calls through; the failed look-up is `internal`."""
    process = start("getEmailPreferences", FIRESTORE_EMULATOR_HOST="127.0.0.1:9")
    answer = call(process, {"token": token}, headers)
    assert (answer.status, answer.error[0]) == (500, "INTERNAL")
    assert call(process, {"token": "bad"}, headers).error[0] == "PERMISSION_DENIED"
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
        assert call(process, {"token": "bad"}, headers).error[0] == "PERMISSION_DENIED"
        assert '"message": "limiter.failed"' in process.printed()


def test_firestore_comes_back(
    start: Callable[..., FunctionProcess],
    record: firestore.DocumentReference,
    token: str,
    headers: dict[str, str],
) -> None:
    """Calls during an outage are let through, up to a client's 20; after it, all is as before."""
    record.set({"email": "guest@example.com"})
    with Wire(os.environ["FIRESTORE_EMULATOR_HOST"]) as wire:
        process = start("getEmailPreferences", FIRESTORE_EMULATOR_HOST=wire.address)
        assert call(process, {"token": token}, headers).status == 200
        wire.cut()
        outage = [call(process, {"token": "bad"}, headers).status for _ in range(15)]
        assert outage == [403] * 15
        wire.mend()
        # The look-up is repeated until the connection stands again.
        assert call(process, {"token": token}, headers).result["email"] == "guest@example.com"


@pytest.mark.parametrize("function", ["getEmailPreferences", "updateEmailPreferences"])
def test_no_key(
    function: str, start: Callable[..., FunctionProcess], headers: dict[str, str]
) -> None:
    """Spec 7.2: a fault of our own is `internal`; neither answer nor log tells what was sent."""
    process = start(function, secrets={})
    data = {"token": "sent-by-somebody", "preferences": {"recap": False}}
    answer = call(process, data, headers)
    assert (answer.status, answer.error[0]) == (500, "INTERNAL")
    log = process.printed()
    assert '"message": "callable.failed"' in log
    assert "Traceback" not in log
    assert "sent-by-somebody" not in log + answer.error[1]


def test_a_cold_start_after_a_rotation(
    start: Callable[..., FunctionProcess], uid: str, headers: dict[str, str]
) -> None:
    """A function starts without the version that was disabled; its links have ended."""
    versions = {number: str(number) * KEY_BYTES for number in (1, 2)}
    links = {
        number: TokenKeys([key]).issue(uid, datetime.now(UTC)) for number, key in versions.items()
    }
    keys = SecretManager(PROJECT, {PREFERENCES_KEY: versions[1]})
    with ApiServer(keys) as service:
        environment = {ADDRESS_VARIABLE: service.address}

        def statuses_after_a_cold_start() -> list[int]:
            process = start("getEmailPreferences", **environment)
            return [call(process, {"token": link}, headers).status for link in links.values()]

        assert statuses_after_a_cold_start() == [200, 403]
        keys.add(PREFERENCES_KEY, versions[2])
        assert statuses_after_a_cold_start() == [200, 200]
        keys.set_state(PREFERENCES_KEY, 1, DISABLED)
        assert statuses_after_a_cold_start() == [403, 200]
