"""Both signatures of a delivery: `Wall-Signature`, and that of Standard Webhooks (spec 5 and 6.2).

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

HEADER: Final = "Wall-Signature"
PREFIX: Final = "whsec_"


def sign(secret: str, body: bytes, *, at: int) -> str:
    """Value of `Wall-Signature` for `body`, signed `at` that Unix time in seconds.

    HMAC-SHA256 keyed with `secret`, over `<t>.<body>`, as lowercase hex.
    """
    mac = hmac.digest(secret.encode(), b"%d.%b" % (at, body), "sha256")
    return f"t={at},v1={mac.hex()}"


def standard_headers(secret: str, delivery_id: str, body: bytes, *, at: int) -> Mapping[str, str]:
    """The three headers of Standard Webhooks for `body`, signed `at` that Unix time in seconds.

    HMAC-SHA256 over `<id>.<t>.<body>`, as base64.
    """
    signed = b"%b.%d.%b" % (delivery_id.encode(), at, body)
    mac = hmac.digest(_standard_key(secret), signed, "sha256")
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(mac).decode()}",
    }


def _standard_key(secret: str) -> bytes:
    """The bytes that stand behind `whsec_` in base64; for any other secret those of its text.

    Secrets made before the service knew Standard Webhooks are in no base64 that its libraries read.
    """
    if secret.startswith(PREFIX):
        with suppress(ValueError):
            return b64decode(secret.removeprefix(PREFIX), validate=True) or secret.encode()
    return secret.encode()
