"""Google's metadata server on loopback. It counts requests, and refuses them if a test wants it.

https://cloud.google.com/run/docs/container-contract#metadata-server
"""

import json
from http import HTTPStatus
from typing import Any, Final, Self

from emulator.firebase import PROJECT
from emulator.server import HOST, HttpRequest, HttpResponse, StandIn

_ACCOUNT: Final = {"email": f"wall-webhooks@{PROJECT}.iam.gserviceaccount.com", "scopes": []}
_TOKEN: Final = {"access_token": "made-up", "expires_in": 3600, "token_type": "Bearer"}


class MetadataServer:
    """A context manager that ends it; `environment` has a function's process ask it."""

    def __init__(self) -> None:
        self.requests = 0
        self.refusing = False
        self._server = StandIn(self._answer)
        address = f"{HOST}:{self._server.port}"
        self.environment: dict[str, Any] = {
            "GCE_METADATA_HOST": address,
            "GCE_METADATA_IP": address,
            "NO_GCE_CHECK": "false",
        }

    def _answer(self, asked: HttpRequest) -> HttpResponse:
        self.requests += 1
        path, text = asked.path.partition("?")[0], ""
        if path.endswith("/token"):
            text = json.dumps(_TOKEN)
        elif "/service-accounts/" in path:
            text = json.dumps(_ACCOUNT)
        elif path.endswith("/project-id"):
            text = PROJECT
        status = HTTPStatus.FORBIDDEN if self.refusing else HTTPStatus.OK
        headers = {"Metadata-Flavor": "Google", "Content-Type": "application/json"}
        return status, headers, text.encode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
