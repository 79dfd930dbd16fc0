"""The local certificate authority and what it signs, for webhook receivers on this machine.

Made on first use, renewed in time, never committed. `ca.pem` is what the functions emulator
trusts (`WEBHOOK_CA_BUNDLE`), `server.pem` is the key and chain of the local receivers. The mailbox
signs what it tells of mails with the key `mailbox.pem`, of which the functions get `mailbox.pub`.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import ipaddress
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from emulator.environment import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FOLDER = ROOT / "emulator" / "certs"
CA = FOLDER / "ca.pem"
CA_KEY = FOLDER / "ca-key.pem"
SERVER = FOLDER / "server.pem"
MAILBOX_KEY = FOLDER / "mailbox.pem"
MAILBOX_PUBLIC = FOLDER / "mailbox.pub"
SERVER_NAMES = ("localhost", "127.0.0.1", "::1")

CA_LIFETIME = timedelta(days=365)
LIFETIME = timedelta(days=90)
# Renewed when less than this is left: a suite that stays up for days must not outlive them.
RENEW_BEFORE = timedelta(days=14)
# Clocks of containers and hosts differ.
CLOCK_SKEW = timedelta(hours=1)


def ensure() -> None:
    """Make or renew `ca.pem` and `server.pem`, and make the mailbox's keys."""
    issue(SERVER_NAMES)
    mailbox_key()


def mailbox_key() -> ec.EllipticCurvePrivateKey:
    """Return the key that the mailbox signs with; made on first use, with its public half."""
    with _only_one():
        with contextlib.suppress(OSError, ValueError):
            key = serialization.load_pem_private_key(MAILBOX_KEY.read_bytes(), password=None)
            if isinstance(key, ec.EllipticCurvePrivateKey) and MAILBOX_PUBLIC.exists():
                return key
        key = ec.generate_private_key(ec.SECP256R1())
        # As SendGrid shows it.
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        _write(MAILBOX_KEY, _pem(key))
        _write(MAILBOX_PUBLIC, base64.b64encode(public), mode=0o644)
        return key


def issue(names: Sequence[str]) -> Path:
    """Return a file with a private key and its certificate chain for other names.

    One that was made before for the same names is used again while it is valid.

    Args:
        names: Host names and IP addresses.
    """
    path = SERVER if tuple(names) == SERVER_NAMES else FOLDER / f"issued-{_slug(names)}.pem"
    with _only_one():
        authority, key = _authority()
        if not _is_valid(path, authority):
            _write_leaf(path, names, authority, key)
    return path


def _authority() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    with contextlib.suppress(OSError, ValueError):
        certificate = x509.load_pem_x509_certificate(CA.read_bytes())
        key = serialization.load_pem_private_key(CA_KEY.read_bytes(), password=None)
        if (
            isinstance(key, ec.EllipticCurvePrivateKey)
            and key.public_key() == certificate.public_key()
            and _has_time(certificate)
        ):
            return certificate, key
    return _make_authority()


def _make_authority() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    # The serial number in the name keeps an older authority of the same name apart.
    serial = x509.random_serial_number()
    name = _name(f"Local wall authority {serial:x}"[:64])
    usage = _key_usage(key_cert_sign=True, crl_sign=True, digital_signature=False)
    certificate = (
        _builder(name, name, key, CA_LIFETIME)
        .serial_number(serial)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _write(CA_KEY, _pem(key))
    _write(CA, certificate.public_bytes(serialization.Encoding.PEM), mode=0o644)
    return certificate, key


def _write_leaf(
    path: Path,
    names: Sequence[str],
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    authority_id = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    certificate = (
        _builder(_name(names[0][:64]), authority.subject, key, LIFETIME)
        .serial_number(x509.random_serial_number())
        .add_extension(x509.SubjectAlternativeName(map(_general_name, names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority_id),
            critical=False,
        )
        .sign(authority_key, hashes.SHA256())
    )
    chain = [certificate.public_bytes(serialization.Encoding.PEM), CA.read_bytes()]
    _write(path, b"".join([_pem(key), *chain]))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + lifetime)
    )


def _is_valid(path: Path, authority: x509.Certificate) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
        certificate.verify_directly_issued_by(authority)
    except (OSError, ValueError, TypeError, InvalidSignature):
        return False
    return _has_time(certificate)


def _has_time(certificate: x509.Certificate) -> bool:
    return certificate.not_valid_after_utc - datetime.now(UTC) > RENEW_BEFORE


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _key_usage(
    *,
    digital_signature: bool,
    key_cert_sign: bool = False,
    crl_sign: bool = False,
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file at once: a reader sees the old one or the new one."""
    draft = path.with_suffix(f".{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    draft.replace(path)


def _slug(names: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
