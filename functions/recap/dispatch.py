"""Dispatch of a recap's batches to the email provider, in parallel (spec 3.3, design 3.39)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from functions.firestore.model import ChangedMeanwhileError
from functions.mail.message import Mailer
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Cause,
    Later,
    PartlyAccepted,
    Refused,
    SendOutcome,
    Unknown,
)
from functions.ports import ParallelMap
from functions.recap.delivery_status import MailLabels
from functions.recap.ledger.batch import Batch, BatchState
from functions.recap.ledger.claim import Claim
from functions.recap.mail.composer import Composer, Recipient

REQUESTS_AT_ONCE: Final = 3
"""Large requests in parallel. One has up to 10 MB, and needs three times that while it is built."""

SMALL_REQUESTS_AT_ONCE: Final = 20
"""Small requests in parallel at SendGrid. A single email has at most 100 KB, others about 10 KB."""

SMALL_BATCH: Final = 50
"""Maximum recipients of a batch that is sent with `SMALL_REQUESTS_AT_ONCE`. Larger batches are sent
with `REQUESTS_AT_ONCE`."""

PAUSES: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further request of a batch if a busy email provider names no time."""

LONGEST_PAUSE: Final = 30.0
"""Maximum pause in seconds, even if the email provider asks for a longer one."""

PATIENCE: Final = 45.0
"""Seconds since the last accepted batch until a call stops waiting. SDKs time out after 70."""

MAX_BAD_ADDRESS_ROUNDS: Final = 50
"""How often a batch is repeated without its rejected addresses."""

MAX_REFUSALS: Final = 5
"""Refusals with a cause after which a call stops. Servers block clients that fail to sign in."""

_LATE: Final = Refused("no time was left for another request")


@dataclass(slots=True, kw_only=True)
class Dispatch:
    """Sends the batches of one call, and records the results in the ledger of its claim.

    Attributes:
        batches: The planned batches with the recipients who still get the email.
        recipients: The recipients of all batches, by guest ID.
        in_parallel: Sends the large batches in parallel.
        small_in_parallel: Sends the small batches in parallel.
        give_up_at: Time after which no further request starts, on `claim.clock.monotonic`.
    """

    claim: Claim
    mailer: Mailer
    composer: Composer
    batches: Sequence[Batch]
    recipients: Mapping[str, Recipient]
    in_parallel: ParallelMap
    small_in_parallel: ParallelMap
    give_up_at: float
    _stopped: bool = False
    _refusals: int = 0
    _accepted_at: float = field(init=False)
    _causes: set[Cause] = field(default_factory=set)

    @property
    def cause(self) -> Cause | None:
        """The reason that batches remain unsent, if known."""
        return next((cause for cause in Cause if cause in self._causes), None)

    @property
    def advice(self) -> str:
        """Sentences that say who can fix `cause`, or "" without a cause."""
        return self.cause.who_can_fix(self.mailer.key_name) if self.cause else ""

    @property
    def _is_late(self) -> bool:
        """Whether a request that starts now might not end within the call's time."""
        return self.claim.clock.monotonic() > self.give_up_at or not self.claim.in_time

    def send(self) -> None:
        """Send all batches. A failed batch does not affect the others."""
        self._accepted_at = self.claim.clock.monotonic()
        small = [batch for batch in self.batches if len(batch.recipients) <= SMALL_BATCH]
        large = [batch for batch in self.batches if len(batch.recipients) > SMALL_BATCH]
        self.in_parallel(self._send, large)
        self.small_in_parallel(self._send, small)

    def _send(self, batch: Batch) -> None:
        # No further batch is risked after an unknown outcome or the end of the patience.
        if self._stopped or self._is_late:
            return
        try:
            self._post(self.claim.start(batch))
        except ChangedMeanwhileError:
            # This call outlived its lease, and another call continues the recap.
            batch.log(self.claim.key, "continued by another call")
        except Exception as error:  # noqa: BLE001 - the other batches go on
            batch.log(self.claim.key, type(error).__name__)

    def _post(self, batch: Batch) -> None:
        outcome: SendOutcome = Refused("every address was rejected")
        tries, rounds = 0, 0
        while batch.recipients:
            outcome = self._request(batch)
            if isinstance(outcome, PartlyAccepted):
                batch = self.claim.divide(batch, outcome.accepted, outcome.unknown)
                tries, outcome = 0, outcome.rest or Accepted("")
            match outcome:
                case BadAddresses(indices) if rounds < MAX_BAD_ADDRESS_ROUNDS:
                    rounds += 1
                    batch = batch.without_rejected(indices)
                case Later(_, seconds) if tries < len(PAUSES) and not self._stopped:
                    pause = min(PAUSES[tries] if seconds is None else seconds, LONGEST_PAUSE)
                    tries += 1
                    patient_until = min(self.give_up_at, self._accepted_at + PATIENCE)
                    if self.claim.clock.monotonic() + pause > patient_until:
                        self._stopped = True
                        break
                    self.claim.clock.sleep(pause)
                case _:
                    break
            if batch.recipients:
                if self._is_late:
                    outcome = _LATE
                    break
                # Every request is recorded before it is sent, not only the first.
                batch = self.claim.start(batch)
        self._settle(batch, outcome)

    def _request(self, batch: Batch) -> SendOutcome:
        try:
            message = self.composer.message(
                [self.recipients[guest] for guest in batch.recipients],
                {
                    guest: MailLabels(self.claim.key, batch.number, guest).as_texts()
                    for guest in batch.recipients
                },
            )
        except Exception as error:  # noqa: BLE001 - no email was sent, and the ledger records it
            return Refused(type(error).__name__)
        if self._is_late:
            return _LATE
        outcome = self.mailer.send(message)
        if isinstance(outcome, Accepted | PartlyAccepted):
            self._accepted_at = self.claim.clock.monotonic()
        is_unknown = isinstance(outcome, PartlyAccepted) and bool(outcome.unknown)
        self._refusals += isinstance(outcome, Refused) and outcome.cause is not None
        if is_unknown or isinstance(outcome, Unknown) or self._refusals >= MAX_REFUSALS:
            self._stopped = True
        return outcome

    def _settle(self, batch: Batch, outcome: SendOutcome) -> None:
        state, note, cause = BatchState.PLANNED, None, None
        match outcome:
            case _ if not batch.recipients:
                state = BatchState.ACCEPTED
            case Accepted(message_id):
                state, note = BatchState.ACCEPTED, message_id or None
            case Unknown(reason):
                state, note = BatchState.UNKNOWN, reason
            case Later(reason) | Refused(reason):
                note, cause = reason, outcome.cause
            case BadAddresses():
                note = "too many bad addresses"
        batch = self.claim.settle(batch, state, note)
        if cause:
            self._causes.add(cause)
        batch.log(self.claim.key, None if state is BatchState.ACCEPTED else note, cause)
