"""Design 3: answers of real TLS receivers, their outcome, and the excerpt that a record keeps."""

import logging
import socket
import ssl
import threading
from contextlib import suppress

import pytest

from functions.webhooks.sender.http_sender import EXCERPT_BYTES, excerpt
from functions.webhooks.worker import SendError, Source
from tests.unit.webhooks.tls_receivers import (
    BODY,
    DEADLINE,
    OK,
    answers,
    drip,
    failure,
    plain_serving,
    post,
    sending,
    serving,
    unreached,
)

CHUNKED = "Transfer-Encoding: chunked"
LONGER = b"x" * EXCERPT_BYTES


def head(*lines: str, status: int = 500, version: str = "HTTP/1.1") -> bytes:
    """Return the head of an answer with these header lines."""
    return "".join(f"{line}\r\n" for line in (f"{version} {status} X", *lines, "")).encode()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (head("Content-Length: 2") + b"no", "no"),
        (head("Content-Length: 2") + b"no, not this", "no"),
        (head("Content-Length: 9") + b"cut", "cut"),
        (head("Content-Length: 2", "Connection: close") + b"no", "no"),
        (head("Content-Length: 2", version="HTTP/1.0") + b"no", "no"),
        (head() + b"without an end", "without an end"),
        (head("Content-Length: 2048") + LONGER + b"y" * 1024, LONGER.decode()),
        (head("Content-Length: 99999") + LONGER + b"y" * 9999, LONGER.decode()),
        (head(CHUNKED) + b"1\r\nn\r\n1;x=y\r\no\r\n0\r\n\r\n", "no"),
        (head(CHUNKED) + b"1\r\nn\r\nnonsense", "n"),
        (head(CHUNKED) + b"ffffffff\r\n" + LONGER + b"y", LONGER.decode()),
        (head("Content-Encoding: gzip", "Content-Length: 2") + b"no", "no"),
        (head("Content-Length: 0"), None),
        (head("Content-Length: 2", status=200) + b"no", None),
        (head("Content-Length: 2", status=401) + b"no", "no"),
        (head("Content-Length: 3") + b"\r\n ", None),
        (head("Content-Length: 2", status=304) + b"no", None),
        (head("Content-Length: 2", status=101) + b"no", None),
    ],
)
def test_only_a_refused_attempt_has_an_excerpt(answer: bytes, expected: str | None) -> None:
    """Limit the length of the excerpt. An incomplete body counts as far as it was received."""
    with serving(answers(answer)) as server, sending() as sender:
        url = f"https://localhost:{server.port}/"
        assert sender.post(url, {}, BODY, Source("t1", "e1")).excerpt == expected


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("größer".encode("latin-1"), "gr\ufffd\ufffder"),
        (b"x" + "é".encode() * 600, "x" + "é" * 511),
        (b"\xff" * 2000, "\ufffd" * 341),
        (b"a\0b\x1b[31mc\x7fd\xc2\x85e", "ab[31mcde"),
        (b" line\r\n\tline \r\n", "line\n\tline"),
        (b"\0 \r\n", None),
    ],
)
def test_an_excerpt_has_whole_printable_characters(body: bytes, kept: str | None) -> None:
    """Remove control characters, as they could change how a page shows the text."""
    assert excerpt(body) == kept


def test_a_stalled_body_is_cut_after_a_tenth_of_a_second() -> None:
    """Design 3.19: a body does not get the rest of the attempt's time."""
    ended = threading.Event()

    def handler(connection: ssl.SSLSocket) -> None:
        connection.sendall(head("Content-Length: 9") + b"stalls")
        connection.settimeout(60)
        with suppress(ConnectionError, ssl.SSLError):
            connection.recv(1)
        ended.set()

    with serving(handler) as server, sending(timeout=120) as sender:
        url = f"https://localhost:{server.port}/"
        assert sender.post(url, {}, BODY, Source("t1", "e1")).excerpt == "stalls"
        assert ended.wait(60)


