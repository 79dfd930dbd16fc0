"""How a function of ours fails where Eventarc or Cloud Tasks is to run it again."""

from collections.abc import Iterator
from contextlib import contextmanager

from firebase_functions.https_fn import HttpsError
from werkzeug.exceptions import InternalServerError

from functions import log


@contextmanager
def run_again(message: str) -> Iterator[None]:
    """Let a fault of ours fail the function, so that Eventarc or Cloud Tasks runs it again.

    Logged by its type and place: the SDK would log its text, which may hold somebody's data.

    Raises:
        InternalServerError: for any exception that is no answer itself.
    """
    try:
        yield
    except HttpsError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is
        log.fault(message, error)
        raise InternalServerError from None
