"""What is read of an answer: the status, and whether its connection can serve another delivery."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest

from functions.webhooks.sender.answer_head import ANSWER_BYTES, EXCERPT_BYTES, Answer, NotHttpError
from functions.webhooks.sender.connections import TooMuchReadError


class Pieces:
    """A connection on which these pieces arrive, and then its end."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.deadline = 5.0
        self.may_read = 0
        self._pieces: Iterator[bytes] = iter(pieces)
        self.read = 0

    def receive(self) -> bytes:
        """The next piece, as far as it may be read."""
        if self.may_read <= 0:
            raise TooMuchReadError
        piece = next(self._pieces, b"")[: self.may_read]
        if not piece:
            raise ConnectionResetError
        self.may_read -= len(piece)
        self.read += len(piece)
        return piece


def outcome(*pieces: bytes) -> tuple[int, bool]:
    """The status of an answer that arrives so, and whether its connection is kept."""
    answer = Answer(Pieces(pieces))
    return answer.status(), answer.discard(lambda: 0.0)


def head(*lines: str, version: str = "HTTP/1.1", status: int = 200) -> bytes:
    """A head with these header lines."""
    return "".join(f"{line}\r\n" for line in (f"{version} {status} X", *lines, "")).encode()


KEPT = [
    head("Content-Length: 0"),
    head("Content-Length: 2") + b"ok",
    head("content-length:2") + b"ok",
    head("CONTENT-LENGTH: \t 2 \t") + b"ok",
    head("Content-Length: 4096") + b"x" * 4096,
    head("Connection: keep-alive", "Content-Length: 0"),
    head("Connection: keep-alive, upgrade", "Content-Length: 0"),
    head("X: Connection: close", "Content-Length: 0"),
    head("X-Content-Length: 7", "Content-Length: 0"),
    head(*(f"X-{n}: y" for n in range(1000)), "Content-Length: 0"),
    head("Connection: keep-alive", "Content-Length: 2", version="HTTP/1.0") + b"ok",
    head("Transfer-Encoding: chunked") + b"0\r\n\r\n",
    head("Transfer-Encoding: Chunked") + b"2\r\nok\r\n0\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"A;x=y\r\n0123456789\r\n2 \r\nok\r\n00\r\n\r\n",
    head(status=204),
    head("Content-Length: 9", status=304),
    b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
]

