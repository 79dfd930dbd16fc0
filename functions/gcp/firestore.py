"""The Firestore client of this process, and what every call of it needs.

https://cloud.google.com/python/docs/reference/firestore/latest
"""

import functools
import os
from typing import Any, Final

import google.auth
from google.api_core import exceptions
from google.api_core.retry import Retry, if_exception_type
from google.cloud import firestore

CALL_SECONDS: Final = 25.0
"""How long one call may take with its repetitions: an outage of some seconds passes unseen, and
the rest of the function's time-out is left for what follows."""

RETRY: Final = Retry(
    predicate=if_exception_type(
        exceptions.ServiceUnavailable,
        exceptions.DeadlineExceeded,
        exceptions.InternalServerError,
        exceptions.ResourceExhausted,
        exceptions.Aborted,
    ),
    initial=0.1,
    maximum=2.0,
    timeout=CALL_SECONDS,
)
"""Only for calls that may be repeated: reads, and writes under a precondition."""


def project_id() -> str | None:
    """The project that this function belongs to; None leaves it to the credentials."""
    return os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")


@functools.cache
def client() -> firestore.Client:
    """One client a process, made on first use: a deploy reads `main.py` without credentials."""
    if os.environ.get("FIRESTORE_EMULATOR_HOST"):
        return firestore.Client(project=project_id())
    given, project = credentials()
    return firestore.Client(project=project_id() or project, credentials=given)


@functools.cache
def credentials() -> tuple[Any, str]:
    """What this function runs with, and the project of it; the token is fetched once for all."""
    given, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    return given, project or ""
