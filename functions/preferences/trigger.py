"""The handler of the trigger of user records, whose account reads no key."""

from typing import TYPE_CHECKING

from functions.gcp.document_events import DocumentWritten
from functions.gcp.run_again import run_again
from functions.preferences.accounts import address_record_id

if TYPE_CHECKING:
    from functions.service import Service


def user_written(service: "Service", event: DocumentWritten) -> None:
    """List an account in the record of its address, where no query finds the account.

    Raises:
        InternalServerError: Eventarc has to run this again.
    """
    record = address_record_id(event.after.fields) if event.after else None
    if record:
        with run_again("preferences.account-not-noted"):
            service.users.note_account(record, event.ids["uid"])
