"""The publisher records and queues deliveries for a write: spec 6.1 and 6.3.4, design 2 and 3."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from functions.firestore.model import Document
from functions.gcp.triggers import DocumentWritten
from functions.handlers import webhook_triggers
from functions.wall.wall_event import EventStatus, Photo, PhotoStatus, WallEvent
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.webhook_settings import endpoint_id
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.webhook_fixture import (
    EVENT,
    NOW,
    OTHER,
    URL,
    WebhookFixture,
    crashes,
    fails,
)

if TYPE_CHECKING:
    from functions.service import Service

UPLOADED = "photo.uploaded"
MILESTONE = "milestone.reached"
JOINED = "guest.joined"


def publish(
    webhooks: WebhookFixture, after: Photo, before: Photo | None = None, write: str = "w1"
) -> None:
    """Run the trigger of one write of a photo in a new process."""
    webhooks.process().publisher.photo_written(write, EVENT, before, after)


def publish_event(
    webhooks: WebhookFixture, before: EventStatus | None, after: EventStatus | None
) -> None:
    """Run the trigger of one write of the event."""
    was, now = (
        None if status is None else WallEvent.read({"status": status}, updated=NOW)
        for status in (before, after)
    )
    webhooks.process().publisher.event_written("w1", EVENT, was, now)


def reached(webhooks: WebhookFixture) -> list[int]:
    """Return the milestones with deliveries, sorted."""
    milestones = [record for record in webhooks.records if record.event_type == MILESTONE]
    return sorted(json.loads(record.body)["data"]["milestone"] for record in milestones)


@pytest.mark.parametrize("status", PhotoStatus)
def test_a_deleted_photo_fires_only_for_urls_that_name_the_type(
    webhooks: WebhookFixture, status: PhotoStatus
) -> None:
    """Spec 6.1: `photo.deleted` is for approved photos and not a default type."""
    webhooks.subscribe(URL, {"url": OTHER, "events": ["photo.deleted"]})
    webhooks.process().publisher.photo_written("w1", EVENT, webhooks.photo(status=status), None)

    expected = [("photo.deleted", OTHER)] if status is PhotoStatus.APPROVED else []
    assert webhooks.fired == expected
    assert len(webhooks.queued) == len(expected)


def test_a_deletion_has_the_time_of_its_own_write(webhooks: WebhookFixture) -> None:
    """Spec 6.1: the photo's last write may be hours earlier."""
    webhooks.subscribe({"url": URL, "events": ["photo.deleted"]})
    photo = Document(f"events/{EVENT}/photos/p1", {"status": "approved"}, 1, NOW)
    deletion = DocumentWritten(
        id="w1",
        at=NOW + timedelta(hours=3),
        ids={"eventId": EVENT, "photoId": "p1"},
        before=photo,
        after=None,
    )
    service = cast("Service", SimpleNamespace(publisher=webhooks.process().publisher))
    webhook_triggers.photo_written(service, deletion)

    assert webhooks.data("photo.deleted") == {
        "photo": {"id": "p1", "deletedAt": "2026-05-01T21:30:00.000Z"}
    }


def test_messages_of_a_write_are_queued_in_order_for_each_url(
    webhooks: WebhookFixture,
) -> None:
    """Keep the order for any order of parallel calls, and in a repeated run."""
    webhooks.subscribe(URL, OTHER)
    webhooks.earlier_photos(499)
    webhooks.in_parallel = lambda work, items: [work(item) for item in reversed(list(items))]
    photo = webhooks.photo(status="approved", email="ann@example.com")
    webhooks.at("queue.enqueue", fails, skip=2)
    with suppress(ServiceError):
        publish(webhooks, photo)
    publish(webhooks, photo)
    events = {record.id: (record.url, str(record.event_type)) for record in webhooks.records}
    queued = [events[str(task.data["deliveryId"])] for task in webhooks.queued]
    for url in (URL, OTHER):
        in_order = [UPLOADED, "photo.approved", MILESTONE, JOINED]
        assert [event for where, event in queued if where == url] == in_order


def test_photos_deleted_with_their_event_fire_nothing(webhooks: WebhookFixture) -> None:
    """Spec 3.1: a deleted event has no receivers."""
    webhooks.subscribe({"url": URL, "events": ["photo.deleted"]})
    webhooks.delete(f"events/{EVENT}")
    webhooks.process().publisher.photo_written("w1", EVENT, webhooks.photo(status="approved"), None)

    assert webhooks.fired == []


