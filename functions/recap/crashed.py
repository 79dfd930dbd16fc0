"""The sweep over recaps with a crashed call (design 3.40)."""

from contextlib import suppress
from dataclasses import dataclass

from functions import log
from functions.call.errors import CallError
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock, Random, Threads
from functions.recap.ledger.batch import RecapKey
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.recap_arguments import RecapArguments
from functions.recap.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashedRecaps:
    """Settles and reports recaps with a crashed call, as the event's next call would."""

    recaps: RecapStore
    clock: Clock
    random: Random
    threads: Threads

    def sweep(self) -> None:
        """Mark recaps with an expired lease as interrupted. The next sweep retries failures."""
        for key in self.recaps.crashed(self.clock.now()):
            try:
                with suppress(CallError):  # another call continues the recap
                    self._settle(key)
            except Exception as error:  # noqa: BLE001 - settle the other recaps
                event_id, recap_id = key
                log.fault("recaps.not-swept", error, eventId=event_id, recapId=recap_id)

    def _settle(self, key: RecapKey) -> None:
        recap = self.recaps.documents.get(key.path, ["tenantId"])
        if recap is None:
            with suppress(ChangedMeanwhileError):
                self.recaps.release_without_recap(key, self.clock.now())
            return
        claim = Claim.take(
            self.recaps,
            None,
            RecapArguments(event_id=key.event_id, resend_of=key.recap_id),
            recap.fields.get("tenantId", ""),
            clock=self.clock,
            random=self.random,
            mutex=self.threads.mutex(),
        )
        claim.read_ledger()
        state = claim.release(failed=True)
        Report().after(claim.ledger.values()).log(claim.key, state)
