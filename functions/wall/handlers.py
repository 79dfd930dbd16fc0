"""What the deployed functions call of the wall itself: a deleted event is emptied."""

from functions import log
from functions.gcp.document_events import DocumentWritten
from functions.gcp.run_again import run_again
from functions.wall import wiring
from functions.wall.emptying import NotEmptyYetError


def event_written(event: DocumentWritten) -> None:
    """A write of `events/{eventId}`, which may be its deletion.

    Raises:
        InternalServerError: Eventarc is to run this again.
    """
    if event.after is not None:
        return
    with run_again("event.not-emptied"):
        wiring.emptying().empty(event.ids["eventId"])


def sweep() -> None:
    """The schedule. What fails or is left is tried by the next one."""
    try:
        wiring.emptying().sweep()
    except NotEmptyYetError:
        log.info("events.not-swept-yet")
    except Exception as error:  # noqa: BLE001 - its text may hold somebody's data
        log.fault("events.not-swept", error)
