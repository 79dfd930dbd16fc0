"""Invariants of the webhooks, written without the code that they check."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from functions.email_address import identity
from functions.firestore.model import Document, Query
from functions.wall.wall_event import EventStatus, Photo, PhotoStatus, WallEvent
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import read_delivery
from tests.in_memory.documents import Firestore
from tests.simulation.faults import Fault
from tests.simulation.webhooks.history import (
    A_SECOND,
    KEPT,
    UNREADABLE,
    URLS_WRITTEN,
    History,
    Post,
)
from tests.simulation.webhooks.scenario import EVENT, Scenario

_MILESTONES: Final = (100, 500)
_ENDS_AN_INSTANCE: Final = frozenset(set(Fault) - {Fault.RESTART})
_PHOTOS: Final = Query(collection=f"events/{EVENT}/photos")
_DELIVERIES: Final = Query(collection=f"events/{EVENT}/deliveries")
_BEHIND: Final = timedelta(minutes=10)


def owed_for_photo(before: Photo | None, after: Photo | None) -> Iterator[tuple[str, str]]:
    """Yield the messages that a write of a photo requires (spec 3.1)."""
    if after is None:
        if before and before.status is PhotoStatus.APPROVED:
            yield "photo.deleted", before.id
        return
    if before is None:
        yield "photo.uploaded", after.id
    earlier = before and before.status
    if after.status is PhotoStatus.APPROVED and earlier is not PhotoStatus.APPROVED:
        yield "photo.approved", after.id
    if after.status is PhotoStatus.REJECTED and earlier not in (None, PhotoStatus.REJECTED):
        yield "photo.rejected", after.id


def owed_for_event(before: WallEvent | None, after: WallEvent | None) -> Iterator[tuple[str, str]]:
    """Yield the messages that a write of the event requires (spec 3.2)."""
    if before is None or after is None or before.status is after.status:
        return
    if after.status is EventStatus.PUBLISHED:
        yield "event.published", ""
    if after.status is EventStatus.ARCHIVED and before.status is EventStatus.PUBLISHED:
        yield "event.archived", ""


def at_rest(history: History, scenario: Scenario, firestore: Firestore) -> Iterator[str]:
    """Yield the violations at the end of a schedule."""
    stored = [found for found in firestore.query(_DELIVERIES) if found.id != UNREADABLE]
    found = [read_delivery(document) for document in stored]
    yield from _messages(history, scenario, firestore, found)
    yield from _waits(history)
    yield from _stopped(history, found)
    for delivery in found:
        if delivery.outcome.is_open:
            yield f"{delivery.id} ({delivery.event_type}) has not ended"
        given_up = any("never finished" in (attempt.error or "") for attempt in delivery.log)
        if given_up and not _ENDS_AN_INSTANCE & history.simulation.faults:
            yield f"{delivery.id} was given up, and every attempt that began has ended"
    for number in _MILESTONES:
        yield from _milestone(number, scenario, firestore, stored)
    records = {delivery.id: delivery for delivery in found}
    for post in history.posts:
        if post.body != records[post.delivery_id].body.encode():
            yield f"{post.delivery_id} was sent with another body"
        if post.acknowledged:
            yield from _acknowledged(history, post, records[post.delivery_id])


def _waits(history: History) -> Iterator[str]:
    """Check that a delivery waits at most for the other deliveries.

    The limit is doubled, because two instances may record the same deliveries at the same time.
    """
    most = timedelta(seconds=2 * len(history.versions) / A_SECOND)
    for (_, made), *_ in history.versions.values():
        wait = (made.next_attempt_at or made.created_at) - made.created_at
        if wait > most:
            yield f"{made.id} waits for {wait}, and {len(history.versions)} are there in all"


def _stopped(history: History, found: list[Delivery]) -> Iterator[str]:
    """Check that no attempt at a disabled URL starts after the settings' cache has expired.

    Only the organizer ends a pending delivery. Tests are attempted even if the URL is disabled.
    """
    tests = {delivery.id for delivery in found if delivery.test}
    for post in history.posts:
        off = any(
            since + KEPT < post.actor.began and post.began < until for since, until in history.off
        )
        if off and post.delivery_id not in tests:
            yield f"{post.delivery_id} was sent although its URL was switched off"
    for delivery in found:
        versions = [version for _, version in history.versions[delivery.id]]
        ended = any(
            before.outcome.is_open and after.outcome is Outcome.SKIPPED
            for before, after in pairwise(versions)
        )
        if ended and (delivery.test or not history.off):
            yield f"{delivery.id} was skipped, and its URL had not been switched off"


def _messages(
    history: History, scenario: Scenario, firestore: Firestore, found: list[Delivery]
) -> Iterator[str]:
    """Check that each message and URL has exactly one record."""
    owed = Counter(history.owed)
    for number in _MILESTONES:
        record = firestore.get(_path(number))
        enough = len(firestore.query(_PHOTOS)) >= number and scenario.uploads
        # Photos may be deleted later. A recorded milestone is still valid.
        if record.fields["photoId"] if record else enough:
            owed["milestone.reached", str(number)] = 1
    for joined in {(identity(upload.guest or ""), upload.uid) for upload in scenario.uploads}:
        owed["guest.joined", joined[0]] += 1
    expected = Counter(
        {
            (event, about, entry["url"]): count
            for (event, about), count in owed.items()
            for entry in scenario.settings["urls"]
            if event in entry["events"]
        }
    )
    recorded = Counter(
        (delivery.event_type.value, _about(delivery), delivery.url)
        for delivery in found
        if not delivery.test
    )
    for (event, about, url), count in (expected - recorded).items():
        yield f"{event} {about} has {count} records too few for {url}"
    for (event, about, url), count in (recorded - expected).items():
        yield f"{event} {about} has {count} records too many for {url}"
    if sum(delivery.test for delivery in found) > history.tests:
        yield "there are more tests than were asked for"


def _about(delivery: Delivery) -> str:
    data: Mapping[str, Any] = json.loads(delivery.body)["data"]
    match delivery.event_type.value:
        case "milestone.reached":
            return str(data["milestone"])
        case "guest.joined":
            return identity(data["uploaderEmail"] or "")
        case "event.published" | "event.archived":
            return ""
        case _:
            return str(data["photo"]["id"])


def _latest_photo(told: Document) -> str:
    return str(json.loads(read_delivery(told).body)["data"]["latestPhoto"]["id"])


def _path(number: int) -> str:
    return f"events/{EVENT}/milestones/{number}"


def _milestone(
    number: int, scenario: Scenario, firestore: Firestore, found: Sequence[Document]
) -> Iterator[str]:
    """Check that one commit records a milestone and its deliveries, about the same photo.

    A milestone that was reached before the URLs were written has no deliveries.
    """
    record = firestore.get(_path(number))
    told = [
        stored
        for stored in found
        if read_delivery(stored).event_type.value == "milestone.reached"
        and _about(read_delivery(stored)) == str(number)
    ]
    if record and (record.fields["photoId"] is None) is not _was_behind(number, scenario):
        yield f"milestone {number} is recorded as {record.fields}, against what was behind"
    if record and record.fields["photoId"] is None:
        if told:
            yield f"milestone {number} was reached before the URLs, but has deliveries"
        return
    photos = {_latest_photo(stored) for stored in told}
    photo_id = record and record.fields["photoId"]
    if told and photos != {photo_id}:
        yield f"the milestone is recorded for {photo_id}, and its deliveries for {photos}"
    taken = any("milestone.reached" in url["events"] for url in scenario.settings["urls"])
    if record and not (told and taken):
        yield "the milestone is recorded without deliveries"
    if record and any(stored.created != record.created for stored in told):
        yield "the milestone was not recorded with its deliveries"


def _was_behind(number: int, scenario: Scenario) -> bool:
    """Return whether the milestone was reached well before the URLs were written."""
    until = URLS_WRITTEN - _BEHIND
    times = [fields["createdAt"] for fields in scenario.photos.values()]
    times += [upload.fields["createdAt"] for upload in scenario.uploads]
    return len([at for at in times if at <= until]) >= number


def _acknowledged(history: History, post: Post, record: Delivery) -> Iterator[str]:
    """Check that a 2xx was recorded, or that the attempt was repeated."""
    if any(attempt.acknowledged for attempt in record.log):
        return
    if post.survived:
        yield f"{post.delivery_id} is {record.outcome}, and its receiver has answered {post.status}"
        return
    if record.round > post.round:
        return
    # The instance could not write it: the attempt is repeated, unless another dispatch of it has
    # ended meanwhile. There is no fifth attempt.
    since = post.actor.began
    posted = any(
        other.delivery_id == post.delivery_id and other is not post and other.began >= since
        for other in history.posts
    )
    if not posted and all(time < since for time, _ in history.versions[post.delivery_id]):
        yield f"{post.delivery_id} was answered {post.status}, and the attempt was not repeated"
