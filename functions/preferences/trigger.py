"""What the trigger of user records calls; its account reads no key, unlike that of the calls."""

from functions.gcp.document_events import DocumentWritten
from functions.gcp.run_again import run_again
from functions.preferences import wiring
from functions.preferences.accounts import address_record_id


def user_written(event: DocumentWritten) -> None:
    """A write of `users/{uid}`: the record of its address names it, where no query finds it.

    Raises:
        InternalServerError: Eventarc is to run this again.
    """
    record = address_record_id(event.after.fields) if event.after else None
    if record:
        with run_again("preferences.account-not-noted"):
            wiring.users().note_account(record, event.ids["uid"])
