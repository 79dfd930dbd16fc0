"""What the stores of the webhooks write and find."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.documents.write import Delete, Put
from functions.wall.photo import Photo
from functions.webhooks.deliveries.delivery import (
    Attempt,
    Delivery,
    EndedWithin,
    Failure,
    Outcome,
    Place,
    SentTo,
)
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint, Standing
from functions.webhooks.endpoints.store import EndpointStore
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import DisabledUrl, WebhookSettings, key
from functions.webhooks.shared_logs.log_share import LogShare
from functions.webhooks.shared_logs.store import LogShareStore
from functions.webhooks.store import WallStore
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 18, 30, 0, 123456, UTC)
URL: Final = "https://example.com/hook"


class Ground:
    """An event and the stores that read and write it."""

    event_id: Final = "e1"

    def __init__(self) -> None:
        """Nothing is there."""
        self.documents = InMemoryDocuments(Firestore(lambda: NOW))
        self.deliveries = DeliveryStore(self.documents, sweep_page=3)
        self.endpoints = EndpointStore(self.documents)
        self.settings = SettingsStore(self.documents)
        self.shares = LogShareStore(self.documents)
        self.wall = WallStore(self.documents)

    def put(self, name: str, fields: Mapping[str, Any]) -> None:
        """Write a document under the event, or the event itself where the name is empty."""
        self.documents.commit(Put(f"events/e1/{name}".rstrip("/"), fields))

    def delete(self, name: str) -> None:
        """Delete such a document."""
        self.documents.commit(Delete(f"events/e1/{name}".rstrip("/")))

    def create(self, **fields: Any) -> Delivery:
        """Record a delivery."""
        made = replace(self.delivery(), **fields)
        self.deliveries.create(self.event_id, [made])
        return made

    def delivery(self, **fields: Any) -> Delivery:
        """One that is due."""
        given: dict[str, Any] = {"url": URL} | fields
        return Delivery.create(
            cause=uuid.uuid4().hex,
            event_id=self.event_id,
            event_type=EventType.PHOTO_UPLOADED,
            data={"text": "ü"},
            now=NOW,
            **given,
        )

    def load(self, delivery: Delivery) -> Delivery:
        """The delivery as it is recorded."""
        found = self.deliveries.load(self.event_id, delivery.id)
        assert found is not None
        return found


@pytest.fixture
def ground() -> Ground:
    """An event that nothing is known of."""
    return Ground()


def attempted(
    delivery: Delivery, status: int | None, at: datetime = NOW, answer: str | None = None
) -> Delivery:
    """`delivery` after its next attempt."""
    return delivery.after(
        Attempt(
            number=delivery.due_attempt,
            at=at,
            status=status,
            milliseconds=12,
            error=None if status else "no answer",
            round=delivery.round,
            answer=answer,
        )
    )


def test_what_is_created_is_found_as_it_was(ground: Ground) -> None:
    """Every field, of each sort of delivery."""
    made = [
        ground.delivery(),
        ground.delivery(url=""),
        ground.delivery(disabled="nobody answers"),
        ground.delivery(test=True),
        replace(attempted(attempted(ground.delivery(), None), 204), round=0),
        attempted(ground.delivery(), 404, answer="no such route"),
    ]
    ground.deliveries.create(ground.event_id, made)
    by_id = {delivery.id: delivery for delivery in made}
    assert ground.deliveries.find(ground.event_id, [*by_id, "another"]) == by_id
    assert [ground.load(delivery) for delivery in made] == made
    assert ground.deliveries.load(ground.event_id, "another") is None


def test_a_commit_creates_all_or_none(ground: Ground) -> None:
    """One recorded delivery or milestone keeps all others out (design 2)."""
    there = ground.create()
    fresh = ground.delivery()
    reached = Milestone(number=100, photo_id="p1", reached_at=NOW)
    with pytest.raises(AlreadyRecordedError):
        ground.deliveries.create(ground.event_id, [fresh, there], [reached])
    assert ground.deliveries.load(ground.event_id, fresh.id) is None
    assert ground.wall.milestones(ground.event_id, [100, 500]) == {}

    ground.deliveries.create(ground.event_id, [fresh], [reached])
    other = ground.delivery()
    with pytest.raises(AlreadyRecordedError):
        ground.deliveries.create(
            ground.event_id, [other], [replace(reached, photo_id="p2", number=100)]
        )
    assert ground.deliveries.load(ground.event_id, other.id) is None
    assert ground.wall.milestones(ground.event_id, [100, 500]) == {100: "p1"}
    ground.deliveries.create(ground.event_id, [], [Milestone(number=500)])
    assert ground.wall.milestones(ground.event_id, [100, 500]) == {100: "p1", 500: None}


def test_a_write_whose_answer_was_lost_is_refused_when_it_is_made_again(ground: Ground) -> None:
    """What a caller sees whose adapter tried again: its own record, and nothing else changed."""
    made = ground.create()
    with pytest.raises(AlreadyRecordedError):
        ground.deliveries.create(ground.event_id, [made])
    found = ground.load(made)
    saved = attempted(found, 500)
    ground.deliveries.save(saved)
    with pytest.raises(ChangedMeanwhileError):
        ground.deliveries.save(saved)
    assert ground.load(made) == saved


def test_a_save_changes_the_progress_of_the_version_that_was_read(ground: Ground) -> None:
    """Nothing of what the delivery is, and nothing where somebody has written since."""
    made = ground.create(test=True)
    found = ground.load(made)
    begun = replace(found, begun=1)
    ground.deliveries.save(begun)
    assert ground.load(made) == begun
    found = ground.load(made)
    changed = attempted(found, None)
    ground.deliveries.save(replace(changed, url="another", body="another"))
    assert ground.load(made) == changed

    with pytest.raises(ChangedMeanwhileError):
        ground.deliveries.save(attempted(found, 200))
    again = ground.load(made)
    assert again == changed
    ground.deliveries.save(attempted(again, 200))
    assert ground.load(made).outcome is Outcome.SUCCESS


def test_a_record_that_is_gone_is_not_written(ground: Ground) -> None:
    """Firestore's TTL policy may delete it at any time."""
    made = ground.create()
    found = ground.load(made)
    ground.delete(f"deliveries/{made.id}")
    assert ground.deliveries.load(ground.event_id, made.id) is None
    for write in (ground.deliveries.save, ground.deliveries.restart):
        with pytest.raises(ChangedMeanwhileError):
            write(found)
    assert ground.deliveries.load(ground.event_id, made.id) is None


