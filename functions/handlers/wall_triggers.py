"""Handlers of the wall's triggers and sweep: public copies of photos, and data retention."""

from typing import TYPE_CHECKING

from functions import log
from functions.gcp.triggers import DocumentWritten, retry_on_error
from functions.wall import public_wall, retention

if TYPE_CHECKING:
    from functions.service import Service


def photo_written(service: "Service", event: DocumentWritten, *, is_public: bool) -> None:
    """Update the public copy after a write of `events/{eventId}/photos/{photoId}`.

    If the wall is not public, delete an earlier copy.

    Raises:
        InternalServerError: An internal error. Eventarc retries the call.
    """
    before = public_wall.public_fields(event.before)
    if before == public_wall.public_fields(event.after) or not (before or is_public):
        return
    change = public_wall.copy if is_public else public_wall.remove
    with retry_on_error("photo.not-shown"):
        change(service.documents, event.ids["eventId"], event.ids["photoId"])


def event_written(service: "Service", event: DocumentWritten) -> None:
    """Delete the orphans of a deleted event, or update the retention timer after another write.

    Raises:
        InternalServerError: An internal error. Eventarc retries the call.
    """
    if event.after is None:
        with retry_on_error("event.not-emptied"):
            service.orphan_cleanup.empty(event.ids["eventId"])
        return
    with retry_on_error("event.not-timed"):
        service.forgetting.event_written(event.before, event.after)


def sweep(service: "Service") -> None:
    """Run the retention sweeps. The next sweep retries errors and continues unfinished work."""
    for part in (service.orphan_cleanup, service.forgetting):
        try:
            part.sweep()
        except retention.TimeUpError:
            log.info("events.not-swept-yet")
        except Exception as error:  # noqa: BLE001 - the text may contain personal data
            log.fault("events.not-swept", error)
