"""Project, credentials and gRPC options of the process, which all clients of Google share."""

import os
from typing import Any, Final

import google.auth

from functions.cache import once

CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
)
"""Channel options of Google's own Firestore client. Without them, the generated clients send no
keepalive, and would use a dead connection for a quarter of an hour."""


def project_id() -> str | None:
    """Return the project of this function, or None to use the credentials' project."""
    return os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")


@once
def credentials() -> tuple[Any, str]:
    """Return the credentials of this function and their project. All clients share one token."""
    own, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    return own, project or ""
