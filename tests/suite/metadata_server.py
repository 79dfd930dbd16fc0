"""Google's metadata server, on loopback: counts requests, and refuses them where a test says so.

https://cloud.google.com/run/docs/container-contract#metadata-server
"""

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

from emulator.firebase import PROJECT

_ACCOUNT: Final = {"email": f"wall-webhooks@{PROJECT}.iam.gserviceaccount.com", "scopes": []}
_TOKEN: Final = {"access_token": "made-up", "expires_in": 3600, "token_type": "Bearer"}


class MetadataServer:
    """A context manager that ends it; `environment` has a function's process ask it."""

    def __init__(self) -> None:
        self.requests = 0
        self.refusing = False
        server = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests += 1
                self.send_response(HTTPStatus.FORBIDDEN if server.refusing else HTTPStatus.OK)
                self.send_header("Metadata-Flavor", "Google")
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                path = self.path.partition("?")[0]
                if path.endswith("/token"):
                    self.wfile.write(json.dumps(_TOKEN).encode())
                elif "/service-accounts/" in path:
                    self.wfile.write(json.dumps(_ACCOUNT).encode())
                elif path.endswith("/project-id"):
                    self.wfile.write(PROJECT.encode())

            def log_message(self, *_: object) -> None:
                """Not on a test's output."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        address = f"127.0.0.1:{self._server.server_port}"
        self.environment: dict[str, Any] = {
            "GCE_METADATA_HOST": address,
            "GCE_METADATA_IP": address,
            "NO_GCE_CHECK": "false",
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
