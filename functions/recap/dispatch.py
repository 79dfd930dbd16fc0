"""The batches of a recap on their way to the mail service, side by side (spec 3.3, design 3)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from functions import log
from functions.mail.message import Message
from functions.mail.outcome import Accepted, BadAddresses, Cause, Later, Outcome, Refused, Unknown
from functions.recap.claim import Claim
from functions.recap.ledger import Batch, BatchState
from functions.recap.mail.composer import Recipient
from functions.recap.ports import Mailer, TakenElsewhereError
from functions.side_by_side import SideBySide

REQUESTS_AT_ONCE: Final = 3
"""A request of a thousand mails is up to 10 MB, three times over while it is written."""

TRIES: Final = 5
"""Requests of one batch, where the mail service says that it has no time for it."""

BACKOFF_SECONDS: Final = (0.5, 1.0, 2.0, 4.0)
"""Seconds to wait before tries 2 to 5 when the mail service names no reset time."""

BAD_ADDRESS_ROUNDS: Final = 50
"""How often a batch is sent again without the addresses it was refused for."""

_LATE: Final = Refused("the call was held up for longer than its lease")


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch with those of its recipients who are still to have the mail.

    `recipients` has them by the ids of their guests; `opted_out` counts those who have opted out
    since the batch was planned.
    """

    batch: Batch
    recipients: Mapping[str, Recipient]
    opted_out: int = 0


@dataclass(slots=True)
class _Progress:
    """A started batch: who is left in it, and who was taken out for a bad address."""

    batch: Batch
    waiting: dict[str, Recipient]
    refused: list[str]

    def refuse(self, indices: frozenset[int]) -> None:
        """Take out the recipients with these indices."""
        ids = list(self.waiting)
        for index in sorted(indices):
            if index < len(ids):
                del self.waiting[ids[index]]
                self.refused.append(ids[index])


class Dispatch:
    """Sends the batches of one call; what becomes of them is in the ledger of its claim."""

    def __init__(
        self,
        *,
        claim: Claim,
        mailer: Mailer,
        compose: Callable[[Sequence[Recipient]], Message],
        side_by_side: SideBySide,
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
        give_up_at: float,
    ) -> None:
        """Put the parts together.

        Args:
            claim: What is on record, and whether it is still this call's.
            mailer: The mail service.
            compose: Writes the message to some recipients.
            side_by_side: Sends several batches at a time.
            monotonic: Seconds that only grow.
            sleep: Waits for some seconds.
            give_up_at: When, on the clock `monotonic`, all waiting ends.
        """
        self._claim = claim
        self._mailer = mailer
        self._compose = compose
        self._side_by_side = side_by_side
        self._monotonic = monotonic
        self._sleep = sleep
        self._give_up_at = give_up_at
        self._in_doubt = False
        self._causes: set[Cause] = set()

    @property
    def cause(self) -> Cause | None:
        """Why batches of this call are left, where it is known who can change that."""
        return next((one for one in Cause if one in self._causes), None)

    def send(self, batches: Sequence[PlannedBatch]) -> None:
        """Send them all; what fails leaves the others alone."""
        self._side_by_side(self._send, batches)

    def _send(self, planned: PlannedBatch) -> None:
        # A mail service that leaves us in the dark about one batch is trusted with no further one.
        if self._in_doubt or self._monotonic() > self._give_up_at:
            return
        try:
            started = self._claim.start(
                planned.batch, list(planned.recipients), opted_out=planned.opted_out
            )
            self._post(_Progress(started, dict(planned.recipients), list(started.refused)))
        except TakenElsewhereError:
            # This call outlived its lease, and another one goes on in its place.
            self._log(planned.batch, "taken elsewhere")
        except Exception as error:  # noqa: BLE001 - the other batches go on
            self._log(planned.batch, type(error).__name__)

    def _post(self, progress: _Progress) -> None:
        outcome: Outcome = Refused("every address was refused")
        tries, rounds = 0, 0
        while progress.waiting:
            outcome = self._request(progress)
            match outcome:
                case BadAddresses(indices) if rounds < BAD_ADDRESS_ROUNDS:
                    rounds += 1
                    progress.refuse(indices)
                case Later(_, seconds) if tries < TRIES - 1:
                    pause = BACKOFF_SECONDS[tries] if seconds is None else seconds
                    tries += 1
                    if self._monotonic() + pause > self._give_up_at:
                        break
                    self._sleep(pause)
                case _:
                    break
            if progress.waiting:
                if not self._claim.in_time:
                    outcome = _LATE
                    break
                # A further request has to be on record like the first.
                progress.batch = self._claim.start(
                    progress.batch, list(progress.waiting), refused=progress.refused
                )
        self._settle(progress, outcome)

    def _request(self, progress: _Progress) -> Outcome:
        try:
            message = self._compose(list(progress.waiting.values()))
        except Exception as error:  # noqa: BLE001 - nothing has left, and the ledger has to say so
            return Refused(type(error).__name__)
        if not self._claim.in_time:
            return _LATE
        outcome = self._mailer.send(message)
        if isinstance(outcome, Unknown):
            self._in_doubt = True
        return outcome

    def _settle(self, progress: _Progress, outcome: Outcome) -> None:
        state, note, cause = BatchState.PLANNED, None, None
        match outcome:
            case _ if not progress.waiting:
                state = BatchState.ACCEPTED
            case Accepted(message_id):
                state, note = BatchState.ACCEPTED, message_id or None
            case Unknown(reason):
                state, note = BatchState.UNKNOWN, reason
            case Later(reason) | Refused(reason):
                note, cause = reason, outcome.cause
            case BadAddresses():
                note = "too many bad addresses"
        batch = self._claim.settle(
            progress.batch,
            state,
            recipients=list(progress.waiting),
            refused=progress.refused,
            note=note,
        )
        if cause:
            self._causes.add(cause)
        self._log(batch, None if state is BatchState.ACCEPTED else note, cause)

    def _log(self, batch: Batch, problem: str | None, cause: Cause | None = None) -> None:
        write = log.warning if problem else log.info
        write(
            "recap.batch",
            eventId=self._claim.key.event_id,
            recapId=self._claim.key.recap_id,
            batch=batch.number,
            recipients=len(batch.recipients),
            state=batch.state,
            problem=problem,
            cause=cause,
        )
