"""A name server on loopback with the records of a test, which leaves some questions unanswered."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.resolver
import dns.rrset

SILENT: Final = "silent.example.com"
"""Questions about this name and names below it wait until `NameServer.speak` is called."""


@dataclass
class NameServer:
    """A name server.

    Attributes:
        settings: The configuration of a resolver that asks this server.
        questions: Name and type of each question so far.
        silent: The unanswered questions and their clients. None means that the server answers all.
    """

    settings: dns.resolver.Resolver
    sock: socket.socket
    questions: list[tuple[str, str]] = field(default_factory=list)
    asked: threading.Condition = field(default_factory=threading.Condition)
    silent: list[tuple[dns.message.Message, Any]] | None = field(default_factory=list)

    def wait_for(self, count: int) -> None:
        """Wait until `count` questions have arrived."""
        with self.asked:
            assert self.asked.wait_for(lambda: len(self.questions) >= count, 60), self.questions

    def speak(self) -> None:
        """Answer NXDOMAIN to the waiting questions and to later ones."""
        with self.asked:
            waiting, self.silent = self.silent or [], None
        for query, client in waiting:
            self.sock.sendto(_answer(query, {}).to_wire(), client)


@contextmanager
def answering(records: Mapping[str, str]) -> Iterator[NameServer]:
    """Serve `records`, such as {"a.example.com": "60 IN A 127.0.0.1"}, and NXDOMAIN otherwise.

    A name's records of one type are separated by newlines, and types by semicolons.
    """
    for name in records:  # parse in advance, so that a busy machine answers before a repeat
        _answer(dns.message.make_query(name, "A"), records)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
    ):
        sock.bind(tcp.getsockname())
        settings = dns.resolver.Resolver(configure=False)
        settings.nameservers = ["127.0.0.1"]
        settings.port = sock.getsockname()[1]
        settings.timeout = 60.0  # a busy machine must not lead to a second question
        server = NameServer(settings, sock)
        thread = threading.Thread(target=_serve, args=(sock, server, records))
        thread.start()
        by_tcp = threading.Thread(target=_serve_tcp, args=(tcp, server, records))
        by_tcp.start()
        try:
            yield server
        finally:
            tcp.shutdown(socket.SHUT_RDWR)
            by_tcp.join()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stop:
                stop.sendto(b"", sock.getsockname())
            thread.join()


def _serve(sock: socket.socket, server: NameServer, records: Mapping[str, str]) -> None:
    while True:
        wire, client = sock.recvfrom(4096)
        if not wire:
            return
        query = dns.message.from_wire(wire)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        with server.asked:
            server.questions.append((name, question.rdtype.name))
            server.asked.notify_all()
            if name.endswith(SILENT) and server.silent is not None:
                server.silent.append((query, client))
                continue
        with suppress(OSError):
            sock.sendto(_datagram(query, records), client)


_rrset = lru_cache(dns.rrset.from_text)  # parses thousands of records


def _datagram(query: dns.message.Message, records: Mapping[str, str]) -> bytes:
    """Return the answer, or a truncated one if it exceeds the size that the question allows."""
    answer = _answer(query, records)
    try:
        return answer.to_wire(max_size=max(512, query.payload))
    except dns.exception.TooBig:
        answer.flags |= dns.flags.TC
        answer.answer.clear()
        return answer.to_wire()


def _serve_tcp(tcp: socket.socket, server: NameServer, records: Mapping[str, str]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = tcp.accept()
            with connection, connection.makefile("rb") as received:
                wire = received.read(int.from_bytes(received.read(2), "big"))
                query = dns.message.from_wire(wire)
                server.questions.append((str(query.question[0].name)[:-1], "TCP"))
                connection.sendall(
                    _answer(query, records).to_wire(max_size=65535, prepend_length=True)
                )


def _answer(query: dns.message.Message, records: Mapping[str, str]) -> dns.message.Message:
    answer = dns.message.make_response(query)
    answer.flags |= dns.flags.RA
    question = query.question[0]
    name = question.name.to_text()
    if name[:-1] not in records:
        answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer
    while found := records.get(name[:-1]):
        alias = None
        for record in found.split(";"):
            ttl, _, kind, *_ = record.split()
            if kind not in (question.rdtype.name, "CNAME"):
                continue
            values = [line.split()[3] for line in record.strip().split("\n")]
            answer.answer.append(_rrset(name, int(ttl), "IN", kind, *values))
            alias = values[0] if kind == "CNAME" else None
        if alias is None:
            break
        name = alias
    return answer
