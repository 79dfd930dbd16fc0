"""Design 3.20: the service is no tool against others' machines, and tells nothing of them."""

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
def refuses() -> Iterator[int]:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    yield port


@contextmanager
def speaks_no_tls() -> Iterator[int]:
    """Something else than HTTPS."""

    def greet(raw: socket.socket, _: Server) -> None:
        raw.sendall(b"220 mail.example.com ESMTP\r\n")
        raw.recv(65536)

    with plain_serving(greet) as server:
        yield server.port


@contextmanager
def says_nothing() -> Iterator[int]:
    """A port that accepts any bytes."""

    def take(raw: socket.socket, _: Server) -> None:
        while raw.recv(65536):
            pass

    with plain_serving(take) as server:
        yield server.port


@contextmanager
def is_somebody_else() -> Iterator[int]:
    """HTTPS with another name's certificate."""
    with serving(answers(OK), names=["other.example.com"]) as server:
        yield server.port


def test_what_a_machine_is_like_is_not_told() -> None:
    """Refused, no TLS, silence, another's certificate: they read alike but in the service's log."""
    told, details = set(), []
    for machine in (refuses, speaks_no_tls, says_nothing, is_somebody_else):
        timeout = DEADLINE if machine is says_nothing else PATIENCE
        with (
            machine() as port,
            sending(timeout=timeout) as sender,
            pytest.raises(SendError) as raised,
        ):
            post(sender, port)
        told.add(str(raised.value).removesuffix(f" within {timeout:g} s"))
        details.append(str(raised.value.__cause__).partition(":")[0])
    advice = "it must answer HTTPS with a valid certificate"
    assert told == {f"the receiver could not be reached: {advice}"}
    assert details == [
        "the connection was refused",
        "the TLS handshake failed",
        "no answer within 0.5 s",
        "the certificate is not valid",
    ]


def test_a_receiver_that_has_answered_is_told_of() -> None:
    """Its people may know why it cannot be reached now; another event's may not."""
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
        # Twenty URLs of one host are one host; another event has its own share.
        ({"of_an_event": 5}, {}, {"event_id": "e2"}),
        # Eighty events of one tenant, and names of one address, share that address.
        (
            {"of_a_tenant": 5},
            {"event_id": "another", "host": "other.example.com"},
            {"tenant_id": "t2"},
        ),
    ],
)
def test_what_exceeds_a_share_is_not_sent_now(
    limits: dict[str, Any], others: dict[str, str], neighbour: dict[str, str]
) -> None:
    """Shares are counted by event and host, and by tenant and the address that is connected to."""
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
