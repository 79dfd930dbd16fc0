"""The CPU time that a hostile receiver can cost is a small multiple of an honest receiver's.

The POSTs run in a process with the deployed environment, as OpenSSL reads its settings once. The
receivers run in the process of the tests, whose OpenSSL offers all suites and groups.
"""

import base64
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import trustme

from emulator import certificates
from functions.webhooks.sender.adapter import PinnedAdapter
from tests.unit.clock import Clock
from tests.unit.webhooks.tls_receivers import OK, answers, serving
from tools import env_file
from tools.paths import ROOT

AT_MOST: Final = 5.0
"""The CPU of a POST as a multiple of a POST to an honest receiver."""

PYTHONS: Final = (
    "@SECLEVEL=2:ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:DHE+AES:!aNULL:!eNULL:!aDSS:!SHA1:!AESCCM"
)
"""The cipher suites of CPython (`Modules/_ssl.c`). Debian's Python has those of OpenSSL."""

HANDSHAKE_FAILED: Final = "the TLS handshake failed"
LONG: Final = "the answer's head is longer than 32 KB or 256 lines"


def _group(name: str) -> Callable[[ssl.SSLContext], None]:
    return lambda server: server.set_ecdh_curve(name)


def _suites(names: str) -> Callable[[ssl.SSLContext], None]:
    def settle(server: ssl.SSLContext) -> None:
        server.maximum_version = ssl.TLSVersion.TLSv1_2
        server.set_ciphers(names)

    return settle


def _finite_field(server: ssl.SSLContext) -> None:
    """Use TLS 1.2 with a key exchange of 8192 bits. No client checks that the number is prime."""
    number = (2**8192 - 2**100 - 1).to_bytes(1024, "big")
    der = bytes.fromhex("308204080282040100") + number + bytes.fromhex("020102")
    file = ROOT / "emulator" / "certs" / "dh8192.pem"
    file.write_text(
        "-----BEGIN DH PARAMETERS-----\n"
        f"{base64.encodebytes(der).decode()}-----END DH PARAMETERS-----\n"
    )
    server.load_dh_params(str(file))
    _rsa(server)
    _suites("DHE")(server)


def _tickets(number: int) -> Callable[[ssl.SSLContext], None]:
    return lambda server: setattr(server, "num_tickets", number)


def _rsa(server: ssl.SSLContext) -> None:
    authority = trustme.CA.from_pem(certificates.CA.read_bytes(), certificates.CA_KEY.read_bytes())
    authority.issue_cert("localhost", key_type=trustme.KeyType.RSA).configure_cert(server)


@dataclass(frozen=True)
class _Receiver:
    """The TLS settings and the answer of a receiver, and the outcome of a POST to it."""

    settle: Callable[[ssl.SSLContext], None] = lambda _: None
    answer: bytes = OK
    outcome: int | str = 200


RECEIVERS: Final[Mapping[str, _Receiver]] = {
    "honest": _Receiver(),
    "TLS 1.2": _Receiver(_suites("ECDHE")),
    "only ECDHE": _Receiver(_suites("ECDHE+AESGCM")),
    "only CBC": _Receiver(_suites("ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384")),
    "an RSA key": _Receiver(_rsa),
    "only X25519": _Receiver(_group("X25519")),
    "only P-384": _Receiver(_group("secp384r1")),
    "only P-521": _Receiver(_group("secp521r1")),
    "only X448": _Receiver(_group("X448")),
    "a finite field of 2048 bits": _Receiver(_group("ffdhe2048"), outcome=HANDSHAKE_FAILED),
    "a finite field of 8192 bits": _Receiver(_group("ffdhe8192"), outcome=HANDSHAKE_FAILED),
    "a finite field in TLS 1.2": _Receiver(_finite_field, outcome=HANDSHAKE_FAILED),
    "250 lines": _Receiver(answer=OK.replace(b"\r\n", b"\r\n" + b"a: b\r\n" * 250, 1)),
    "10,000 lines": _Receiver(
        answer=b"HTTP/1.1 200 OK\r\n" + b"a\r\n" * 10_000 + b"\r\n", outcome=LONG
    ),
    "10,000 session tickets": _Receiver(_tickets(10_000), outcome=LONG),
    "2,000 answers": _Receiver(answer=b"HTTP/1.1 100\r\n\r\n" * 2000, outcome=LONG),
}