def test_every_url_gets_the_types_of_its_subscription(webhooks: WebhookFixture) -> None:
    """Spec 6.3.4: create one record and one task for each message and URL, due at once."""
    webhooks.subscribe(URL, {"url": OTHER, "events": ["photo.approved", UPLOADED]})
    publish(webhooks, webhooks.photo(status="approved"))

    assert webhooks.fired == [
        ("photo.approved", URL),
        ("photo.approved", OTHER),
        (UPLOADED, URL),
        (UPLOADED, OTHER),
    ]
    assert {record.outcome for record in webhooks.records} == {Outcome.PENDING}
    assert {record.next_attempt_at for record in webhooks.records} == {NOW}
    assert {task.queue for task in webhooks.queued} == {"deliverWebhook"}
    assert webhooks.calls[-5:] == ["create deliveries", *["queue.enqueue"] * 4]
    assert sorted(task.name for task in webhooks.queued) == sorted(
        f"{record.id}-1" for record in webhooks.records
    )


@pytest.mark.parametrize("settings", [[], [{"url": URL, "events": ["event.archived"]}]])
def test_a_message_without_a_subscription_is_not_recorded(
    webhooks: WebhookFixture, settings: list[Any]
) -> None:
    """It costs one read of the settings and no other call."""
    webhooks.subscribe(*settings)
    publish(webhooks, webhooks.photo(email="ana@example.com"))
    assert webhooks.calls == ["get settings"]


def test_a_write_that_fires_nothing_costs_nothing(webhooks: WebhookFixture) -> None:
    """Most writes are not in the table of spec 3.1."""
    photo = webhooks.photo(status="approved")
    publish(webhooks, photo, before=photo)
    assert not webhooks.calls


def test_an_unusable_or_disabled_url_is_skipped_and_recorded(webhooks: WebhookFixture) -> None:
    """Spec 3.4 and 7.3: make no attempt and record the reason."""
    entry = {"url": OTHER, "reason": "no answer", "at": NOW}
    webhooks.subscribe(URL, "http://example.com", OTHER, disabled={endpoint_id(OTHER): entry})
    publish(webhooks, webhooks.photo())

    outcomes = {record.url: (record.outcome, record.reason) for record in webhooks.records}
    assert outcomes == {
        URL: (Outcome.PENDING, None),
        "http://example.com": (Outcome.SKIPPED, "the URL does not start with https://"),
        OTHER: (Outcome.SKIPPED, "the URL is disabled: no answer"),
    }
    assert len(webhooks.queued) == 1


def test_photos_are_counted_only_for_a_subscribed_event_archived(webhooks: WebhookFixture) -> None:
    """Spec 6.1: no other type has `photoCount`."""
    webhooks.earlier_photos(7)
    publish_event(webhooks, EventStatus.DRAFT, EventStatus.PUBLISHED)
    assert "count photos" not in webhooks.calls
    publish_event(webhooks, EventStatus.PUBLISHED, EventStatus.ARCHIVED)
    assert webhooks.data("event.archived")["photoCount"] == 7

    webhooks.calls.clear()
    webhooks.subscribe({"url": URL, "events": [UPLOADED]})
    publish_event(webhooks, EventStatus.PUBLISHED, EventStatus.ARCHIVED)
    assert webhooks.calls == ["get settings"]


def test_a_new_event_gets_one_secret(webhooks: WebhookFixture) -> None:
    """Spec 2.1: a repeated trigger does not replace it."""
    publish_event(webhooks, None, EventStatus.DRAFT)
    assert webhooks.calls == ["create secrets"]
    secret = webhooks.process().webhook_secrets.of(EVENT)
    publish_event(webhooks, None, EventStatus.DRAFT)
    assert webhooks.process().webhook_secrets.of(EVENT) == secret


def test_other_writes_of_an_event_create_no_secret(webhooks: WebhookFixture) -> None:
    """A change and a deletion need no call."""
    publish_event(webhooks, EventStatus.DRAFT, EventStatus.DRAFT)
    publish_event(webhooks, EventStatus.DRAFT, None)
    assert not webhooks.calls


