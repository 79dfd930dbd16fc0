"""The handler of the trigger of user records, whose account reads no key."""

from typing import TYPE_CHECKING

from functions.gcp.document_events import DocumentWritten
from functions.gcp.run_again import run_again
from functions.preferences.accounts import account_address, address_record_id, has_verified
from functions.preferences.preferences import CHOSEN_AT, Flag, flags

if TYPE_CHECKING:
    from functions.service import Service


def user_written(service: "Service", event: DocumentWritten) -> None:
    """List an account in the record of its mailbox, and free a mailbox that its owner turns on.

    Raises:
        InternalServerError: Eventarc has to run this again.
    """
    box, uid = address_record_id(event.after.fields) if event.after else None, event.ids["uid"]
    if not event.after or not box:
        return
    with run_again("preferences.account-not-noted"):
        users, account = service.users, event.after.fields
        users.list_account(box, uid)
        on = _turned_on(event)
        if on and has_verified(service.adapters.verified_addresses([uid]), uid, account):
            users.free(uid, account, on, event.at)


def _turned_on(event: DocumentWritten) -> list[Flag]:
    """The flags of recaps that the owner of an account turned on; none in a write of ours."""
    if not event.before or not event.after:
        return []
    before, after = event.before.fields, event.after.fields
    if before.get(CHOSEN_AT) != after.get(CHOSEN_AT):
        return []
    if account_address(before) != account_address(after):
        return []  # what was off was off for another address
    were, are = flags(before), flags(after)
    return [flag for flag in (Flag.RECAP, Flag.LIFECYCLE) if are[flag] and not were[flag]]
