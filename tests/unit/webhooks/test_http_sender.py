"""Spec 8, design 3.18: deadline, address check and connections, tested with hostile receivers.

Every receiver is a real TLS server on loopback with one fault.
"""

import re
import socket
import ssl
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from emulator import certificates
from functions.process import CLOCK
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender import adapter
from functions.webhooks.sender.http_sender import HttpSender
from functions.webhooks.sender.resolver import SystemResolver
from functions.webhooks.worker import SendError, Source
from tests.unit.webhooks.name_server import SILENT, NameServer, answering
from tests.unit.webhooks.tls_receivers import (
    BODY,
    DEADLINE,
    OK,
    PATIENCE,
    Handler,
    Server,
    answers,
    drip,
    failure,
    plain_serving,
    post,
    sending,
    serving,
    silence,
    unreached,
)


@pytest.mark.parametrize("status", [200, 204, 301, 302, 307, 308, 400, 410, 429, 500, 503])
def test_every_status_is_returned_and_no_redirect_is_followed(status: int) -> None:
    """Spec 4.3: a redirect is not a 2xx."""
    head = f"HTTP/1.1 {status} X\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with serving(answers(head.encode())) as server, sending() as sender:
        assert post(sender, server.port) == status
        assert len(server.requests) == 1


def test_the_request_has_the_path_host_headers_and_body() -> None:
    """The signature is over the body, so its bytes must not change."""
    with serving(answers(OK)) as server, sending() as sender:
        post(sender, server.port, path="/hook?a=1")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hook?a=1 HTTP/1.1"
    assert f"Host: localhost:{server.port}" in lines
    assert f"Content-Length: {len(BODY)}" in lines
    assert "Wall-Delivery-Id: d1" in lines
    assert body == BODY


def test_user_name_and_password_are_sent_but_not_logged() -> None:
    """Send them as `Authorization: Basic` and leave them out of errors."""
    with serving(answers(OK)) as server, sending() as sender:
        url = f"https://user:secret@localhost:{server.port}/"
        assert sender.post(url, {}, BODY, Source("t1", "e1")).status == 200
    assert b"\r\nAuthorization: Basic dXNlcjpzZWNyZXQ=\r\n" in server.requests[0]
    with sending() as sender, pytest.raises(SendError) as raised:
        sender.post(url, {}, BODY, Source("t1", "e1"))
    error = "".join(traceback.format_exception(raised.value))
    assert not re.search("secret|dXNlcjpzZWNyZXQ", error)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://localhost:0/", "port is blocked"),
        ("https://localhost:25/", "port is blocked"),
        ("https://localhost:6667/", "port is blocked"),
        ("http://localhost/", "does not start with https"),  # recorded by an earlier release
    ],
)
def test_blocked_ports_and_unusable_urls_fail_before_a_lookup(url: str, reason: str) -> None:
    """The port of another protocol must not receive a request. The error has the reason."""

    def unasked(*_: object) -> Sequence[str]:
        pytest.fail("the name was looked up")

    with sending(resolve=unasked) as sender, pytest.raises(SendError, match=reason):
        sender.post(url, {}, BODY, Source("t1", "e1"))


@pytest.mark.parametrize("status", [200, 500])
def test_a_connection_is_kept_for_the_next_delivery(status: int) -> None:
    """A TLS handshake is expensive. A connection is kept also after a 500."""
    answer = f"HTTP/1.1 {status} X\r\nContent-Length: 2000\r\n\r\n{'x' * 2000}"
    with serving(answers(answer.encode())) as server, sending() as sender:
        assert [post(sender, server.port) for _ in range(5)] == [status] * 5
        assert (server.connections, len(server.requests)) == (1, 5)


def test_a_connection_serves_one_tenant() -> None:
    """A tenant must not be able to affect the deliveries of another one."""
    with serving(answers(OK)) as server, sending() as sender:
        assert [post(sender, server.port, tenant_id=tenant) for tenant in ("t1", "t2")] == [200] * 2
        assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no",  # without the rest
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
    ],
)
def test_a_connection_with_unread_data_or_close_is_not_kept(answer: bytes) -> None:
    """The answer still counts, and the next delivery opens a new connection."""
    with serving(answers(answer)) as server, sending() as sender:
        assert [post(sender, server.port) for _ in range(2)] == [200] * 2
        assert server.connections == 2
        assert not sender.adapter.watch.watched


@pytest.mark.parametrize(
    "handler",
    [
        silence,
        drip(b"HTTP/1.1 200 OK\r\nX-Slow: "),
        drip(b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["silent", "slow headers", "slow continues"],
)
def test_the_deadline_is_for_the_whole_attempt(handler: Handler) -> None:
    """Spec 8: five seconds in total, also for a receiver that sends single bytes.

    The receiver has answered once before, so that the error is the same at every stage.
    """

    def once(connection: ssl.SSLSocket) -> None:
        if len(server.requests) == 1:
            connection.sendall(OK)
        else:
            handler(connection)

    with serving(once) as server, sending() as sender:
        assert post(sender, server.port) == 200
        sender.timeout_seconds = DEADLINE
        with pytest.raises(SendError, match=f"no answer within {DEADLINE} s"):
            post(sender, server.port)
        assert server.connections == 1


@pytest.mark.parametrize("framing", [b"", b"Content-Length: 99\r\n", b"Connection: close\r\n"])
def test_a_slow_body_does_not_change_the_outcome(framing: bytes) -> None:
    """Keep the part of the body that was received in time."""

    def handler(connection: ssl.SSLSocket) -> None:
        connection.sendall(b"HTTP/1.1 500 X\r\n" + framing + b"\r\nbegins")
        drip(b".")(connection)

    with serving(handler) as server, sending() as sender:
        url = f"https://localhost:{server.port}/"
        response = sender.post(url, {}, BODY, Source("t1", "e1"))
    assert response.status == 500
    assert response.excerpt is not None
    assert response.excerpt.rstrip(".") == "begins"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"\x00" * 100 + b"\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 200OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nnonsense\r\n",
    ],
)
def test_an_answer_that_is_not_http_fails_the_attempt(answer: bytes) -> None:
    """The worker itself must not fail."""
    assert failure(answers(answer))[0] == "the answer is not HTTP"


