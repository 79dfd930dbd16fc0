"""Permitted transitions of a delivery's record: spec 3.4, with rounds."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Final

from functions.webhooks.deliveries.delivery import Delivery, Outcome

WAITS: Final = {
    1: timedelta(0),
    2: timedelta(seconds=1),
    3: timedelta(seconds=5),
    4: timedelta(seconds=30),
}
"""Delay before each attempt, after the end of the previous one (spec 3.4)."""

HELD_BACK: Final = timedelta(seconds=0.5)
"""Delay that the worker adds, which is more than the clocks' difference."""

_NEXT: Final = {
    # Skipped: the organizer has stopped the endpoint.
    Outcome.PENDING: {Outcome.RETRYING, Outcome.SUCCESS, Outcome.FAILED, Outcome.SKIPPED},
    Outcome.RETRYING: {Outcome.RETRYING, Outcome.SUCCESS, Outcome.FAILED, Outcome.SKIPPED},
    Outcome.SUCCESS: set[Outcome](),
    Outcome.FAILED: {Outcome.SUCCESS},  # an acknowledgement of any dispatch counts
    Outcome.SKIPPED: {Outcome.SUCCESS},
}


def violations_of(before: Delivery | None, after: Delivery) -> Iterator[str]:
    """Yield the violations of a record that replaces `before`."""
    if before is None:
        if after.outcome not in (Outcome.PENDING, Outcome.SKIPPED) or after.attempts:
            yield f"it was created {after.outcome}"
        return
    if (before.body, before.url, before.event_type) != (after.body, after.url, after.event_type):
        yield "its content has changed"
    if after.round == before.round:
        begins = after == replace(before, begun=before.begun + 1)
        moved = replace(before, slow=True, next_attempt_at=after.next_attempt_at)
        # A moved attempt has not started, although its start was recorded.
        moves = after in (moved, replace(moved, begun=before.begun - 1))
        is_kept = before.outcome.is_open and (begins or moves)
        if after.outcome not in _NEXT[before.outcome] and not is_kept:
            yield f"from {before.outcome} to {after.outcome}"
        if after.attempts not in (before.attempts, before.attempts + 1):
            yield f"attempt {after.attempts} follows on {before.attempts}"
    elif after.round == before.round + 1:
        if before.outcome.is_open:
            yield "it was sent again before it had ended"
        if (after.outcome, after.attempts) != (Outcome.PENDING, 0):
            yield f"a round begins {after.outcome} with {after.attempts} attempts"
    else:
        yield f"round {after.round} follows on {before.round}"
    yield from _broken_by_log(after)


def _broken_by_log(delivery: Delivery) -> Iterator[str]:
    made = [attempt for attempt in delivery.log if attempt.round == delivery.round]
    numbers = sorted(attempt.number for attempt in made)
    if numbers != list(range(1, delivery.attempts + 1)):
        yield f"attempts {numbers} are recorded, and it counts {delivery.attempts}"
    if len(made) > len(WAITS):
        yield f"{len(made)} attempts in a round"
    if delivery.outcome is Outcome.SUCCESS:  # an acknowledgement of any round counts
        made_well = any(attempt.acknowledged for attempt in delivery.log)
    else:
        made_well = not any(attempt.acknowledged for attempt in made)
    if not made_well:
        yield f"it is {delivery.outcome}, and its log says otherwise"
    for earlier, later in pairwise(made):
        if later.number == earlier.number + 1:
            waited = later.at - earlier.at - timedelta(milliseconds=earlier.milliseconds)
            if waited < WAITS[later.number] - HELD_BACK:
                yield f"attempt {later.number} after {waited.total_seconds()} s"
