"""The recap with one thought left out each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from functions.mail.outcome import Later, Outcome
from functions.mail.sendgrid import refusal
from functions.recap import claim
from functions.recap.claim import Claim
from functions.recap.ledger import Batch, BatchState, Counts, Lock, RecapState, resumable
from functions.recap.ports import RecapKey, StoredLock
from tests.simulation.database import Update
from tests.simulation.mutant import Mutant, instead_of
from tests.simulation.recap import memory
from tests.simulation.recap.memory import InMemoryRecaps, lock_path, recap_path

_start = InMemoryRecaps.start
_settle = InMemoryRecaps.settle
_plan = InMemoryRecaps.plan
_release = InMemoryRecaps.release
_claim_start = Claim.start
_claim_settle = Claim.settle


def _resumable_while_leased(lock: Lock | None, now: datetime) -> str | None:
    return resumable(replace(lock, leased_until=None) if lock else None, now)


def _started_in_memory_only(
    self: Claim,
    batch: Batch,
    recipients: Any,
    *,
    refused: Any = None,
    opted_out: int | None = None,
) -> Batch:
    return batch.started(
        self._lock.holder,
        self._now(),
        recipients=recipients,
        refused=refused,
        opted_out=opted_out,
    )


def _start_any_version(
    self: InMemoryRecaps, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
) -> Any:
    return _start(self, key, replace(batch, version=None), change, replace(held, version=None))


def _start_without_lock(
    self: InMemoryRecaps, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
) -> Any:
    settled = _settle(self, key, batch, change)
    return settled, held.version


def _settle_any_version(self: InMemoryRecaps, key: RecapKey, batch: Batch, change: Counts) -> Batch:
    return _settle(self, key, replace(batch, version=None), change)


def _settle_in_two_commits(
    self: InMemoryRecaps, key: RecapKey, batch: Batch, change: Counts
) -> Batch:
    settled = _settle(self, key, batch, Counts())
    count = Update(
        recap_path(key),
        lambda recap: {
            **recap,
            "sent": recap["sent"] + change.sent,
            "unknown": recap["unknown"] + change.unknown,
            "left": recap["left"] + change.left,
            "skipped": recap["skipped"] + change.skipped,
        },
    )
    self._commit("recaps.count", count)
    return settled


def _plan_over(
    self: InMemoryRecaps,
    key: RecapKey,
    older: Any,
    batches: Any,
    counts: Counts,
    held: StoredLock,
) -> Any:
    planned, _ = _plan(
        self,
        key,
        [replace(one, version=None) for one in older],
        batches,
        counts,
        replace(held, version=None),
    )
    return planned, self._database.get(lock_path(key.event_id)).version  # type: ignore[union-attr]


def _settle_as_planned(
    self: Claim, batch: Batch, state: BatchState, *, note: str | None = None, **fields: Any
) -> Batch:
    crashed = note == claim._CRASHED  # noqa: SLF001 - a mutant goes inside
    if crashed:
        state = BatchState.PLANNED
    return _claim_settle(self, batch, state, note=note, **fields)


def _refusal_by_hope(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime
) -> Outcome:
    return Later("HTTP 503", None) if status == 503 else refusal(status, headers, body, now=now)


def _release_as_sent(
    self: InMemoryRecaps, key: RecapKey, held: StoredLock, state: RecapState, at: datetime
) -> None:
    if state is RecapState.INTERRUPTED:
        state, held = RecapState.SENT, replace(held, lock=replace(held.lock, unfinished=False))
    _release(self, key, held, state, at)


def _release_whoever_has_it(
    self: InMemoryRecaps, key: RecapKey, held: StoredLock, state: RecapState, at: datetime
) -> None:
    _release(self, key, replace(held, version=None), state, at)


def _recap(name: str, left_out: str, of: Any, what: str, do: Callable[..., Any]) -> Mutant:
    return Mutant("recap", name, left_out, instead_of(of, what, do))


MUTANTS: Final = (
    _recap("lease-ignored", "the lease", claim, "resumable", _resumable_while_leased),
    _recap(
        "ledger-after-request",
        "to put a request on record before it leaves",
        Claim,
        "start",
        _started_in_memory_only,
    ),
    _recap(
        "start-any-version",
        "both preconditions of a start: the batch and the lock are as they were read",
        InMemoryRecaps,
        "start",
        _start_any_version,
    ),
    _recap(
        "start-without-lock",
        "to write the lock with each start",
        InMemoryRecaps,
        "start",
        _start_without_lock,
    ),
    _recap(
        "settle-any-version",
        "the precondition on the batch when it is settled",
        InMemoryRecaps,
        "settle",
        _settle_any_version,
    ),
    _recap(
        "counted-by-itself",
        "one commit for a batch and what the recap counts of it",
        InMemoryRecaps,
        "settle",
        _settle_in_two_commits,
    ),
    _recap(
        "plan-over",
        "the preconditions of a plan: the lock and the older batches are as they were read",
        InMemoryRecaps,
        "plan",
        _plan_over,
    ),
    _recap(
        "crashed-is-planned",
        "that a batch under way in a call that is gone counts as sent",
        Claim,
        "settle",
        _settle_as_planned,
    ),
    _recap(
        "later-by-hope",
        "that no 503 says that nothing was taken",
        memory,
        "refusal",
        _refusal_by_hope,
    ),
    _recap(
        "sent-while-open",
        "that the state follows from the batches: an interrupted recap is called sent",
        InMemoryRecaps,
        "release",
        _release_as_sent,
    ),
    _recap(
        "release-any-lock",
        "that only its holder releases the lock",
        InMemoryRecaps,
        "release",
        _release_whoever_has_it,
    ),
    _recap(
        "cooldown-from-the-lock",
        "that the cooldown counts from the first mail: it is a minute long",
        claim,
        "COOLDOWN",
        timedelta(minutes=1),  # type: ignore[arg-type]
    ),
)