NOT_KEPT = [
    head(),
    head("Connection: close", "Content-Length: 0"),
    head("Connection: x, CLOSE", "Content-Length: 0"),
    head("Connection: keep-alive", "Connection: close", "Content-Length: 0"),
    head("Content-Length: 2", version="HTTP/1.0") + b"ok",
    head("Content-Length: 2", status=101) + b"ok",
    head("Content-Length: 2") + b"o",
    head("Content-Length: 2") + b"ok!",
    head("Content-Length: 2") + b"ok" + head("Content-Length: 0", status=500),
    head("Content-Length: 4097") + b"x" * 4097,
    head("Content-Length: 99999999999999999999"),
    head("Content-Length: -1"),
    head("Content-Length: +2") + b"ok",
    head("Content-Length: 2_0") + b"x" * 20,
    head("Content-Length: 2, 2") + b"ok",
    head("Content-Length: 2", "Content-Length: 3") + b"ok",
    head("Content-Length: 2", "Transfer-Encoding: chunked") + b"2\r\nok\r\n0\r\n\r\n",
    head("Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
    head("Transfer-Encoding: chunked", "Transfer-Encoding: gzip") + b"0\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"nonsense\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"-1\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"2\r\nok0\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"0\r\nX: y\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"800\r\n" + b"x" * 2048 + b"\r\n0\r\n",
    head("Transfer-Encoding: chunked") + b"1\r\nx\r\n" * 2000 + b"0\r\n\r\n",
    head("Transfer-Encoding: chunked") + b"ffffffff\r\n",
]


@pytest.mark.parametrize(
    ("answer", "kept"), [(one, True) for one in KEPT] + [(one, False) for one in NOT_KEPT]
)
def test_a_connection_is_kept_where_its_next_answer_is_certain(
    answer: bytes, *, kept: bool
) -> None:
    """Whole, or a byte at a time; a body of some length is not waited for."""
    status = int(answer[9:12])
    assert outcome(answer) == (status, kept)
    # What follows the answer is seen by the connection then, not here.
    if kept:
        assert outcome(*(bytes([byte]) for byte in answer)) == (status, True)


@pytest.mark.parametrize("answer", [*KEPT, *NOT_KEPT])
def test_an_excerpt_changes_nothing_else(answer: bytes) -> None:
    """Whether the connection is kept, and the status, are as without one."""
    for pieces in ([answer], [bytes([byte]) for byte in answer]):
        looked_at = Answer(Pieces(pieces))
        found = looked_at.status(), looked_at.discard(lambda: 0.0, excerpt=True)
        assert found == outcome(*pieces)


def excerpt(*pieces: bytes) -> str | None:
    """What of the body is kept, of an answer that arrives so."""
    answer = Answer(Pieces(pieces))
    answer.status()
    answer.discard(lambda: 0.0, excerpt=True)
    return answer.excerpt


LONGER = b"x" * EXCERPT_BYTES
CHUNKED = "Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (head("Content-Length: 2") + b"no", "no"),
        (head("Content-Length: 2") + b"no, not this", "no"),
        (head("Content-Length: 9") + b"cut", "cut"),
        (head("Content-Length: 2", "Connection: close") + b"no", "no"),
        (head("Content-Length: 2", version="HTTP/1.0") + b"no", "no"),
        (head() + b"until its end", "until its end"),
        (head("Connection: close") + b"until its end", "until its end"),
        (head("Content-Length: 2048") + LONGER + b"y" * 1024, LONGER.decode()),
        (head("Content-Length: 99999") + LONGER + b"y" * 9999, LONGER.decode()),
        (head("Content-Length: 99999", "Connection: close") + b"begins", "begins"),
        (head() + LONGER + b"y" * 9999, LONGER.decode()),
        (head(CHUNKED) + b"2\r\nno\r\n0\r\n\r\n", "no"),
        (head(CHUNKED) + b"1\r\nn\r\n1;x=y\r\no\r\n0\r\n\r\n", "no"),
        (head(CHUNKED, "Connection: close") + b"1\r\nn\r\n1\r\no\r\n0\r\n\r\n", "no"),
        (head(CHUNKED) + b"1\r\nn\r\nnonsense", "n"),
        (head(CHUNKED) + b"ffffffff\r\n" + LONGER + b"y", LONGER.decode()),
        (head(CHUNKED) + b"200\r\n" + b"x" * 512 + b"\r\n" + b"fff\r\n" + LONGER, LONGER.decode()),
        (head("Content-Length: 0"), None),
        (head(), None),
        (head("Content-Length: 3") + b"\r\n ", None),
        (head("Content-Length: 2", status=304) + b"no", None),
        (head("Content-Length: 2", status=101) + b"no", None),
    ],
)
def test_how_a_body_begins(answer: bytes, expected: str | None) -> None:
    """However its end is told, whole or a byte at a time, and as far as it came."""
    assert excerpt(answer) == expected
    assert excerpt(*(bytes([byte]) for byte in answer)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("größer".encode(), "größer"),
        ("größer".encode("latin-1"), "gr\ufffd\ufffder"),
        ("é".encode() * 600, "é" * 512),
        (b"x" + "é".encode() * 600, "x" + "é" * 511),
        (b"\xff" * 2000, "\ufffd" * 341),
        (b"a\0b\x1b[31mc\x7fd\xc2\x85e", "ab[31mcde"),
        (b" line\r\n\tline \r\n", "line\n\tline"),
        (b"<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_an_excerpt_is_text_of_a_bounded_length(body: bytes, expected: str) -> None:
    """What is none is replaced, control characters go, and no letter is cut in two."""
    assert excerpt(head("Connection: close") + body) == expected
    assert len(expected.encode()) <= EXCERPT_BYTES


@pytest.mark.parametrize(
    "beginning",
    [
        head(),
        head("Content-Length: 4096", "Connection: close"),
        head("Content-Length: 99999"),
        head(CHUNKED, "Connection: close") + b"fff\r\n",
        head(CHUNKED) + b"ffff\r\n",
    ],
)
def test_no_more_is_read_than_an_excerpt_takes(beginning: bytes) -> None:
    """Where the connection is not kept anyway."""
    source = Pieces([bytes([byte]) for byte in beginning + b"x" * 4096])
    answer = Answer(source)
    answer.status()
    assert not answer.discard(lambda: 0.0, excerpt=True)
    assert source.read == len(beginning) + EXCERPT_BYTES


def test_an_excerpt_has_no_time_of_its_own() -> None:
    """It ends with the attempt's deadline, and a tenth of a second after the head at most."""
    for now, deadline in ((1.0, 1.1), (4.95, 5.0), (9.0, 5.0)):
        source = Pieces([head("Content-Length: 2"), b"no"])
        answer = Answer(source)
        answer.status()
        answer.discard(lambda now=now: now, excerpt=True)  # type: ignore[misc]
        assert source.deadline == pytest.approx(deadline)


@pytest.mark.parametrize("interim", [100, 102, 103, 199])
def test_an_interim_answer_is_passed_over(interim: int) -> None:
    """RFC 9110, 15.2: there may be several, with headers of their own."""
    one = head("Connection: close", "Link: </style.css>", status=interim)
    assert outcome(one + one + head("Content-Length: 0", status=202)) == (202, True)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"http/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 2\xb20 OK\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"\n",
    ],
)
def test_what_is_no_answer(answer: bytes) -> None:
    """It is seen with the first line; nothing more is waited for."""
    with pytest.raises(NotHttpError):
        outcome(answer)


