"""Spec 7.2 and 8: the limit under many calls at once, and what happens when Firestore is away.

The functions run in processes of their own, which the test cuts off from Firestore.
"""

import os
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.cloud import firestore

from tests.suite.call import Answer, call
from tests.suite.process import FunctionProcess
from tests.suite.tcp_proxy import TcpProxy


def call_at(process: FunctionProcess, data: object, headers: dict[str, str]) -> Answer:
    """Call the function that `process` serves."""
    return call("", data, headers=headers, at=f"http://127.0.0.1:{process.port}/")


@pytest.mark.usefixtures("one_hour")
def test_two_hundred_calls_at_once(token: str, headers: dict[str, str]) -> None:
    """Spec 8: of 200 calls at the same moment, to two instances, exactly 20 pass."""
    with (
        FunctionProcess("getEmailPreferences", THREADS="80") as one,
        FunctionProcess("getEmailPreferences", THREADS="80") as two,
        ThreadPoolExecutor(100) as pool,
    ):
        for instance in (one, two):
            call_at(instance, {"token": "bad"}, {"X-Forwarded-For": "192.0.2.1"})  # both are warm
        answers = pool.map(
            lambda instance: call_at(instance, {"token": token}, headers), [one, two] * 100
        )
        statuses = [answer.status for answer in answers]
        assert (statuses.count(200), statuses.count(429)) == (20, 180)
        assert "limiter.failed" not in one.stop_and_read_output() + two.stop_and_read_output()


def test_a_refused_connection_to_firestore(uid: str, token: str, headers: dict[str, str]) -> None:
    """Spec 7.2 and 8: the rate limit lets calls through, and the failed lookup is `internal`."""
    with FunctionProcess("getEmailPreferences", FIRESTORE_EMULATOR_HOST="127.0.0.1:9") as process:
        answer = call_at(process, {"token": token}, headers)
        assert (answer.status, answer.error[0]) == (500, "INTERNAL")
        assert call_at(process, {"token": "bad"}, headers).error[0] == "PERMISSION_DENIED"
        log = process.stop_and_read_output()
    assert '"severity": "WARNING", "message": "limiter.failed"' in log
    assert '"severity": "ERROR", "message": "preferences.not-read"' in log
    assert "Traceback" not in log
    assert uid not in log
    assert token not in log


def test_a_silent_firestore(headers: dict[str, str]) -> None:
    """Spec 8: a limiter that gets no answer lets calls through."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        with FunctionProcess("getEmailPreferences", FIRESTORE_EMULATOR_HOST=host) as process:
            assert call_at(process, {"token": "bad"}, headers).error[0] == "PERMISSION_DENIED"
            assert '"message": "limiter.failed"' in process.stop_and_read_output()


def test_a_recovered_firestore(
    record: firestore.DocumentReference, token: str, headers: dict[str, str]
) -> None:
    """Calls during an outage are let through. After the outage the limit works as before."""
    record.set({"email": f"{record.id}@example.com"})
    with (
        TcpProxy(os.environ["FIRESTORE_EMULATOR_HOST"]) as proxy,
        FunctionProcess("getEmailPreferences", FIRESTORE_EMULATOR_HOST=proxy.address) as process,
    ):
        assert call_at(process, {"token": token}, headers).status == 200
        proxy.cut()
        with ThreadPoolExecutor(15) as calls:  # each waits three seconds for its count
            outage = [calls.submit(call_at, process, {"token": "bad"}, headers) for _ in range(15)]
        assert [answer.result().status for answer in outage] == [403] * 15
        proxy.restore()
        # The lookup is repeated until the connection works again.
        assert (
            call_at(process, {"token": token}, headers).result["email"]
            == f"{record.id}@example.com"
        )


def test_a_missing_secret(headers: dict[str, str]) -> None:
    """Spec 7.2: a fault of the service is `internal`. Response and log do not show the request."""
    data = {"token": "sent-by-somebody", "preferences": {"recap": False}}
    with FunctionProcess("updateEmailPreferences", secrets={}) as process:
        answer = call_at(process, data, headers)
        log = process.stop_and_read_output()
    assert (answer.status, answer.error[0]) == (500, "INTERNAL")
    assert '"message": "callable.failed"' in log
    assert "Traceback" not in log
    assert "sent-by-somebody" not in log + answer.error[1]
