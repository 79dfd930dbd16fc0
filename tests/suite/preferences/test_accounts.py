"""The trigger behind records of users (design 3.54)."""

from google.cloud import firestore

from emulator.firestore_watch import Documents, wait_for
from functions.email_address import address_hash, guest_uid


def test_an_account_is_found_whatever_the_case_of_its_address(
    db: firestore.Client, record: firestore.DocumentReference, uid: str
) -> None:
    """Design 3.54: the record of the address names an account of any id."""
    odd = record.parent.document(f"{uid}: a`\\b.c")
    record.set({"email": f"{uid}@Example.com"})
    odd.set({"email": f"{uid.title()}@example.com"})
    of_address = db.document("users", guest_uid(address_hash(f"{uid}@example.com")))

    def names_both(found: Documents) -> bool:
        return bool(found) and found[0].get("accounts", {}).keys() == {record.id, odd.id}

    assert names_both(wait_for(of_address, names_both, 120))