@pytest.mark.parametrize("cut", [1, 8, 16, 17, 30])
def test_an_answer_that_ends_too_soon(cut: int) -> None:
    """Half a head is none."""
    with pytest.raises(ConnectionResetError):
        outcome(head("Content-Length: 0")[:cut])


LONG = ANSWER_BYTES - len(head("X: "))


@pytest.mark.parametrize("size", [65_536, 1000, 1])
def test_the_longest_head(size: int) -> None:
    """`ANSWER_BYTES` are read and not one more, whatever they arrive in."""
    fits = head("X: " + "y" * LONG)
    assert len(fits) == ANSWER_BYTES
    assert outcome(*_cut(fits, size))[0] == 200
    with pytest.raises(TooMuchReadError):
        outcome(*_cut(head("X: " + "y" * (LONG + 1)), size))


@pytest.mark.parametrize(
    "endless",
    [
        b"y",
        b"\n" * 2 + b"y",
        head(status=100),
        head()[:-2] + b"X: y\r\n" * 99999,
        head()[:-2] + b"Connection:" + b" " * 99999,
        head()[:-2] + b"Connection" + b" " * 99999,
        head()[:-2] + b"Connection: ," + b"\t," * 99999,
        head()[:-2] + b"Connection:\n" * 9999,
        head()[:-2] + b"\r" * 99999,
        b"HTTP/1.1" + b" " * 99999,
    ],
)
@pytest.mark.parametrize("size", [16_384, 1])
def test_nonsense_costs_little(endless: bytes, size: int) -> None:
    """Every byte is looked at a few times at most, and `ANSWER_BYTES` of them."""
    long_enough = endless * (2 * ANSWER_BYTES // len(endless) + 1)
    began = time.thread_time()
    with pytest.raises((TooMuchReadError, NotHttpError)):
        outcome(*_cut(long_enough, size))
    with suppress(TooMuchReadError, NotHttpError):
        outcome(*_cut(long_enough[: ANSWER_BYTES - 4] + b"\r\n\r\n" + b"z" * ANSWER_BYTES, size))
    assert time.thread_time() - began < 1


def _cut(whole: bytes, size: int) -> Iterator[bytes]:
    return (whole[start : start + size] for start in range(0, len(whole), size))
