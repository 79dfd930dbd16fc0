"""Milestones that an event has reached, and the photos that reached them (design 3.11)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from functions.wall.photo_store import PhotoStore
from functions.wall.wall_event import Photo
from functions.webhooks.events import MILESTONES, Milestone

PASSED_BEFORE: Final = timedelta(minutes=10)
"""No message is sent for a milestone that was passed that long before the URLs last changed."""


def unclaimed_milestones(
    wall: PhotoStore, event_id: str, photo: Photo, urls_changed_at: datetime
) -> Sequence[Milestone]:
    """Return the milestones that the event has reached and that no other photo has claimed.

    A milestone that the event passed before its URLs last changed has no `photo_id`. `photo`
    reached all others. The call costs one round trip, two from the first milestone on, and three if
    a milestone is not recorded.
    """
    count = wall.count_photos(event_id, at_most=MILESTONES[-1])
    reached = [number for number in MILESTONES if number <= count]
    if not reached:
        return []
    recorded = wall.milestones(event_id, reached)
    new = [number for number in reached if number not in recorded]
    passed = _passed(wall, event_id, photo, new[-1], urls_changed_at) if new else 0
    # If the record names this photo, its trigger runs again and may have to finish its work.
    return [
        Milestone(number=number)
        if number in new and number <= passed
        else Milestone(number=number, photo_id=photo.id, reached_at=photo.updated_at)
        for number in reached
        if number in new or recorded[number] == photo.id
    ]


def _passed(
    wall: PhotoStore, event_id: str, photo: Photo, at_most: int, urls_changed_at: datetime
) -> int:
    """Count the event's photos shortly before its URLs last changed.

    Return 0 for a backdated photo (an import), because photos are counted by `createdAt`.
    """
    if photo.updated_at - photo.created_at > PASSED_BEFORE:
        return 0
    return wall.count_photos(event_id, at_most=at_most, until=urls_changed_at - PASSED_BEFORE)
