"""The project and the credentials of this process."""

import os
from typing import Any

import google.auth

from functions.once import once


def project_id() -> str | None:
    """The project of this function; None: that of the credentials."""
    return os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")


@once
def credentials() -> tuple[Any, str]:
    """The credentials of this function and their project; all clients share one token."""
    given, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    return given, project or ""
