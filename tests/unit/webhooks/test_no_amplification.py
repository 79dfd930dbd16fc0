"""Design 3.20: the service can't be used to attack or to scan other machines."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from functions.webhooks.worker import HostLimitError, SendError
from tests.unit.webhooks.tls_receivers import (
    DEADLINE,
    OK,
    PATIENCE,
    Server,
    answers,
    plain_serving,
    post,
    sending,
    serving,
)


@contextmanager
def refuses_connections() -> Iterator[int]:
    """Provide a port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    yield port


@contextmanager
def speaks_no_tls() -> Iterator[int]:
    """Provide a port with a mail server."""

    def greet(raw: socket.socket, _: Server) -> None:
        raw.sendall(b"220 mail.example.com ESMTP\r\n")
        raw.recv(65536)

    with plain_serving(greet) as server:
        yield server.port


@contextmanager
def never_answers() -> Iterator[int]:
    """Provide a port that reads everything and never answers."""

    def take(raw: socket.socket, _: Server) -> None:
        while raw.recv(65536):
            pass

    with plain_serving(take) as server:
        yield server.port


@contextmanager
def has_another_name() -> Iterator[int]:
    """Provide HTTPS with a certificate for another name."""
    with serving(answers(OK), names=["other.example.com"]) as server:
        yield server.port


def test_failures_before_a_first_answer_look_the_same() -> None:
    """Only the service's own log distinguishes them, so a webhook can't scan ports."""
    messages, details = set(), []
    for machine in (refuses_connections, speaks_no_tls, never_answers, has_another_name):
        timeout = DEADLINE if machine is never_answers else PATIENCE
        with (
            machine() as port,
            sending(timeout=timeout) as sender,
            pytest.raises(SendError) as raised,
        ):
            post(sender, port)
        messages.add(str(raised.value).removesuffix(f" within {timeout:g} s"))
        details.append(str(raised.value.__cause__).partition(":")[0])
    advice = "it must answer HTTPS with a valid certificate"
    assert messages == {f"the receiver could not be reached: {advice}"}
    assert details == [
        "the connection was refused",
        "the TLS handshake failed",
        "no answer within 0.5 s",
        "the certificate is not valid",
    ]


def test_the_reason_is_shown_to_an_event_whose_receiver_has_answered() -> None:
    """Another event with the same receiver gets the general message."""
    answered = b"HTTP/1.1 500 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    with sending() as sender:
        with serving(answers(answered)) as server:
            assert post(sender, server.port) == 500
        with pytest.raises(SendError, match="the connection was refused"):
            post(sender, server.port)
        with pytest.raises(SendError, match="could not be reached"):
            post(sender, server.port, event_id="e2")


@pytest.mark.parametrize(
    ("limits", "others", "neighbour"),
    [
        # Twenty URLs of one host share its limit. Another event has its own limit.
        ({"of_an_event": 5}, {}, {"event_id": "e2"}),
        # All events of a tenant, and all names of an address, share its limit.
        (
            {"of_a_tenant": 5},
            {"event_id": "another", "host": "other.example.com"},
            {"tenant_id": "t2"},
        ),
    ],
)
def test_posts_over_a_concurrency_limit_are_not_sent(
    limits: dict[str, Any], others: dict[str, str], neighbour: dict[str, str]
) -> None:
    """Count by event and host, and by tenant and the address of the connection."""
    let_go = threading.Event()
    arrived = threading.Semaphore(0)

    def hold(connection: socket.socket) -> None:
        arrived.release()
        let_go.wait()
        connection.sendall(OK)

    with (
        serving(hold, names=["localhost", "other.example.com"]) as server,
        sending(**limits, resolve=lambda *_: ["127.0.0.1"]) as sender,
        ThreadPoolExecutor(81) as threads,
    ):
        posts = [threads.submit(post, sender, server.port, path=f"/{n}") for n in range(5)]
        for _ in posts:
            assert arrived.acquire(timeout=PATIENCE)
        for number in range(5, 20):
            with pytest.raises(HostLimitError):
                post(sender, server.port, path=f"/{number}", **others)
        further = threads.submit(post, sender, server.port, **neighbour)
        assert arrived.acquire(timeout=PATIENCE)
        assert len(server.requests) == 6
        let_go.set()
        assert [held.result() for held in (*posts, further)] == [200] * 6
