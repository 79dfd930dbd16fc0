"""The wall's part of the deployed functions: copies, orphan cleanup, forgetting of guests."""

from typing import TYPE_CHECKING

from functions import log
from functions.gcp.triggers import DocumentWritten, retry_on_error
from functions.wall import public_wall
from functions.wall.retention import TimeUpError

if TYPE_CHECKING:
    from functions.service import Service


def photo_written(service: "Service", event: DocumentWritten, *, is_public: bool) -> None:
    """A write of `events/{eventId}/photos/{photoId}`, which may change its public fields.

    Where the wall is not public (any more), an earlier copy of a photo that changes goes.

    Raises:
        InternalServerError: Eventarc is to run this again.
    """
    before = public_wall.public_fields(event.before)
    if before == public_wall.public_fields(event.after) or not (before or is_public):
        return
    change = public_wall.copy if is_public else public_wall.remove
    with retry_on_error("photo.not-shown"):
        change(service.documents, event.ids["eventId"], event.ids["photoId"])


def event_written(service: "Service", event: DocumentWritten) -> None:
    """A write of `events/{eventId}`: its deletion, or one that says when guests are forgotten.

    Raises:
        InternalServerError: Eventarc is to run this again.
    """
    if event.after is None:
        with retry_on_error("event.not-emptied"):
            service.orphan_cleanup.empty(event.ids["eventId"])
        return
    with retry_on_error("event.not-timed"):
        service.forgetting.event_written(event.before, event.after)


def sweep(service: "Service") -> None:
    """The schedule. What fails or is left is tried by the next one."""
    for part in (service.orphan_cleanup, service.forgetting):
        try:
            part.sweep()
        except TimeUpError:
            log.info("events.not-swept-yet")
        except Exception as error:  # noqa: BLE001 - its text may hold somebody's data
            log.fault("events.not-swept", error)