@pytest.mark.parametrize(
    "answer",
    [
        head(*(f"X-{n}: y" for n in range(150)), status=200),
        head("Content-Length: 2", "Content-Length: 3", status=200) + b"ok",
        head("Content-Length: 2, 3", status=200) + b"ok",
        head("Content-Length: two", status=200) + b"ok",
        head("no colon", "Content-Length: 2", status=200) + b"ok",
        head("Content-Length: 2", CHUNKED, status=200) + b"2\r\nok\r\n0\r\n\r\n",
        head("Connection: close", "Link: </a>", status=103) * 3 + head(status=200),
        head(status=102) + head(status=100) + head(status=200),
        b"HTTP/1.1 200\nContent-Length: 2\n\nok",
    ],
)
def test_the_status_line_alone_acknowledges(answer: bytes) -> None:
    """Spec 4.3: malformed fields only close the connection, and interim answers are skipped."""
    with serving(answers(answer)) as server, sending() as sender:
        assert post(sender, server.port) == 200


@pytest.mark.parametrize("cut", [1, 8, 16, 17, 30])
def test_half_a_head_is_no_answer(cut: int) -> None:
    """Report that the connection was closed before the answer."""

    def handler(connection: ssl.SSLSocket) -> None:
        connection.sendall(head("Content-Length: 0", status=200)[:cut])
        connection.close()

    assert failure(handler)[0] == "the connection was closed before the answer"


def test_a_slow_handshake_ends_at_the_deadline() -> None:
    """Send the handshake byte by byte, so that no single read times out."""

    def handler(raw: socket.socket, _: object) -> None:
        raw.recv(65536)
        raw.sendall(b"\x16\x03\x03\x40\x00")
        drip(b"\x02")(raw)  # type: ignore[arg-type]

    with plain_serving(handler) as server, sending(timeout=DEADLINE) as sender:
        assert unreached(sender, server.port) == f"no answer within {DEADLINE} s"


def test_a_post_that_may_have_been_read_is_not_repeated() -> None:
    """Fail the attempt if a kept connection ends after its request was sent."""

    def handler(connection: ssl.SSLSocket) -> None:
        if len(server.requests) == 2:
            connection.shutdown(socket.SHUT_RDWR)
        else:
            connection.sendall(OK)

    with serving(handler) as server, sending() as sender:
        assert post(sender, server.port) == 200
        with pytest.raises(SendError, match="closed before the answer"):
            post(sender, server.port)
        assert (server.connections, len(server.requests)) == (1, 2)


def test_each_lookup_of_a_name_is_checked() -> None:
    """Check also while a connection is kept, and connect to a new address."""
    answered, asked = ["127.0.0.1"], []

    def resolve(host: str, _: float) -> list[str]:
        asked.append(host)
        return answered

    with serving(answers(OK)) as server, sending(resolve=resolve) as sender:
        assert post(sender, server.port) == 200
        assert asked == ["localhost"], "the checked address is connected to"
        answered[:] = ["10.0.0.1"]
        with pytest.raises(SendError, match="not a public one"):
            post(sender, server.port)
        answered[:] = ["127.0.0.2"]
        with pytest.raises(SendError, match="the connection was refused"):
            post(sender, server.port)
        answered[:] = ["127.0.0.1"]
        assert post(sender, server.port) == 200
        assert server.connections == 1


def test_the_environment_and_cookies_are_ignored(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Use no proxy and no cookie, and log no path, as it may contain a key."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/dev/null")
    answer = head("Set-Cookie: a=b", "no colon", "Content-Length: 0", status=200)
    with (
        caplog.at_level(logging.DEBUG),
        serving(answers(answer)) as server,
        sending() as sender,
    ):
        for _ in range(2):
            assert post(sender, server.port, path="/key?secret") == 200
    assert not any(b"cookie" in request.lower() for request in server.requests)
    assert "secret" not in caplog.text
