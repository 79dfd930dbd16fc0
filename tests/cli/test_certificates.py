"""Local certificates satisfy a strict TLS client."""

import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator import certificates

LIMIT_SECONDS = 60.0


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a temporary folder instead of the checkout's certificates."""
    for name, file in {"CA": "ca.pem", "CA_KEY": "ca-key.pem", "SERVER": "server.pem"}.items():
        monkeypatch.setattr(certificates, name, tmp_path / file)
    monkeypatch.setattr(certificates, "FOLDER", tmp_path)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Listen for TLS handshakes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(LIMIT_SECONDS)
        yield listener


def shake_hands(listener: socket.socket, certificate: Path, name: str) -> None:
    """Connect as a strict client. Errors of the handshake are raised."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)

    def serve() -> None:
        connection, _ = listener.accept()
        try:
            server.wrap_socket(connection, server_side=True).close()
        except OSError:
            connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    client = ssl.create_default_context(cafile=certificates.CA)
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    try:
        with (
            socket.create_connection(listener.getsockname(), LIMIT_SECONDS) as plain,
            client.wrap_socket(plain, server_hostname=name),
        ):
            pass
    finally:
        thread.join()


def test_private_keys_are_readable_by_their_owner_only() -> None:
    """Keep the keys private. The certificate may be read by all users."""
    certificates.ensure()

    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (certificates.CA_KEY, certificates.SERVER, certificates.CA)
    ]
    assert modes == [0o600, 0o600, 0o644]


def test_certificates_are_kept_while_they_are_valid() -> None:
    """Issue a certificate only once, so that running receivers stay valid."""
    certificates.ensure()
    before = certificates.CA.read_bytes(), certificates.SERVER.read_bytes()

    certificates.ensure()

    assert (certificates.CA.read_bytes(), certificates.SERVER.read_bytes()) == before


@pytest.mark.parametrize("file", ["CA", "CA_KEY", "SERVER"])
def test_a_damaged_file_is_replaced(file: str, listener: socket.socket) -> None:
    """Recover from an interrupted write."""
    certificates.ensure()
    getattr(certificates, file).write_bytes(b"damaged")

    certificates.ensure()

    shake_hands(listener, certificates.SERVER, "localhost")