def test_a_restart_begins_a_round_of_the_version_that_was_read(ground: Ground) -> None:
    """The reason for which it was skipped goes; a save that was under way comes too late."""
    made = ground.delivery(disabled="nobody answers")
    ground.deliveries.create(ground.event_id, [made])
    found = ground.load(made)
    again = found.next_round(
        NOW + timedelta(hours=1), url="https://example.com/right", endpoint="a"
    )
    ground.deliveries.restart(again)
    assert ground.load(made) == again
    assert again.reason is None
    for write in (ground.deliveries.save, ground.deliveries.restart):
        with pytest.raises(ChangedMeanwhileError):
            write(found)
    assert ground.load(made).round == 1


def _ended(ground: Ground, outcome: Outcome, seconds: float, **fields: Any) -> Delivery:
    return ground.create(
        outcome=outcome,
        next_attempt_at=None,
        ended_at=NOW + timedelta(seconds=seconds),
        **fields,
    )


def test_undelivered_ones_are_turned_page_by_page(ground: Ground) -> None:
    """Oldest first, by id where they ended at once; the limits are part of it."""
    ids = [f"d{number}" for number in range(5)]
    for delivery_id, seconds in zip(ids, (1, 0, 1, 1, 2), strict=True):
        outcome = Outcome.SKIPPED if delivery_id == "d2" else Outcome.FAILED
        _ended(ground, outcome, seconds, id=delivery_id)
    _ended(ground, Outcome.FAILED, -0.001)
    _ended(ground, Outcome.FAILED, 2.001)
    _ended(ground, Outcome.SUCCESS, 1)
    ground.create()

    wanted = EndedWithin(since=NOW, until=NOW + timedelta(seconds=2))
    found: list[str] = []
    cursor: Place | None = None
    while True:
        page = ground.deliveries.ended(ground.event_id, wanted, cursor, 2)
        found += [stored_delivery.id for stored_delivery in page]
        if len(page) < 2:
            break
        last = page[-1]
        assert last.ended_at is not None
        cursor = Place(last.ended_at, last.id)
    assert found == ["d1", "d0", "d2", "d3", "d4"]
    [first] = ground.deliveries.ended(ground.event_id, EndedWithin(since=NOW, until=NOW), None, 2)
    ground.deliveries.restart(first.next_round(NOW, url=URL, endpoint="a"))