@pytest.mark.parametrize(
    ("count", "recorded", "due"),
    [
        (99, [], []),
        (100, [], [100]),
        (101, [100], []),
        (499, [100], []),
        (500, [], [100, 500]),
        (500, [100], [500]),
        (1000, [100, 500], [1000]),
        (5000, [100, 500, 1000], [5000]),
        (10_001, [100, 500, 1000, 5000], [10_000]),
    ],
)
def test_each_milestone_is_due_at_the_first_write_that_reaches_it(
    webhooks: WebhookFixture, count: int, recorded: list[int], due: list[int]
) -> None:
    """Spec 6.1: milestones are 100, 500, 1000, 5000 and 10000."""
    for number in recorded:
        webhooks.put(_milestone(number), {"photoId": "x"})
    webhooks.earlier_photos(count - 1)
    unclaimed = webhooks.process().publisher.milestones.unclaimed(
        EVENT, webhooks.photo(), NOW - timedelta(2)
    )
    assert due == [milestone.number for milestone in unclaimed]


@pytest.mark.parametrize("clock", [0.0, 29.9, 1e6])
def test_a_milestone_fires_at_any_value_of_the_monotonic_clock(
    webhooks: WebhookFixture, clock: float
) -> None:
    """Spec 6.1: the clock of a new instance may be close to 0."""
    webhooks.monotonic = clock
    webhooks.earlier_photos(99)
    publish(webhooks, webhooks.photo("p1", uploaderName="Ana"))
    assert reached(webhooks) == [100]
    assert webhooks.data(MILESTONE)["latestPhoto"] == {"id": "p1", "uploaderName": "Ana"}
    assert webhooks.calls.count("create deliveries") == 1  # the milestone with its deliveries
    assert webhooks.fields(_milestone(100)) == {"photoId": "p1", "reachedAt": NOW}


def test_a_milestone_fires_once(webhooks: WebhookFixture) -> None:
    """A process remembers a milestone for a minute and then reads it again."""
    webhooks.earlier_photos(99)
    publisher = webhooks.process().publisher
    for number in range(3):
        photo = webhooks.photo(f"p{number}")
        publisher.photo_written(f"w{number}", EVENT, None, photo)
    assert reached(webhooks) == [100]
    assert webhooks.data(MILESTONE)["latestPhoto"]["id"] == "p0"
    # The process remembers the milestone for the third photo.
    assert webhooks.calls.count("get milestones") == 2
    webhooks.monotonic += 61
    gone = (f"events/{EVENT}/photos/p{number}" for number in range(3))
    webhooks.delete(*gone)  # 99 again, and 100 once more
    publisher.photo_written("w4", EVENT, None, webhooks.photo("p4"))
    assert webhooks.calls.count("get milestones") == 3
    assert reached(webhooks) == [100]


@pytest.mark.parametrize("stopped", ["create deliveries", "queue.enqueue"])
@pytest.mark.parametrize("others", [1, 3])
def test_a_milestone_is_queued_when_the_trigger_of_its_photo_runs_again(
    webhooks: WebhookFixture, stopped: str, others: int
) -> None:
    """Also if other photos have found the record of the milestone in the meantime."""
    webhooks.earlier_photos(99)
    first = webhooks.photo("p0")
    webhooks.after(stopped, crashes)
    with pytest.raises(Crash):
        publish(webhooks, first, write="w0")
    publisher = webhooks.process().publisher
    for number in range(1, 1 + others):
        photo = webhooks.photo(f"p{number}")
        publisher.photo_written(f"w{number}", EVENT, None, photo)
    publisher.photo_written("w0", EVENT, None, first)
    [milestone] = [made for made in webhooks.records if made.event_type == MILESTONE]
    assert milestone.id in [task.data["deliveryId"] for task in webhooks.queued]


def test_two_concurrent_photos_fire_one_milestone(
    webhooks: WebhookFixture,
) -> None:
    """The milestone and its deliveries are one commit, so the second trigger omits it."""
    webhooks.earlier_photos(98)
    first, second = webhooks.photo("p1"), webhooks.photo("p2")
    webhooks.at("create deliveries", lambda: publish(webhooks, first, write="w1"))
    publish(webhooks, second, write="w2")

    assert [event for event, _ in webhooks.fired] == [MILESTONE, UPLOADED, UPLOADED]
    assert webhooks.data(MILESTONE)["latestPhoto"]["id"] == "p1"
    assert len(webhooks.queued) == 3


