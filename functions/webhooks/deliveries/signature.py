"""The signature of a delivery: `t=<unix seconds>,v1=<hex>` (spec 5 and 6.2)."""

import hmac
from typing import Final

HEADER: Final = "Wall-Signature"


def sign(secret: str, body: bytes, *, at: int) -> str:
    """Value of `Wall-Signature` for `body`, signed `at` that Unix time in seconds.

    HMAC-SHA256 keyed with `secret`, over `<t>.<body>`, as lowercase hex.
    """
    mac = hmac.digest(secret.encode(), b"%d.%b" % (at, body), "sha256")
    return f"t={at},v1={mac.hex()}"
