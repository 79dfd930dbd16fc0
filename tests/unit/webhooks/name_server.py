"""A name server on loopback that answers what a test says, and to some names never."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import dns.flags
import dns.message
import dns.rcode
import dns.resolver
import dns.rrset

SILENT: Final = "silent.example.com"
"""Questions about this name or below it are not answered before the server `speak`s."""


@dataclass
class NameServer:
    """Its settings, as `resolver` takes them, and the questions so far: name and type."""

    settings: dns.resolver.Resolver
    sock: socket.socket
    questions: list[tuple[str, str]] = field(default_factory=list)
    asked: threading.Condition = field(default_factory=threading.Condition)
    silent: list[tuple[dns.message.Message, Any]] | None = field(default_factory=list)
    """The questions that wait for an answer, with who asked; None: no question waits any more."""

    def wait_for(self, count: int) -> None:
        """Wait until so many questions have come."""
        with self.asked:
            assert self.asked.wait_for(lambda: len(self.questions) >= count, 30), self.questions

    def speak(self) -> None:
        """Answer that there are no silent names, to the questions that wait and to later ones."""
        with self.asked:
            waiting, self.silent = self.silent or [], None
        for query, client in waiting:
            self.sock.sendto(_answer(query, {}).to_wire(), client)


@contextmanager
def answering(records: Mapping[str, str]) -> Iterator[NameServer]:
    """Answer with `records`, such as {"a.example.com": "60 IN A 127.0.0.1"}; else NXDOMAIN.

    A name's records of one type are separated by newlines, those of several types by semicolons.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        settings = dns.resolver.Resolver(configure=False)
        settings.nameservers = ["127.0.0.1"]
        settings.port = sock.getsockname()[1]
        server = NameServer(settings, sock)
        thread = threading.Thread(target=_serve, args=(sock, server, records))
        thread.start()
        try:
            yield server
        finally:
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
            sock.sendto(_answer(query, records).to_wire(), client)


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
            answer.answer.append(dns.rrset.from_text(name, int(ttl), "IN", kind, *values))
            alias = values[0] if kind == "CNAME" else None
        if alias is None:
            break
        name = alias
    return answer
