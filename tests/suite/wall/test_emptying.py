"""A deleted event, in Firestore itself and with the deployed trigger."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud import firestore

from functions.wall.emptying import SETTLED
from tests.suite.process import FunctionProcess, Written, silenced

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
    """Paths of what is under `event`."""
    found = {path for path in UNDER if db.document(f"{event.path}/{path}").get().exists}
    return found | {collection.id for collection in event.collections()}


def wait_for(
    reference: firestore.DocumentReference, predicate: Callable[[Any], bool], timeout: float = 120
) -> None:
    """Wait until the document satisfies `predicate`, which gets its snapshot; None: no document."""
    seen = threading.Event()

    def look(snapshots: Any, *_: Any) -> None:
        found = snapshots[0] if snapshots and snapshots[0].exists else None
        if predicate(found):
            seen.set()

    watch: Any = reference.on_snapshot(look)
    try:
        assert seen.wait(timeout)
    finally:
        watch.unsubscribe()


def is_emptied(tombstone: Any) -> bool:
    """Whether that says that an event of its id may be made."""
    return bool(tombstone and (tombstone.to_dict() or {}).get("emptiedAt"))


def tombstone_of(
    db: firestore.Client, event: firestore.DocumentReference
) -> firestore.DocumentReference:
    """Where the tombstone of `event` is."""
    found: firestore.DocumentReference = db.collection("deletedEvents").document(event.id)
    return found


def test_an_event_that_a_script_deletes_leaves_nothing_to_the_next_tenant(
    db: firestore.Client, event: firestore.DocumentReference
) -> None:
    """The secret, the URLs and the photos of the first tenant are gone, at any depth."""
    event.set(FIELDS)
    fill(event)
    neighbour = db.collection("events").document(f"{event.id}-2")
    neighbour.set(FIELDS)
    neighbour.collection("photos").document("1").set({"of": "a neighbour"})
    event.delete()
    tombstone = tombstone_of(db, event)
    wait_for(tombstone, is_emptied)

    with silenced(event.id):  # whose trigger would make a secret of its own
        event.set(FIELDS | {"tenantId": "tenant-b"})

    assert under(db, event) == set()
    assert neighbour.collection("photos").document("1").get().exists


def test_a_trigger_that_is_killed_is_gone_on_with(
    db: firestore.Client, event: firestore.DocumentReference
) -> None:
    """Eventarc runs it again; until then no event of that id can be made."""
    count = 6000
    with silenced(event.id):
        writer: Any = db.bulk_writer()
        for n in range(count):
            writer.create(event.collection("deliveries").document(f"{n:05}"), {"of": "a"})
        writer.close()
    deleted = Written(db, event.path, event_id=f"{event.id}-deleted", before=FIELDS)
    first = event.collection("deliveries").document("00000")
    with FunctionProcess("onEventWritten", event=True) as trigger:
        answered: list[int | None] = []
        thread = threading.Thread(target=lambda: answered.append(trigger.written(deleted)))
        thread.start()
        wait_for(first, lambda one: one is None)
        trigger.kill()
        thread.join()
    assert answered == [None]
    [[left]] = event.collection("deliveries").count().get()
    assert 0 < left.value < count
    tombstone = tombstone_of(db, event).get()
    assert tombstone.exists
    assert not is_emptied(tombstone)

    with FunctionProcess("onEventWritten", event=True) as trigger:
        assert trigger.written(deleted) == 200
        assert list(event.collections()) == []
        assert is_emptied(tombstone_of(db, event).get())
        assert trigger.written(deleted) == 200, "at least once may be twice"


def test_what_a_script_made_anew_before_the_trigger_came_stays(
    db: firestore.Client, event: firestore.DocumentReference
) -> None:
    """Only what is older than the event that stands there now goes."""
    with silenced(event.id):
        event.set(FIELDS)
        fill(event)
        event.delete()
        event.set(FIELDS | {"tenantId": "tenant-b"})
        event.collection("deliveries").document("1").delete()
        event.collection("deliveries").document("1").set({"of": "b"})
        event.collection("photos").document("2").set({"of": "b"})
    deleted = Written(db, event.path, event_id=f"{event.id}-deleted", before=FIELDS)
    with FunctionProcess("onEventWritten", event=True) as trigger:
        assert trigger.written(deleted) == 200

    assert under(db, event) == {"deliveries/1", "deliveries", "photos"}
    assert [one.id for one in event.collection("photos").stream()] == ["2"]


def test_the_schedule_looks_once_more_and_forgets(
    db: firestore.Client, event: firestore.DocumentReference
) -> None:
    """What a function wrote that was still at work goes a quarter of an hour later."""
    long_ago = datetime.now(UTC) - SETTLED - timedelta(seconds=1)
    with silenced(event.id):
        fill(event)
    tombstone_of(db, event).set({"deletedAt": long_ago, "emptiedAt": long_ago})
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200

    assert under(db, event) == set()
    assert not tombstone_of(db, event).get().exists
