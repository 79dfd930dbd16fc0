"""The receiver's verification of signatures, as the specification defines it.

It shares no code with the service.
"""

import hashlib
import hmac
import re

# Maximum age of a signature (spec 5, receiver side, step 2).
SIGNATURE_TOLERANCE_SECONDS = 300

_UNIX_SECONDS = re.compile(r"[0-9]{1,15}")


def signature_problem(header: str | None, body: bytes, secret: str, now: float) -> str:
    """Verify `Wall-Signature` as a receiver must (spec 5, receiver side).

    Args:
        header: The header's value, or None if the header is missing.
        body: The raw request body.
        secret: The event's webhook secret.
        now: Unix time in seconds.

    Returns:
        The reason to reject the request. Empty if the signature is valid.
    """
    parts = [part.strip().partition("=")[::2] for part in (header or "").split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "")
    signatures = [value for name, value in parts if name == "v1" and value]
    if not timestamp or not signatures:
        return "t or v1 is missing"
    if not _UNIX_SECONDS.fullmatch(timestamp):
        return "t is not a number of seconds"
    if abs(now - int(timestamp)) > SIGNATURE_TOLERANCE_SECONDS:
        return f"t is more than {SIGNATURE_TOLERANCE_SECONDS} seconds away"
    signed = timestamp.encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # As bytes, because compare_digest rejects non-ASCII text.
    if not any(hmac.compare_digest(expected, v1.encode("utf-8", "replace")) for v1 in signatures):
        return "v1 does not match"
    return ""
