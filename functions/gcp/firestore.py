"""The Firestore client of this process, and the retry policy of its calls.

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
"""Limit of one call with its retries: longer than an outage of some seconds, and short enough to
leave time for further calls."""

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
"""Only for calls that may be repeated: reads and conditional writes."""


def project_id() -> str | None:
    """The project of this function; None: that of the credentials."""
    return os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")


@functools.cache
def client() -> firestore.Client:
    """The process's client, made on first use: a deploy reads `main.py` without credentials."""
    if os.environ.get("FIRESTORE_EMULATOR_HOST"):
        return firestore.Client(project=project_id())
    given, project = credentials()
    return firestore.Client(project=project_id() or project, credentials=given)


@functools.cache
def credentials() -> tuple[Any, str]:
    """The credentials of this function and their project; all clients share one token."""
    given, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    return given, project or ""