def reset(connection: ssl.SSLSocket) -> None:
    """Drop the connection with a TCP reset."""
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    socket.socket.close(connection)


def test_a_reset_fails_the_attempt() -> None:
    """Do not repeat the request, as the receiver may have read it."""
    reason, server = failure(reset)
    assert reason == "the connection was closed before the answer"
    assert len(server.requests) == 1


def test_the_deadline_includes_sending_the_request() -> None:
    """Post to a receiver that does not read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.issue(["localhost"]))
    ended = threading.Event()

    def shake_hands_only(raw: socket.socket, _: Server) -> None:
        with context.wrap_socket(raw, server_side=True):
            ended.wait()

    with plain_serving(shake_hands_only) as server, sending(timeout=DEADLINE) as sender:
        url = f"https://localhost:{server.port}/"
        with pytest.raises(SendError, match="no answer within"):
            sender.post(url, {}, b"x" * 20_000_000, Source("t1", "e1"))
        ended.set()


def test_a_certificate_without_a_trusted_authority_is_rejected() -> None:
    """Send no request to such a receiver."""
    with serving(answers(OK)) as server:
        sender = HttpSender(
            adapter=adapter.PinnedAdapter(ssl.create_default_context(), CLOCK),
            clock=CLOCK,
            may_be_loopback=True,
            timeout_seconds=PATIENCE,
        )
        assert unreached(sender, server.port).startswith("the certificate is not valid")
        sender.adapter.watch.close()
        assert server.requests == []


def addresses(*found: str) -> Callable[[str, float], Sequence[str]]:
    """Return a resolver with these addresses."""
    return lambda _, __: found


def resolving(server: NameServer) -> SystemResolver:
    """Return a resolver that asks `server`."""
    return SystemResolver(CLOCK, server.settings)


def test_the_deadline_includes_the_lookup_of_the_name() -> None:
    """Leave no thread of the lookup behind."""
    with (
        answering({}) as names,
        sending(resolve=resolving(names).resolve, timeout=DEADLINE) as sender,
    ):
        threads = threading.active_count()
        assert unreached(sender, 2, SILENT) == f"no answer within {DEADLINE} s"
        assert threading.active_count() <= threads


def test_stalled_lookups_do_not_delay_other_receivers() -> None:
    """Spec 8: stall as many lookups as an instance has threads, and post to a new receiver."""
    names = ("healthy.example.com", "new.example.com", "later.example.com")
    with (
        serving(answers(OK), names=names) as server,
        answering(dict.fromkeys(names, "60 IN A 127.0.0.1")) as name_server,
        sending(resolve=resolving(name_server).resolve, timeout=60) as sender,
        ThreadPoolExecutor(80) as threads,
    ):
        stalled = [threads.submit(post, sender, 2, f"{n}.{SILENT}") for n in range(80)]
        name_server.wait_for(80)
        assert [post(sender, server.port, name) for name in names[:2]] == [200, 200]
        assert not any(future.done() for future in stalled)
        name_server.speak()
        assert {type(future.exception()) for future in stalled} == {SendError}
        assert post(sender, server.port, names[2]) == 200


def test_an_attempt_at_a_missing_name_fails() -> None:
    """Report that the name does not resolve."""
    with (
        answering({}) as names,
        sending(resolve=resolving(names).resolve) as sender,
        pytest.raises(SendError, match="does not resolve"),
    ):
        post(sender, 2, "nobody.example.com")


def test_the_next_address_is_tried_after_a_refused_connection() -> None:
    """Use a name with two addresses. The first has no server."""
    with (
        serving(answers(OK)) as server,
        sending(resolve=addresses("127.0.0.3", "127.0.0.1")) as sender,
    ):
        assert post(sender, server.port) == 200


def test_concurrent_first_deliveries_share_one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold up the creation of the pool while other threads ask for it."""
    inside = threading.Barrier(2)

    class SlowPool(adapter._Pool):  # noqa: SLF001 - delays its creation
        def __init__(self, *where: Any, **how: Any) -> None:
            with suppress(threading.BrokenBarrierError):
                inside.wait(0.5)  # for a second thread, which must not arrive
            super().__init__(*where, **how)

    monkeypatch.setattr(adapter, "_Pool", SlowPool)
    to = EndpointUrl("localhost", 1, "/")
    with sending() as sender, ThreadPoolExecutor(8) as threads:
        prepared = sender.adapter.prepared
        asking = [
            threads.submit(prepared, to, {}, b"", frozenset({"127.0.0.1"}), "t1")
            for _ in "12345678"
        ]
        assert len({id(asked.result().pool) for asked in asking}) == 1


def test_eighty_concurrent_posts_use_and_keep_eighty_connections() -> None:
    """An instance has 80 threads. The second round uses the connections of the first."""
    together = threading.Barrier(80)

    def slow(connection: ssl.SSLSocket) -> None:
        together.wait()
        connection.sendall(OK)

    with serving(slow) as server:
        with sending() as sender, ThreadPoolExecutor(80) as threads:
            for _ in range(2):
                statuses = threads.map(lambda _: post(sender, server.port), range(80))
                assert list(statuses) == [200] * 80
        assert (server.connections, len(server.requests)) == (80, 160)
