"""Consents in memory, with the contract of the real adapter."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from functions.consents.consent import Consent, State, StoredConsent


@dataclass
class InMemoryConsents:
    """See `functions.consents.store`."""

    records: dict[str, Consent] = field(default_factory=dict)

    def load(self, ids: Sequence[str]) -> Sequence[StoredConsent | None]:
        """The consents with these ids; the consent itself is its version."""
        found = [self.records.get(one) for one in ids]
        return [StoredConsent(one, one) if one else None for one in found]

    def ask(self, consent_id: str, found: StoredConsent | None, at: datetime) -> bool:
        """Record a question, unless something else was written."""
        if self.records.get(consent_id) != (found.version if found else None):
            return False
        self.write(consent_id, State.ASKED, at)
        return True

    def write(self, consent_id: str, state: State, at: datetime) -> None:
        """Record a state."""
        self.records[consent_id] = Consent(state, at)

    def end_known(self, consent_id: str, at: datetime) -> bool:
        """End what is on record and has not ended."""
        found = self.records.get(consent_id)
        if found is None or found.state is State.ENDED:
            return False
        self.write(consent_id, State.ENDED, at)
        return True
