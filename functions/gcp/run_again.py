"""Failing a function so that Eventarc or Cloud Tasks runs it again."""

from collections.abc import Iterator
from contextlib import contextmanager

from firebase_functions.https_fn import HttpsError
from werkzeug.exceptions import InternalServerError

from functions import log


@contextmanager
def run_again(message: str) -> Iterator[None]:
    """Fail the function on any exception, so that Eventarc or Cloud Tasks runs it again.

    The exception is logged by type and place; the SDK would log its text, which may hold personal
    data.

    Raises:
        InternalServerError: for every exception except `HttpsError`.
    """
    try:
        yield
    except HttpsError:
        raise
    except Exception as error:  # noqa: BLE001 - every fault is run again
        log.fault(message, error)
        raise InternalServerError from None
