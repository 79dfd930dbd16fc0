"""The batches of a recap on their way to the mail service, side by side (spec 3.3, design 3)."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Protocol

from functions import log
from functions.recap.ledger import Batch, BatchState, Tally
from functions.recap.mail.composer import Addressee
from functions.recap.mail.outcome import Accepted, BadAddresses, Later, Outcome, Refused, Unknown
from functions.recap.store.recap_store import Claim, RecapStore, TakenElsewhereError

REQUESTS_AT_ONCE: Final = 3
"""A request of a thousand mails is up to 10 MB, three times over while it is written."""

TRIES: Final = 5
"""Of one batch, where the mail service has no time for it."""

BACKOFF_SECONDS: Final = (0.5, 1.0, 2.0, 4.0)
"""Before the second to the last try, where the mail service does not say when."""

BAD_ADDRESS_ROUNDS: Final = 50
"""How often a batch is sent again without the addresses it was refused for."""


class Mailer(Protocol):
    """The mail service."""

    def send(self, body: Mapping[str, Any]) -> Outcome:
        """Make one request, once, and say what became of it."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A batch with those of its recipients who are still to have the mail.

    `addressees` has them by the ids of their guests; `opted_out` counts those who have opted out
    since the batch was planned.
    """

    batch: Batch
    addressees: Mapping[str, Addressee]
    opted_out: int = 0


@dataclass(slots=True)
class _Progress:
    """A started batch: who is left in it, and who was taken out for a bad address."""

    batch: Batch
    waiting: dict[str, Addressee]
    refused: list[str] = field(default_factory=list)


class Dispatch:
    """Sends the parcels of one call."""

    def __init__(
        self,
        *,
        store: RecapStore,
        mailer: Mailer,
        claim: Claim,
        compose: Callable[[Sequence[Addressee]], Mapping[str, Any]],
        now: Callable[[], datetime],
        give_up_at: float,
    ) -> None:
        """`compose` writes a request; `give_up_at`, on the monotonic clock, ends all waiting."""
        self._store = store
        self._mailer = mailer
        self._claim = claim
        self._compose = compose
        self._now = now
        self._give_up_at = give_up_at

    def send(self, parcels: Sequence[Parcel]) -> Tally:
        """Send them all; what fails leaves the others alone."""
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as threads:
            return Tally.total(threads.map(self._send, parcels))

    def _send(self, parcel: Parcel) -> Tally:
        batch = parcel.batch
        if time.monotonic() > self._give_up_at:
            return Tally(open=len(parcel.addressees))
        try:
            started = self._store.start(
                self._claim,
                batch,
                list(parcel.addressees),
                skipped=parcel.opted_out,
                now=self._now(),
            )
            return self._post(_Progress(started, dict(parcel.addressees)))
        except TakenElsewhereError:
            # This call outlived its lease, and another one goes on in its place.
            self._log(batch, "taken elsewhere")
            return Tally(faults=1)
        except Exception as error:  # noqa: BLE001 - the other batches go on
            self._log(batch, type(error).__name__)
            return Tally(faults=1)

    def _post(self, progress: _Progress) -> Tally:
        outcome: Outcome = Refused("every address was refused")
        tries, rounds = 0, 0
        while progress.waiting:
            outcome = self._request(progress)
            match outcome:
                case BadAddresses(indices) if rounds < BAD_ADDRESS_ROUNDS:
                    rounds += 1
                    ids = list(progress.waiting)
                    for index in indices:
                        if index < len(ids):
                            del progress.waiting[ids[index]]
                            progress.refused.append(ids[index])
                case Later(_, seconds) if tries < TRIES - 1:
                    pause = BACKOFF_SECONDS[tries] if seconds is None else seconds
                    tries += 1
                    if time.monotonic() + pause > self._give_up_at:
                        break
                    time.sleep(pause)
                case _:
                    break
        return self._settle(progress, outcome)

    def _request(self, progress: _Progress) -> Outcome:
        try:
            body = self._compose(list(progress.waiting.values()))
        except Exception as error:  # noqa: BLE001 - nothing has left, and the ledger has to say so
            return Refused(type(error).__name__)
        return self._mailer.send(body)

    def _settle(self, progress: _Progress, outcome: Outcome) -> Tally:
        waiting, refused = len(progress.waiting), len(progress.refused)
        note: str | None
        match outcome:
            case _ if not waiting:
                state, tally, note = BatchState.ACCEPTED, Tally(refused=refused), None
            case Accepted(message_id):
                state, tally = BatchState.ACCEPTED, Tally(accepted=waiting, refused=refused)
                note = message_id
            case Unknown(reason):
                state, tally = BatchState.UNKNOWN, Tally(unknown=waiting, refused=refused)
                note = reason
            case Later(reason, _) | Refused(reason):
                state, tally = BatchState.PLANNED, Tally(open=waiting, refused=refused)
                note = reason
            case BadAddresses():
                state, tally = BatchState.PLANNED, Tally(open=waiting, refused=refused)
                note = "too many bad addresses"
        batch = replace(progress.batch, state=state, recipients=tuple(progress.waiting))
        self._store.settle(self._claim, batch, tally, refused=progress.refused, note=note)
        self._log(batch, None if state is BatchState.ACCEPTED else note)
        return tally

    def _log(self, batch: Batch, problem: str | None) -> None:
        write = log.warning if problem else log.info
        write(
            "recap.batch",
            eventId=self._claim.event_id,
            recapId=self._claim.recap_id,
            batch=batch.number,
            recipients=len(batch.recipients),
            state=batch.state,
            problem=problem,
        )
