"""What must hold of the webhooks, said without the code that it checks."""

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
from tests.simulation.webhooks.scenario import EVENT, Scenario
from tests.simulation.webhooks.seen import A_SECOND, KEPT, UNREADABLE, URLS_WRITTEN, Post, Seen

_MILESTONES: Final = (100, 500)
_ENDS_AN_INSTANCE: Final = frozenset(set(Fault) - {Fault.RESTART})
_PHOTOS: Final = Query(collection=f"events/{EVENT}/photos")
_DELIVERIES: Final = Query(collection=f"events/{EVENT}/deliveries")
_BEHIND: Final = timedelta(minutes=10)


def owed_for_photo(before: Photo | None, after: Photo | None) -> Iterator[tuple[str, str]]:
    """What a write of a photo owes every URL that takes it (spec 3.1)."""
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
    """What a write of the event owes every URL that takes it (spec 3.2)."""
    if before is None or after is None or before.status is after.status:
        return
    if after.status is EventStatus.PUBLISHED:
        yield "event.published", ""
    if after.status is EventStatus.ARCHIVED and before.status is EventStatus.PUBLISHED:
        yield "event.archived", ""


def at_rest(seen: Seen, scenario: Scenario, firestore: Firestore) -> Iterator[str]:
    """The violations once nothing is on its way any more."""
    stored = [found for found in firestore.query(_DELIVERIES) if found.id != UNREADABLE]
    found = [read_delivery(document) for document in stored]
    yield from _messages(seen, scenario, firestore, found)
    yield from _waits(seen)
    yield from _stopped(seen, found)
    for delivery in found:
        if delivery.outcome.is_open:
            yield f"{delivery.id} ({delivery.event_type}) has not ended"
        given_up = any("never finished" in (attempt.error or "") for attempt in delivery.log)
        if given_up and not _ENDS_AN_INSTANCE & seen.simulation.faults:
            yield f"{delivery.id} was given up, and every attempt that began has ended"
    for number in _MILESTONES:
        yield from _milestone(number, scenario, firestore, stored)
    records = {delivery.id: delivery for delivery in found}
    for post in seen.posts:
        if post.body != records[post.delivery_id].body.encode():
            yield f"{post.delivery_id} was sent with another body"
        if post.acknowledged:
            yield from _acknowledged(seen, post, records[post.delivery_id])


def _waits(seen: Seen) -> Iterator[str]:
    """A delivery waits for the others at most, however often their triggers ran again.

    Twice, because two instances may record the same ones at the same time.
    """
    most = timedelta(seconds=2 * len(seen.history) / A_SECOND)
    for (_, made), *_ in seen.history.values():
        wait = (made.next_attempt_at or made.created_at) - made.created_at
        if wait > most:
            yield f"{made.id} waits for {wait}, and {len(seen.history)} are there in all"


def _stopped(seen: Seen, found: list[Delivery]) -> Iterator[str]:
    """No attempt begins at a URL that was switched off, once the settings have to be read.

    And only the organizer ends a delivery that was to be attempted. Tests are made all the same.
    """
    tests = {delivery.id for delivery in found if delivery.test}
    for post in seen.posts:
        off = any(
            since + KEPT < post.actor.began and post.began < until for since, until in seen.off
        )
        if off and post.delivery_id not in tests:
            yield f"{post.delivery_id} was sent although its URL was switched off"
    for delivery in found:
        versions = [version for _, version in seen.history[delivery.id]]
        ended = any(
            before.outcome.is_open and after.outcome is Outcome.SKIPPED
            for before, after in pairwise(versions)
        )
        if ended and (delivery.test or not seen.off):
            yield f"{delivery.id} was skipped, and its URL had not been switched off"


def _messages(
    seen: Seen, scenario: Scenario, firestore: Firestore, found: list[Delivery]
) -> Iterator[str]:
    """One record for each message and URL, and none beside them."""
    owed = Counter(seen.owed)
    for number in _MILESTONES:
        record = firestore.get(_path(number))
        enough = len(firestore.query(_PHOTOS)) >= number and scenario.uploads
        # Photos may be deleted again: a recorded milestone was reached all the same.
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
    if sum(delivery.test for delivery in found) > seen.tests:
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
    """The milestone and its deliveries are recorded in one commit, about the same photo.

    One that was behind when the URLs were written is told to nobody, and no other one is.
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
            yield f"milestone {number} was behind, and somebody was told"
        return
    photos = {_latest_photo(stored) for stored in told}
    photo_id = record and record.fields["photoId"]
    if told and photos != {photo_id}:
        yield f"the milestone is recorded for {photo_id}, and its deliveries for {photos}"
    taken = any("milestone.reached" in url["events"] for url in scenario.settings["urls"])
    if record and not (told and taken):
        yield "the milestone is recorded, and nobody was notified"
    if record and any(stored.created != record.created for stored in told):
        yield "the milestone was not recorded with its deliveries"


def _was_behind(number: int, scenario: Scenario) -> bool:
    """Whether so many photos had been there for a while when the URLs were written."""
    until = URLS_WRITTEN - _BEHIND
    times = [fields["createdAt"] for fields in scenario.photos.values()]
    times += [upload.fields["createdAt"] for upload in scenario.uploads]
    return len([at for at in times if at <= until]) >= number


def _acknowledged(seen: Seen, post: Post, record: Delivery) -> Iterator[str]:
    """A 2xx is recorded, whichever round got it, or the attempt was made again."""
    if any(attempt.acknowledged for attempt in record.log):
        return
    if post.survived:
        yield f"{post.delivery_id} is {record.outcome}, and its receiver has answered {post.status}"
        return
    if record.round > post.round:
        return
    # The instance did not live to write it, or could not: the same attempt is made again, unless
    # another dispatch of it came to its end meanwhile. A fifth attempt is made for nobody.
    since = post.actor.began
    posted = any(
        other.delivery_id == post.delivery_id and other is not post and other.began >= since
        for other in seen.posts
    )
    if not posted and all(time < since for time, _ in seen.history[post.delivery_id]):
        yield f"{post.delivery_id} was answered {post.status}, and nobody tried again"
