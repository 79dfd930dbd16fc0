"""The trigger behind records of users (design 3.54)."""

import queue
from typing import Any

from google.cloud import firestore

from functions.wall.address import address_hash, guest_uid


def test_an_account_is_found_whatever_the_case_of_its_address(
    db: firestore.Client, record: firestore.DocumentReference, uid: str
) -> None:
    """Design 3.54: the record of the address names an account of any id."""
    told: queue.Queue[dict[str, Any]] = queue.Queue()
    of_address = db.document("users", guest_uid(address_hash(f"{uid}@example.com")))
    watch = of_address.on_snapshot(
        lambda found, *_: told.put((found[0].to_dict() or {}) if found else {})
    )
    odd = record.parent.document(f"{uid}: a`\\b.c")
    try:
        record.set({"email": f"{uid}@Example.com"})
        odd.set({"email": f"{uid.title()}@example.com"})
        accounts: dict[str, bool] = {}
        while accounts.keys() != {record.id, odd.id}:
            accounts = told.get(timeout=60).get("accounts", {})
    finally:
        watch.unsubscribe()  # type: ignore[no-untyped-call]
