"""What triggers, queues and the schedule call: from their events to the nouns of this package."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from firebase_functions.https_fn import FunctionsErrorCode, HttpsError
from werkzeug.exceptions import InternalServerError

from functions import log
from functions.webhooks import service
from functions.webhooks.attempt_task import AttemptRequest, TooEarlyError
from functions.webhooks.records import Photo, WallEvent


def photo_written(event: Any) -> None:
    """A write of `events/{eventId}/photos/{photoId}`."""
    photo_id = event.params["photoId"]
    with _run_again("photo.not-published"):
        service.publisher().photo_written(
            event.id,
            event.params["eventId"],
            _photo(photo_id, event.data.before),
            _photo(photo_id, event.data.after),
        )


def event_written(event: Any) -> None:
    """A write of `events/{eventId}`."""
    with _run_again("event.not-published"):
        service.publisher().event_written(
            event.id,
            event.params["eventId"],
            _wall_event(event.data.before),
            _wall_event(event.data.after),
        )


def attempt(data: Any) -> None:
    """A task of one of the ladder's queues.

    Raises:
        HttpsError: `aborted`, so that the queue brings the task back after its backoff, where the
            attempt is not due yet. Not `unavailable`: Cloud Tasks would throttle the queue.
            `invalid-argument` where the body is no task of ours.
    """
    try:
        request = AttemptRequest.read(data)
    except ValueError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    with _run_again("delivery.not-attempted"):
        try:
            service.worker().attempt(request)
        except TooEarlyError as early:
            raise HttpsError(FunctionsErrorCode.ABORTED, "the attempt is not due yet") from early


def sweep() -> None:
    """The schedule. What fails is tried by the next one."""
    try:
        service.sweeper().sweep()
    except Exception as error:  # noqa: BLE001 - see `_run_again`
        log.fault("deliveries.not-swept", error)


@contextmanager
def _run_again(message: str) -> Iterator[None]:
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


def _photo(photo_id: str, snapshot: Any) -> Photo | None:
    if snapshot is None:
        return None
    return Photo.read(
        photo_id,
        snapshot.to_dict(),
        created=_moment(snapshot.create_time),
        updated=_moment(snapshot.update_time),
    )


def _wall_event(snapshot: Any) -> WallEvent | None:
    if snapshot is None:
        return None
    return WallEvent.read(snapshot.to_dict(), updated=_moment(snapshot.update_time))


def _moment(timestamp: Any) -> datetime:
    moment: datetime = timestamp
    return moment
