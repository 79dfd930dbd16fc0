"""The local certificate authority, and the certificates of webhook receivers on this machine.

Files are created on first use and never committed. The local functions trust `ca.pem`
(`WEBHOOK_CA_BUNDLE`), and the local receivers use the key and chain in `server.pem`. The mailbox
signs its delivery reports with `mailbox.pem`, and the functions verify them with `mailbox.pub`.
"""

import base64
import contextlib
import fcntl
import hashlib
import os
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tools.paths import ROOT

FOLDER = ROOT / "emulator" / "certs"
CA = FOLDER / "ca.pem"
CA_KEY = FOLDER / "ca-key.pem"
SERVER = FOLDER / "server.pem"
MAILBOX_KEY = FOLDER / "mailbox.pem"
MAILBOX_PUBLIC = FOLDER / "mailbox.pub"
SERVER_NAMES = ("localhost", "127.0.0.1", "::1")


def ensure() -> None:
    """Create `ca.pem`, `server.pem` and the mailbox's keys if they are missing or damaged."""
    issue(SERVER_NAMES)
    mailbox_key()


def mailbox_key() -> ec.EllipticCurvePrivateKey:
    """Return the mailbox's signing key. The first call creates the key pair."""
    with _lock():
        with contextlib.suppress(OSError, ValueError):
            key = serialization.load_pem_private_key(MAILBOX_KEY.read_bytes(), password=None)
            if isinstance(key, ec.EllipticCurvePrivateKey) and MAILBOX_PUBLIC.exists():
                return key
        key = ec.generate_private_key(ec.SECP256R1())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        # The format in which SendGrid shows its key.
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        _write(MAILBOX_KEY, private)
        _write(MAILBOX_PUBLIC, base64.b64encode(public), mode=0o644)
        return key


def issue(names: Sequence[str]) -> Path:
    """Return a file with a private key and a certificate chain for `names`.

    Args:
        names: Host names and IP addresses.
    """
    path = SERVER if tuple(names) == SERVER_NAMES else FOLDER / f"issued-{_slug(names)}.pem"
    with _lock():
        authority = _authority()
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path)
        except OSError:
            _write(path, authority.issue_cert(*names).private_key_and_cert_chain_pem.bytes())
    return path


def _authority() -> trustme.CA:
    with contextlib.suppress(OSError, ValueError):
        return trustme.CA.from_pem(CA.read_bytes(), CA_KEY.read_bytes())
    authority = trustme.CA()
    for signed_by_another in (SERVER, *FOLDER.glob("issued-*.pem")):
        signed_by_another.unlink(missing_ok=True)
    _write(CA_KEY, authority.private_key_pem.bytes())
    _write(CA, authority.cert_pem.bytes(), mode=0o644)
    return authority


def _write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file atomically."""
    draft = path.with_suffix(f".{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    draft.replace(path)


def _slug(names: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
