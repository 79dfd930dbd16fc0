"""SendGrid's API for operators: erasure.

https://www.twilio.com/docs/sendgrid/api-reference
"""

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ops.cloud import OpsError
from ops.wanted import settings_of

_SECONDS: Final = 60
_TOLD: Final = 300  # characters of a refusal


class Account:
    """The account that a key belongs to, at the host of the project's settings."""

    def __init__(self, root: Path, project: str, key: str) -> None:
        """Call nothing yet."""
        self._host = settings_of(root, project).get("SENDGRID_HOST", "").rstrip("/")
        self._key = key

    def erase(self, addresses: Sequence[str]) -> None:
        """Have all that SendGrid has of these addresses erased.

        Raises:
            OpsError: SendGrid refuses.
        """
        self._call("POST", "v3/recipients/erasejob", {"email_addresses": list(addresses)})

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the setting of the service itself
            f"{self._host}/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            told = error.read().decode(errors="replace")[:_TOLD]
            raise OpsError(
                f"SendGrid refuses {path.partition('?')[0]}: {error.code} {told}"
            ) from error
        except OSError as error:
            raise OpsError(f"SendGrid cannot be reached: {error}") from error
