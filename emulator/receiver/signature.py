"""The receiver's side of the signature, as the specification words it.

It shares no code with the service that signs.
"""

import hashlib
import hmac
import re

# Seconds by which a signature's time may differ from now (spec 5, receiver side, step 2).
SIGNATURE_TOLERANCE = 300

_UNIX_SECONDS = re.compile(r"[0-9]{1,15}")


def signature_problem(header: str | None, body: bytes, secret: str, now: float) -> str:
    """Check `Wall-Signature` as a receiver must (spec 5, receiver side).

    Args:
        header: The header's value, None if the request has no such header.
        body: The raw request body.
        secret: The event's webhook secret.
        now: Seconds since the epoch.

    Returns:
        Why the request is to be rejected; empty when it is genuine.
    """
    parts = [part.strip().partition("=")[::2] for part in (header or "").split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "")
    given = [value for name, value in parts if name == "v1" and value]
    if not timestamp or not given:
        return "t or v1 is missing"
    if not _UNIX_SECONDS.fullmatch(timestamp):
        return "t is not a number of seconds"
    if abs(now - int(timestamp)) > SIGNATURE_TOLERANCE:
        return f"t is more than {SIGNATURE_TOLERANCE} seconds away"
    signed = timestamp.encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # As bytes: compare_digest refuses text beyond ASCII.
    if not any(hmac.compare_digest(expected, v1.encode("utf-8", "replace")) for v1 in given):
        return "v1 does not match"
    return ""