def test_undelivered_ones_are_those_of_an_endpoint_or_a_type(ground: Ground) -> None:
    """As many are counted as are found."""
    other = "https://example.com/other"
    for number, url in enumerate((other, other, "https://example.com/hook")):
        given = {"url": url, "endpoint": url[-5:]}
        _ended(ground, Outcome.FAILED, number, event_type=EventType.PHOTO_UPLOADED, **given)
        _ended(ground, Outcome.SKIPPED, number, event_type=EventType.GUEST_JOINED, **given)
        _ended(ground, Outcome.SUCCESS, number, event_type=EventType.GUEST_JOINED, **given)
    ground.create()
    for filters, count in (
        ({}, 6),
        ({"endpoints": ("other",)}, 4),
        ({"endpoints": ("other", "/hook")}, 6),
        ({"event_type": EventType.GUEST_JOINED}, 3),
        ({"endpoints": ("other",), "event_type": EventType.GUEST_JOINED}, 2),
        ({"endpoints": ("none",)}, 0),
    ):
        wanted = EndedWithin(since=NOW, until=NOW + timedelta(seconds=2), **filters)
        found = ground.deliveries.ended(ground.event_id, wanted, None, 10)
        assert len(found) == count == ground.deliveries.count_ended(ground.event_id, wanted)


def test_the_newest_come_first_and_go_on_at_any_place(ground: Ground) -> None:
    """To one URL, of an outcome and a type; two of one moment are told apart by their ids."""
    joined, failed = EventType.GUEST_JOINED, Outcome.FAILED
    for name, seconds, fields in (
        ("a", 0, {}),
        ("c", 1, {"outcome": failed}),
        ("b", 1, {"event_type": joined}),
        ("d", 2, {"outcome": failed, "event_type": joined}),
        ("x", 1, {"endpoint": "other"}),
    ):
        ground.create(id=name, created_at=NOW + timedelta(seconds=seconds), **fields)

    def newest(after: Place | None = None, limit: int = 9, **filters: Any) -> str:
        wanted = SentTo(endpoints=(key(URL), "a"), **filters)
        found = ground.deliveries.newest(ground.event_id, wanted, after, limit)
        return "".join(delivery.id for delivery in found)

    assert newest() == "dcba"
    assert newest(limit=3) == "dcb"
    assert newest(outcome=failed) == "dc"
    assert newest(event_type=joined) == "db"
    assert newest(outcome=failed, event_type=joined) == "d"
    at = NOW + timedelta(seconds=1)
    assert [newest(Place(at, one)) for one in ("z", "c", "b", "a")] == ["cba", "ba", "a", "a"]
    assert newest(Place(at, "x"), outcome=failed) == "c"
    assert (
        next(ground.deliveries.newest(ground.event_id, SentTo(endpoints=(key(URL),)), None, 9)).id
        == "d"
    )


def _share(ground: Ground, name: str, days: float = 1, **fields: Any) -> LogShare:
    made = LogShare(
        id=name,
        event_id=ground.event_id,
        url=URL,
        endpoint="a",
        can_resend=True,
        created_by="u1",
        created_at=NOW,
        expire_at=NOW + timedelta(days=days),
        **fields,
    )
    ground.shares.create(made)
    return made


def test_a_share_is_found_as_long_as_its_event_is_there(ground: Ground) -> None:
    """Created once, whatever became of the answer; gone with its event."""
    assert ground.shares.load(ground.event_id, "s1") is None
    ground.put("", {"tenantId": "t1"})
    made = _share(ground, "s1")
    ground.shares.create(made)
    found = ground.shares.load(ground.event_id, "s1")
    assert found is not None
    assert found == made
    assert ground.shares.load(ground.event_id, "s2") is None
    ground.put("", {"tenantId": "t1", "name": "changed"})
    assert ground.shares.load(ground.event_id, "s1") == found
    ground.delete("")
    assert ground.shares.load(ground.event_id, "s1") is None