def test_a_guest_joins_once_for_every_spelling_of_the_address(webhooks: WebhookFixture) -> None:
    """Spec 6.1, design 3.12: `firstPhotoId` is the oldest photo of the address."""
    photos = []
    for number, email in enumerate(("ana@example.com", "ana@example.com", " Ana@Example.com ")):
        webhooks.now = NOW + timedelta(seconds=number)
        photos.append(webhooks.photo(f"p{9 - number}", email))
    for number in (1, 0, 2):  # the trigger of the second photo runs first
        publish(webhooks, photos[number], write=f"w{number}")
    assert webhooks.data(JOINED)["firstPhotoId"] == "p9"
    assert [event for event, _ in webhooks.fired] == [JOINED, UPLOADED, UPLOADED, UPLOADED]
    assert len(webhooks.queued) == 4


@pytest.mark.parametrize(
    ("decoy", "email"),
    [
        ("mi\u212ae@example.com", "mike@example.com"),
        ("anna\u017fmith@example.com", "annasmith@example.com"),
        ("ana@strasse.example", "ana@stra\u00dfe.example"),
        ("an\u200ba@example.com", "ana@example.com"),
        ("ana+x@example.com", "ana@example.com"),
    ],
)
def test_addresses_that_only_look_the_same_are_two_guests(
    webhooks: WebhookFixture, decoy: str, email: str
) -> None:
    """Spec 6.1: invisible characters at the ends do not count."""
    webhooks.subscribe({"url": URL, "events": [JOINED]})
    for number, address in enumerate([decoy, email, f"\u200b{email.title()}\ufeff"]):
        webhooks.now += timedelta(seconds=1)
        publish(webhooks, webhooks.photo(f"p{number}", address), write=f"w{number}")
    joined = [json.loads(record.body)["data"]["uploaderEmail"] for record in webhooks.records]
    assert sorted(joined) == sorted([decoy, email])


def test_a_milestone_from_before_the_urls_does_not_fire(webhooks: WebhookFixture) -> None:
    """Design 3.11: it was passed ten minutes before the URLs were written. Later ones fire."""
    webhooks.earlier_photos(499)
    webhooks.subscribe(URL)
    publish(webhooks, webhooks.photo("p1"))
    assert webhooks.fields(_milestone(100)) == {"photoId": None, "reachedAt": None}

    publish(webhooks, webhooks.photo("p2"), write="w2")
    assert reached(webhooks) == [500]


@pytest.mark.parametrize(("minutes", "fired"), [(9, [100]), (11, [])])
def test_a_milestone_from_just_before_the_urls_fires(
    webhooks: WebhookFixture, minutes: int, fired: list[int]
) -> None:
    """Triggers can be late, so a new URL may get a milestone from just before."""
    for number in range(100):
        webhooks.photo(f"p{number}")
    webhooks.now += timedelta(minutes=minutes)
    webhooks.subscribe(URL, OTHER)
    publish(webhooks, webhooks.photo("p100"))
    assert reached(webhooks) == fired * 2


@pytest.mark.parametrize(("minutes", "fired"), [(10, []), (11, [100])])
def test_a_milestone_reached_by_backdated_photos_fires(
    webhooks: WebhookFixture, minutes: int, fired: list[int]
) -> None:
    """Design 3.11: a photo dated over ten minutes before its write did not exist at that time."""
    webhooks.subscribe(URL, urlsChangedAt=NOW + timedelta(hours=1))
    dated = NOW - timedelta(days=1)
    for number in range(100):
        webhooks.now = NOW + timedelta(days=1)
        photo = webhooks.photo(f"p{number}", createdAt=dated)
    publish(webhooks, replace(photo, created_at=photo.updated_at - timedelta(minutes=minutes)))

    assert reached(webhooks) == fired


def test_a_milestone_fires_if_only_other_settings_changed(
    webhooks: WebhookFixture,
) -> None:
    """Spec 6.1: the trigger is twenty minutes late, and an admin has labeled the URL."""
    changed = NOW - timedelta(days=1)
    webhooks.subscribe(URL, urlsChangedAt=changed)
    webhooks.earlier_photos(99)
    hundredth = webhooks.photo("p100")
    webhooks.now += timedelta(minutes=20)
    webhooks.subscribe(URL, urlsChangedAt=changed, labels={"a": "Screen in the hall"})
    publish(webhooks, hundredth)

    assert [event for event, _ in webhooks.fired] == [MILESTONE, UPLOADED]


