"""The project, the credentials and the gRPC channels of this process."""

import os
from typing import Any, Final

import google.auth

from functions.once import once

CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
)
"""The options of the channel of Google's own Firestore client. The generated clients alone send no
keepalive, and would keep a connection that went silent for a quarter of an hour."""


def project_id() -> str | None:
    """The project of this function; None: that of the credentials."""
    return os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")


@once
def credentials() -> tuple[Any, str]:
    """The credentials of this function and their project; all clients share one token."""
    given, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    return given, project or ""