def test_a_share_is_recorded_once(ground: Ground) -> None:
    """A second record of its id changes nothing."""
    ground.put("", {"tenantId": "t1"})
    made = _share(ground, "s1")
    ground.shares.create(replace(made, can_resend=False))
    assert ground.shares.load(ground.event_id, "s1") == made


def test_a_share_ends_once(ground: Ground) -> None:
    """In the version that was read; it is no living one from then on."""
    ground.put("", {"tenantId": "t1"})
    for name, days in (("s1", 1), ("s2", 2), ("s3", 3)):
        _share(ground, name, days)
    count, event_id = ground.shares.count_living, ground.event_id
    assert [count(event_id, NOW + timedelta(days=d), 9) for d in (0, 1, 2.5, 3)] == [3, 2, 1, 0]
    assert count(event_id, NOW, 2) == 2
    found = ground.shares.load(event_id, "s2")
    assert found is not None
    ground.shares.revoke(found, NOW)
    with pytest.raises(ChangedMeanwhileError):
        ground.shares.revoke(found, NOW + timedelta(hours=1))
    ended = ground.shares.load(event_id, "s2")
    assert ended is not None
    assert ended == replace(found, revoked_at=NOW, expire_at=NOW)
    assert count(event_id, NOW, 9) == 2


def test_how_the_latest_deliveries_to_an_endpoint_have_ended(ground: Ground) -> None:
    """Of one endpoint; None where there is none."""
    store, event_id = ground.deliveries, ground.event_id
    assert store.last_success(event_id, "a") is None
    assert store.last_failure(event_id, "a") is None
    assert store.first_failure(event_id, "a", None) is None
    gone = Attempt(number=4, at=NOW, status=410, milliseconds=1)
    for seconds in (3, 7, 5):
        _ended(ground, Outcome.SUCCESS, seconds, endpoint="a")
        _ended(ground, Outcome.FAILED, seconds + 1, endpoint="a", log=(gone,) * (seconds == 7))
    _ended(ground, Outcome.FAILED, 9, endpoint="b")
    _ended(ground, Outcome.SUCCESS, 9, endpoint="b")

    last, first = NOW + timedelta(seconds=7), NOW + timedelta(seconds=4)
    assert store.last_success(event_id, "a") == last
    assert store.last_failure(event_id, "a") == Failure(410, None)
    assert store.first_failure(event_id, "a", None) == first
    assert store.first_failure(event_id, "a", first) == NOW + timedelta(seconds=6)
    assert store.first_failure(event_id, "a", last + timedelta(seconds=1)) is None


def test_an_endpoint_that_fails_is_recorded(ground: Ground) -> None:
    """A look is saved as it was read; what is noted meanwhile stays, and a gone record is told."""
    store = ground.endpoints
    record = FailingEndpoint(
        event_id=ground.event_id,
        id="a",
        tenant_id="t1",
        url=URL,
        since=NOW,
        failed_at=NOW,
        due_at=datetime(2001, 1, 1, tzinfo=UTC),  # nobody else's in this project
    )
    assert store.load(ground.event_id, "a") is None
    store.create(record)
    with pytest.raises(AlreadyRecordedError):
        store.create(record)
    found = store.load(ground.event_id, "a")
    assert found == record
    assert [found] == store.due(datetime(2002, 1, 1, tzinfo=UTC))
    assert [found] == store.of_event(ground.event_id)

    store.note_failure(found.failed(NOW + timedelta(hours=1)))
    for write in (store.save, store.forget):
        with pytest.raises(ChangedMeanwhileError):
            write(found)
    store.note_notice(found.notified(Standing.FAILING, NOW))
    again = store.load(ground.event_id, "a")
    assert again
    assert (again.told, again.failed_at) == (Standing.FAILING, NOW + timedelta(hours=1))
    store.save(again.resent(NOW))
    last = store.load(ground.event_id, "a")
    assert last == again.resent(NOW)
    assert last
    store.forget(last)
    for write in (store.save, store.note_failure, store.note_notice):
        with pytest.raises(ChangedMeanwhileError):
            write(last)


