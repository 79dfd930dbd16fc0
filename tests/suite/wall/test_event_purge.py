"""A deleted event, in Firestore itself and with the deployed trigger."""

from google.cloud import firestore

from emulator.firestore_watch import wait_for

UNDER = (
    "batches-of-no-recap/1/batches/1",  # below a document that is none
    "deliveries/1",
    "guestData/timer",
    "locks/recap",
    "milestones/100",
    "photos/1",
    "recaps/1",
    "recaps/1/batches/1",
    "recaps/1/outcomes/mails",
    "secrets/webhooks",
    "settings/webhooks",
    "shares/1",
    "wall/1",
)
FIELDS = {"tenantId": "tenant-a", "name": "Party", "status": "archived"}


def fill(event: firestore.DocumentReference) -> None:
    """Write one document at every place under `event`."""
    for path in UNDER:
        event.collection(path.split("/")[0]).document(path.partition("/")[2]).set({"of": "a"})


def under(db: firestore.Client, event: firestore.DocumentReference) -> set[str]:
    """Return the paths of the documents under `event`."""
    found = {path for path in UNDER if db.document(f"{event.path}/{path}").get().exists}
    return found | {collection.id for collection in event.collections()}


def tombstone_of(
    db: firestore.Client, event: firestore.DocumentReference
) -> firestore.DocumentReference:
    """Return the reference of the tombstone of `event`."""
    found: firestore.DocumentReference = db.collection("deletedEvents").document(event.id)
    return found


def test_a_script_that_deletes_an_event_leaves_no_documents(
    db: firestore.Client, event: firestore.DocumentReference
) -> None:
    """The secret, the URLs and the photos are gone, at any depth, and the id is not free."""
    event.set(FIELDS)
    fill(event)
    neighbour = db.collection("events").document(f"{event.id}-2")
    neighbour.set(FIELDS)
    neighbour.collection("photos").document("1").set({"of": "a neighbour"})
    event.delete()
    for path in UNDER:
        assert wait_for(db.document(f"{event.path}/{path}"), lambda found: not found, 120) == []

    assert under(db, event) == set()
    assert tombstone_of(db, event).get().exists
    assert neighbour.collection("photos").document("1").get().exists
