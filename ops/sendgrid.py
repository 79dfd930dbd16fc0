"""SendGrid's API for operators: erasure.

https://www.twilio.com/docs/sendgrid/api-reference
"""

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Final

from ops.cloud import OpsError

_SECONDS: Final = 60
_TOLD: Final = 300  # characters of a refusal


def erase(addresses: Sequence[str], *, host: str, key: str) -> None:
    """Have all that SendGrid has of these addresses erased.

    Raises:
        OpsError: SendGrid refuses.
    """
    request = urllib.request.Request(  # noqa: S310 - the setting of the service itself
        f"{host.rstrip('/')}/v3/recipients/erasejob",
        json.dumps({"email_addresses": list(addresses)}).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        urllib.request.urlopen(request, timeout=_SECONDS).close()  # noqa: S310
    except urllib.error.HTTPError as error:
        told = error.read().decode(errors="replace")[:_TOLD]
        raise OpsError(f"SendGrid refuses the erasure: {error.code} {told}") from error
    except OSError as error:
        raise OpsError(f"SendGrid cannot be reached: {error}") from error