_POST: Final = """
import json, sys, time
from functions.webhooks.worker import SendError
from tests.unit.webhooks.tls_receivers import post, sending

def cpu_of_a_post(port):
    began = time.thread_time()
    with sending(timeout=60) as sender:
        try:
            outcome = post(sender, port)
        except SendError as error:
            outcome = str(error.__cause__ if isinstance(error.__cause__, SendError) else error)
    return time.thread_time() - began, outcome

ports = json.loads(sys.argv[1])
times = int(sys.argv[2])
rounds = [{name: cpu_of_a_post(port) for name, port in ports.items()} for _ in range(times)]
print(json.dumps({name: min(each[name] for each in rounds) for name in ports}))
"""


def posts(openssl_conf: str, times: int) -> Mapping[str, tuple[float, int | str]]:
    """Return the lowest CPU time of a POST to each receiver in seconds, and its outcome."""
    with ExitStack() as stack:
        ports = {
            name: stack.enter_context(serving(answers(to.answer), settle=to.settle)).port
            for name, to in RECEIVERS.items()
        }
        ran = subprocess.run(
            [sys.executable, "-c", _POST, json.dumps(ports), str(times)],
            env={**os.environ, "OPENSSL_CONF": openssl_conf},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
        )
    return {name: tuple(found) for name, found in json.loads(ran.stdout).items()}


@pytest.fixture(scope="module")
def deployed() -> Mapping[str, tuple[float, int | str]]:
    """Return CPU times and outcomes with the deployed environment."""
    return posts(env_file.read(ROOT / ".env")["OPENSSL_CONF"], times=6)


@pytest.mark.parametrize("name", RECEIVERS)
def test_no_receiver_costs_more_than_five_times_the_cpu(
    name: str, deployed: Mapping[str, tuple[float, int | str]]
) -> None:
    """Support every elliptic curve and no finite field, and read at most 256 lines of a head."""
    try:
        RECEIVERS[name].settle(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    except ssl.SSLError as error:  # Python 3.11.2 of Debian 12 supports only NIST curves
        pytest.skip(f"this Python cannot serve it: {error.reason}")
    seconds, outcome = deployed[name]
    assert outcome == RECEIVERS[name].outcome
    assert seconds <= AT_MOST * deployed["honest"][0]


def test_receivers_are_reached_without_the_openssl_settings(tmp_path: Path) -> None:
    """If the file is missing, only the groups of TLS 1.3 are the defaults of OpenSSL."""
    found = posts(str(tmp_path / "missing.cnf"), times=1)
    failed = {name for name, (_, outcome) in found.items() if outcome == HANDSHAKE_FAILED}
    # The defaults of OpenSSL 3.5 and later do not include the group of 8192 bits.
    assert failed - {"a finite field of 8192 bits"} == {"a finite field in TLS 1.2"}


def test_only_finite_fields_are_missing_from_pythons_suites() -> None:
    """A list of our own could exclude an honest server."""
    tls = ssl.create_default_context()
    tls.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED  # as Debian's Python has it
    tls.set_ciphers(PYTHONS)
    default = {suite["name"] for suite in tls.get_ciphers()}
    PinnedAdapter(tls, Clock().process).watch.close()
    assert {suite["name"] for suite in tls.get_ciphers()} == {
        name for name in default if not name.startswith("DHE-")
    }
    assert tls.minimum_version == ssl.TLSVersion.TLSv1_2