def test_what_is_overdue_is_found_once(ground: Ground) -> None:
    """Longest overdue first, over pages; neither what is due later nor what has ended."""
    long_ago = datetime(2001, 1, 1, tzinfo=UTC)  # nobody else's in this project
    for number in range(7):
        at = long_ago + timedelta(seconds=7 - number)
        ground.create(id=f"d{number}", outcome=Outcome.RETRYING, next_attempt_at=at)
    _ended(ground, Outcome.FAILED, 0)
    ground.create()
    found = [delivery.id for delivery in ground.deliveries.overdue(long_ago + timedelta(seconds=7))]
    assert found == [f"d{number}" for number in range(6, 0, -1)]
    for number in range(7):
        ground.delete(f"deliveries/d{number}")


def _disable(ground: Ground, url: str, found: Any) -> None:
    given_up = [DisabledUrl(id=key(url), url=url, reason="why", at=NOW)]
    ground.settings.disable(ground.event_id, given_up, found)


def test_a_url_is_disabled_in_the_settings_that_were_read(ground: Ground) -> None:
    """What else stands there stays; whoever has saved since is not overruled (design 3.22)."""
    assert ground.settings.load(ground.event_id) == WebhookSettings()
    ground.put("settings/webhooks", {"urls": [URL, "https://example.com/other"]})
    first = ground.settings.load(ground.event_id)
    _disable(ground, URL, first)
    with pytest.raises(ChangedMeanwhileError):
        _disable(ground, "https://example.com/other", first)

    second = ground.settings.load(ground.event_id)
    assert second.written_at > first.written_at
    _disable(ground, "https://example.com/other", second)
    third = ground.settings.load(ground.event_id)
    assert [subscription.disabled for subscription in third.subscriptions] == [
        "the URL is disabled: why"
    ] * 2
    ground.delete("settings/webhooks")
    with pytest.raises(ChangedMeanwhileError):
        _disable(ground, URL, third)


def test_photos_are_counted_and_a_guests_first_one_is_found(ground: Ground) -> None:
    """Spec 6.1, design 3.12: the oldest by `createdAt`, of an address as typed, or of a uid."""
    assert ground.wall.event(ground.event_id) is None
    assert ground.wall.count_photos(ground.event_id) == 0
    ground.put("", {"tenantId": "t1"})
    mail = "ana@example.com"
    for photo_id, email, seconds in (
        ("p1", mail, 2),
        ("p3", mail, 1),
        ("p2", mail, 1),
        ("p0", "Ana@example.com", 0),
    ):
        created = NOW + timedelta(seconds=seconds)
        fields = {"uploaderEmail": email, "uploaderUid": "u1", "createdAt": created}
        ground.put(f"photos/{photo_id}", fields)
    ground.put("photos/p9", {"uploaderEmail": "bo@example.com"})
    assert ground.wall.event(ground.event_id) == {"tenantId": "t1"}
    assert ground.wall.count_photos(ground.event_id) == 5
    assert [ground.wall.count_photos(ground.event_id, most) for most in (4, 9)] == [4, 5]
    for until, counted in ((0, 1), (1, 3), (9, 4)):
        at = NOW + timedelta(seconds=until)
        assert ground.wall.count_photos(ground.event_id, until=at) == counted
        assert ground.wall.count_photos(ground.event_id, 2, until=at) == min(counted, 2)
    first = ground.wall.first_photo_by(ground.event_id, _by(mail, "u2"))
    assert first is not None
    assert (first.id, first.created_at) == ("p2", NOW + timedelta(seconds=1))
    of_uid = ground.wall.first_photo_by(ground.event_id, _by(None, "u1"))
    assert of_uid is not None
    assert of_uid.id == "p0"
    assert ground.wall.first_photo_by(ground.event_id, _by("bo@example.com", "u1")) is None
    assert ground.wall.first_photo_by(ground.event_id, _by(None, "u2")) is None


def _by(email: str | None, uid: str) -> Photo:
    fields = {"uploaderEmail": email, "uploaderUid": uid}
    return Photo.read("new", fields, created=NOW, updated=NOW)
