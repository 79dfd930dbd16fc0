"""The recap with one thought left out each."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, Final
from unittest import mock

from functions.documents.refusals import ChangedMeanwhileError
from functions.documents.write import Merge, Update
from functions.mail.outcome import Later, SendOutcome
from functions.mail.sendgrid import refusal
from functions.mail.tracking import DeliveryStatus, Tally
from functions.mail_events import recorder
from functions.mail_events.recorder import MailEvents
from functions.recap.ledger import claim, lock
from functions.recap.ledger.batch import Batch, BatchState, Counts, RecapState
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.lock import Lock, RecapKey, StoredLock, Taking, resumable
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.ledger.status_store import StatusStore, StoredStatuses
from functions.recap.quota.allowance import Allowance
from functions.recap.sending import planner, send_recap
from tests.in_memory import mailer
from tests.simulation.mutant import Mutant, instead_of

_NOTHING: Final = DeliveryStatus.NONE

_start = RecapStore.start
_settle = RecapStore.settle
_plan = RecapStore.plan
_take = RecapStore.take
_release = RecapStore.release
_claim_start = Claim.start
_claim_settle = Claim.settle
_save = StatusStore.save
_record_statuses = MailEvents._record_statuses  # noqa: SLF001 - a mutant goes inside
_changed = recorder._changed  # noqa: SLF001


def _resumable_while_leased(lock: Lock | None, now: datetime) -> str | None:
    return resumable(replace(lock, leased_until=None) if lock else None, now)


def _first_mail(batches: Iterable[Batch]) -> datetime | None:
    return min((batch.started_at for batch in batches if batch.started_at), default=None)


def _take_any_version(
    self: RecapStore, event_id: str, decide: Callable[[Lock | None], Taking]
) -> tuple[Taking, Any]:
    documents = self.documents

    def no_transaction(path: str, writes: Callable[[Any], Any]) -> Any:
        return documents.commit(*writes(documents.get(path)))

    with mock.patch.object(documents, "transact", no_transaction):
        return _take(self, event_id, decide)


def _everybodys_turn(guests: Any, sent_at: Any, *, only_new: bool) -> Any:
    del sent_at, only_new
    return list(guests)


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
    self: RecapStore, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
) -> Any:
    return _start(self, key, replace(batch, version=None), change, replace(held, version=None))  # type: ignore[arg-type]


def _start_without_lock(
    self: RecapStore, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
) -> Any:
    settled = _settle(self, key, batch, change)
    return settled, held.version


def _settle_any_version(self: RecapStore, key: RecapKey, batch: Batch, change: Counts) -> Batch:
    return _settle(self, key, replace(batch, version=None), change)


def _settle_in_two_commits(self: RecapStore, key: RecapKey, batch: Batch, change: Counts) -> Batch:
    settled = _settle(self, key, batch, Counts())
    self.documents.commit(Merge(key.path, add=asdict(change)))
    return settled


def _plan_over(
    self: RecapStore,
    key: RecapKey,
    older: Any,
    batches: Any,
    counts: Counts,
    held: StoredLock,
) -> Any:
    planned, _ = _plan(
        self,
        key,
        [replace(mail, version=None) for mail in older],
        batches,
        counts,
        replace(held, version=None),  # type: ignore[arg-type]
    )
    lock = self.lock(key.event_id)
    assert lock
    return planned, lock.version


def _settle_as_planned(
    self: Claim, batch: Batch, state: BatchState, *, note: str | None = None, **fields: Any
) -> Batch:
    crashed = note == claim._CRASHED  # noqa: SLF001 - a mutant goes inside
    if crashed:
        state = BatchState.PLANNED
    return _claim_settle(self, batch, state, note=note, **fields)


def _refusal_by_hope(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime
) -> SendOutcome:
    return Later("HTTP 503", None) if status == 503 else refusal(status, headers, body, now=now)


def _release_as_sent(
    self: RecapStore, key: RecapKey, held: StoredLock, state: RecapState, at: datetime
) -> None:
    if state is RecapState.INTERRUPTED:
        state, held = RecapState.SENT, replace(held, lock=replace(held.lock, unfinished=False))
    _release(self, key, held, state, at)


def _release_whoever_has_it(
    self: RecapStore, key: RecapKey, held: StoredLock, state: RecapState, at: datetime
) -> None:
    _release(self, key, replace(held, version=None), state, at)  # type: ignore[arg-type]


def _given_back_after_the_release(
    claim: Claim, allowance: Allowance, *, failed: bool = False
) -> RecapState | None:
    state = claim.release(claim.state(failed=failed))
    if state in (RecapState.FAILED, RecapState.EMPTY):
        allowance.give_back(lambda: True)
    return state


def _save_any_version(
    self: StatusStore, key: RecapKey, statuses: Any, change: Tally, complaints: Any, version: Any
) -> None:
    del version
    _save(self, key, statuses, change, complaints, self.load(key, []).version)


def _save_in_two_commits(
    self: StatusStore, key: RecapKey, statuses: Any, change: Tally, complaints: Any, version: Any
) -> None:
    _save(self, key, statuses, Tally(), complaints, version)
    self.documents.commit(Update(key.path, add=asdict(change)))


def _effects_last(
    self: MailEvents, key: RecapKey, news: Any, found: StoredStatuses, changed: Any
) -> None:
    known = found.statuses
    change = Tally.of(changed.values()) - Tally.of(known.get(url, _NOTHING) for url in changed)
    new = {guest: facts & ~known.get(guest, _NOTHING) for guest, facts in changed.items()}
    complaints = {**found.complaints, **recorder._complaints(news, new)}  # noqa: SLF001
    self.statuses.save(key, {**known, **changed}, change, complaints, found.version)
    for guest, facts in new.items():
        self._have_effect(news[guest], facts)


def _busy_is_done(
    self: MailEvents, key: RecapKey, news: Any, found: StoredStatuses, changed: Any
) -> None:
    with contextlib.suppress(ChangedMeanwhileError):
        _record_statuses(self, key, news, found, changed)


def _counted_whatever_is_known(
    self: MailEvents, key: RecapKey, news: Any, found: StoredStatuses, changed: Any
) -> None:
    known = found.statuses
    new = {guest: facts & ~known.get(guest, _NOTHING) for guest, facts in changed.items()}
    for guest, facts in new.items():
        self._have_effect(news[guest], facts)
    complaints = {**found.complaints, **recorder._complaints(news, new)}  # noqa: SLF001
    change = Tally.of(changed.values())
    self.statuses.save(key, {**known, **changed}, change, complaints, found.version)


def _replaced(found: StoredStatuses, news: Any) -> dict[str, DeliveryStatus]:
    return {guest: news[guest].status for guest in _changed(found, news)}


def _look_at_news_alone(self: MailEvents, recap: Any) -> int:
    key, news = recap
    changed = self._record_new(key, news)
    if changed:
        self.complaints.look(key)
    return changed


def _recap(name: str, left_out: str, of: Any, what: str, do: Callable[..., Any]) -> Mutant:
    return Mutant("recap", name, left_out, instead_of(of, what, do))


MUTANTS: Final = (
    _recap("lease-ignored", "the lease", lock, "resumable", _resumable_while_leased),
    _recap(
        "ledger-after-request",
        "to record a request before it leaves",
        Claim,
        "start",
        _started_in_memory_only,
    ),
    _recap(
        "start-any-version",
        "both preconditions of a start: the batch and the lock are as they were read",
        RecapStore,
        "start",
        _start_any_version,
    ),
    _recap(
        "start-without-lock",
        "to write the lock with each start",
        RecapStore,
        "start",
        _start_without_lock,
    ),
    _recap(
        "settle-any-version",
        "the precondition on the batch when it is settled",
        RecapStore,
        "settle",
        _settle_any_version,
    ),
    _recap(
        "counted-by-itself",
        "one commit for a batch and what the recap counts of it",
        RecapStore,
        "settle",
        _settle_in_two_commits,
    ),
    _recap(
        "plan-over",
        "the preconditions of a plan: the lock and the older batches are as they were read",
        RecapStore,
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
        mailer,
        "refusal",
        _refusal_by_hope,
    ),
    _recap(
        "sent-while-open",
        "that the state follows from the batches: an interrupted recap is called sent",
        RecapStore,
        "release",
        _release_as_sent,
    ),
    _recap(
        "release-any-lock",
        "that only its holder releases the lock",
        RecapStore,
        "release",
        _release_whoever_has_it,
    ),
    _recap(
        "cooldown-from-the-lock",
        "that the cooldown counts from a mail: it is a minute long",
        claim,
        "COOLDOWN",
        timedelta(minutes=1),  # type: ignore[arg-type]
    ),
    _recap(
        "cooldown-from-the-first-mail",
        "that the cooldown counts from the last mail",
        claim,
        "last_mail",
        _first_mail,
    ),
    _recap(
        "taken-by-hope",
        "the transaction: the lock is written even if it has changed since it was read",
        RecapStore,
        "take",
        _take_any_version,
    ),
    _recap(
        "turns-forgotten",
        "that nobody gets a second recap before everybody had one",
        planner,
        "in_turn",
        _everybodys_turn,
    ),
    _recap(
        "newcomers-forgotten",
        "that a recap for newcomers is for newcomers, where it continues another one",
        planner.Gathered,
        "spared",
        lambda *_: set(),
    ),
    _recap(
        "given-back-after-the-release",
        "that a recap without mails gives its allowance back before its lock is free",
        send_recap,
        "_release",
        _given_back_after_the_release,
    ),
    _recap(
        "given-back-anyway",
        "that only the holder of the lock gives the allowance back",
        Claim,
        "is_held",
        lambda _: True,
    ),
    _recap(
        "outcomes-any-version",
        "the precondition of the write of a mail's status",
        StatusStore,
        "save",
        _save_any_version,
    ),
    _recap(
        "outcomes-by-themselves",
        "one commit for the mails' status and the recap's counts",
        StatusStore,
        "save",
        _save_in_two_commits,
    ),
    _recap(
        "effects-last",
        "that what a complaint or a bounce leads to comes before it is recorded",
        MailEvents,
        "_record_statuses",
        _effects_last,
    ),
    _recap(
        "busy-is-done",
        "to look again where another request was first",
        MailEvents,
        "_record_statuses",
        _busy_is_done,
    ),
    _recap(
        "counted-anew",
        "to take what was counted of a mail before out of the count",
        MailEvents,
        "_record_statuses",
        _counted_whatever_is_known,
    ),
    _recap(
        "last-word-wins",
        "that facts are collected: the last event replaces them",
        recorder,
        "_changed",
        _replaced,
    ),
    _recap(
        "complaints-looked-at-once",
        "to look at complaints again that are told again",
        MailEvents,
        "_record",
        _look_at_news_alone,
    ),
    _recap(
        "stopped-sends",
        "that a tenant who is stopped sends no recap",
        planner.Planner,
        "stopped",
        lambda *_: None,
    ),
)