def test_the_earliest_time_of_a_change_of_urls_is_accepted(
    webhooks: WebhookFixture,
) -> None:
    """A script may write Firestore's first time. Every milestone is later."""
    webhooks.subscribe(URL, urlsChangedAt=datetime.min.replace(tzinfo=UTC))
    webhooks.earlier_photos(99)
    publish(webhooks, webhooks.photo("p1"))
    assert reached(webhooks) == [100]


def test_milestones_of_one_write_are_due_a_second_apart(webhooks: WebhookFixture) -> None:
    """This happens after an outage of the triggers."""
    for number in range(999):
        webhooks.put(f"events/{EVENT}/photos/q{number}", {"createdAt": NOW})
    publish(webhooks, webhooks.photo("p1"))
    due = {
        json.loads(record.body)["data"]["milestone"]: record.next_attempt_at
        for record in webhooks.records
        if record.event_type == MILESTONE
    }
    assert due == {n: NOW + timedelta(seconds=s) for s, n in enumerate((100, 500, 1000))}


def test_a_milestone_that_another_trigger_has_skipped_does_not_fire(
    webhooks: WebhookFixture,
) -> None:
    """The trigger that records the milestone first decides whether it fires."""
    webhooks.earlier_photos(99)

    def skipped_by_another() -> None:
        webhooks.put(_milestone(100), {"photoId": None, "reachedAt": None})

    webhooks.at("create deliveries", skipped_by_another)
    publish(webhooks, webhooks.photo("p1"))
    assert [event for event, _ in webhooks.fired] == [UPLOADED]


@pytest.mark.parametrize("email", [None, "", "  "])
def test_a_guest_without_an_address_is_known_by_uid(
    webhooks: WebhookFixture, email: str | None
) -> None:
    """Design 3.12: the guest joins once with the first photo of the UID. The address is null."""
    for number, uid in enumerate(("u1", "u1", "u2", None)):
        webhooks.now += timedelta(seconds=1)
        publish(webhooks, webhooks.photo(f"p{number}", email, uploaderUid=uid), write=f"w{number}")
    joined = [
        json.loads(record.body)["data"]
        for record in webhooks.records
        if record.event_type == JOINED
    ]
    assert sorted((delivery["firstPhotoId"], delivery["uploaderEmail"]) for delivery in joined) == [
        ("p0", None),
        ("p2", None),
    ]
    assert webhooks.calls.count("find photos") == 3


@pytest.mark.parametrize("email", ["ana@example.com", None])
def test_the_next_photo_is_the_first_if_the_first_was_deleted(
    webhooks: WebhookFixture, email: str | None
) -> None:
    """The deletion is before its trigger and after the trigger of the next photo."""
    first = webhooks.photo("p1", email, uploaderUid="u1")
    webhooks.now += timedelta(seconds=1)
    publish(webhooks, webhooks.photo("p2", email, uploaderUid="u1"), write="w2")
    assert JOINED not in [event for event, _ in webhooks.fired]
    webhooks.delete(f"events/{EVENT}/photos/p1")
    publish(webhooks, first, write="w1")
    assert webhooks.data(JOINED)["firstPhotoId"] == "p2"
    publish(webhooks, first, write="w1")
    assert [event for event, _ in webhooks.fired].count(JOINED) == 1


def test_a_photo_without_createdat_can_be_a_guests_first(webhooks: WebhookFixture) -> None:
    """A query ordered by `createdAt` does not return it."""
    photo = webhooks.photo("p1", "ana@example.com")
    path = f"events/{EVENT}/photos/p1"
    webhooks.put(path, {"uploaderEmail": "ana@example.com"})
    publish(webhooks, photo)
    assert JOINED in [event for event, _ in webhooks.fired]


def test_an_approval_fires_no_milestone_and_no_guest(webhooks: WebhookFixture) -> None:
    """Count milestones and guests at uploads."""
    webhooks.earlier_photos(99)
    photo = webhooks.photo("p1", "ana@example.com")
    approved = replace(photo, status=PhotoStatus.APPROVED)
    publish(webhooks, approved, before=photo)
    assert [event for event, _ in webhooks.fired] == ["photo.approved"]


# A trigger runs at least once (design 2).


def everything(webhooks: WebhookFixture) -> Photo:
    """Return a photo that is the hundredth and a guest's first, with two URLs."""
    webhooks.subscribe(URL, OTHER)
    webhooks.earlier_photos(99)
    return webhooks.photo("p1", "ana@example.com", status="approved")


def test_deliveries_are_queued_after_a_lost_answer_to_their_commit(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The repeated commit finds the records of the first. A skipped delivery is still logged."""
    photo = everything(webhooks)
    webhooks.subscribe(URL, OTHER, {"url": "http://example.com/", "events": [UPLOADED]})
    webhooks.lose_answer("create deliveries")
    publish(webhooks, photo)
    assert len(webhooks.records) - 1 == len(webhooks.queued) == 8
    assert "delivery.skipped" in capfd.readouterr().out


def test_a_repeated_trigger_does_not_queue_attempted_deliveries(webhooks: WebhookFixture) -> None:
    """It reads the records of its deliveries."""
    photo = webhooks.photo()
    publish(webhooks, photo)
    [record] = webhooks.records
    webhooks.attempts(record, 500)
    queued = list(webhooks.queued)
    publish(webhooks, photo)
    assert list(webhooks.queued) == queued
    assert webhooks.record(record).attempts == 1


def test_a_url_added_between_two_runs_gets_the_message(
    webhooks: WebhookFixture,
) -> None:
    """The record of the first run does not change."""
    photo = webhooks.photo()
    publish(webhooks, photo)
    [first] = webhooks.records
    webhooks.subscribe(URL, OTHER)
    webhooks.now += timedelta(seconds=3)
    publish(webhooks, photo)
    assert webhooks.fired == [(UPLOADED, URL), (UPLOADED, OTHER)]
    assert webhooks.record(first) == first
    assert len(webhooks.queued) == 2


@pytest.mark.parametrize("urls", [{"0": URL}, URL, 3, True])
def test_settings_that_cannot_be_read_are_logged_once_for_each_write(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str], urls: object
) -> None:
    """A script wrote a value that is no list. The event's webhooks are not lost silently."""
    path = f"events/{EVENT}/settings/webhooks"
    process = webhooks.process()
    for write in range(2):
        webhooks.put(path, {"urls": urls, "labels": {"write": str(write)}})
        for number in range(3):
            photo = webhooks.photo(f"p{number}", "ann@example.com")
            process.publisher.photo_written(f"w{write}{number}", EVENT, None, photo)
    assert webhooks.fired == []
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    found = [line for line in lines if line["message"] == "record.unreadable"]
    assert [(line["severity"], line["path"]) for line in found] == [("ERROR", path)] * 2


def _milestone(number: int) -> str:
    return f"events/{EVENT}/milestones/{number}"


@pytest.mark.parametrize(
    ("events", "sent", "logged"),
    [
        (["*"], [], 1),
        ([UPLOADED, "photo.aproved"], [UPLOADED], 1),
        (["PHOTO.UPLOADED", 7, None, {}], [], 1),
        ("photo.uploaded", [UPLOADED], 0),
        ([UPLOADED], [UPLOADED], 0),
        ([], [], 0),
    ],
)
def test_unknown_event_types_are_logged_once_for_each_write_of_the_settings(
    webhooks: WebhookFixture,
    capfd: pytest.CaptureFixture[str],
    events: object,
    sent: list[str],
    logged: int,
) -> None:
    """The known types of the same list still fire."""
    webhooks.subscribe({"url": URL, "events": events})
    process = webhooks.process()
    for number in range(3):
        photo = webhooks.photo(f"p{number}", "ann@example.com")
        process.publisher.photo_written(f"w{number}", EVENT, None, photo)
    assert {event for event, _ in webhooks.fired} == set(sent)
    lines = capfd.readouterr().out.splitlines()
    assert sum("webhooks.unknown-event-types" in line for line in lines) == logged
    webhooks.now += timedelta(minutes=1)
    webhooks.subscribe({"url": URL, "events": events}, labels={})
    process.publisher.photo_written("w9", EVENT, None, webhooks.photo("p9", "ann@example.com"))
    lines = capfd.readouterr().out.splitlines()
    assert sum("webhooks.unknown-event-types" in line for line in lines) == logged
