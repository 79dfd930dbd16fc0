"""Consents in Firestore: `noticeConsents/{id}` (design 4)."""

from collections.abc import Sequence
from datetime import datetime

from functions.consents.consent import Consent, State, StoredConsent
from functions.documents.documents import Documents
from functions.documents.refusals import ChangedMeanwhileError
from functions.documents.write import Put, write_as_read


class ConsentStore:
    """Reads and writes of consents; most methods are one round trip."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def load(self, ids: Sequence[str]) -> Sequence[StoredConsent | None]:
        """The consents with these ids, None in the place of each that is not there."""
        return [
            StoredConsent(Consent(State(found.fields["state"]), found.fields["at"]), found.version)
            if found
            else None
            for found in self._documents.get_all([_path(consent_id) for consent_id in ids])
        ]

    def ask(self, consent_id: str, found: StoredConsent | None, at: datetime) -> bool:
        """Record a question; False where something else was written since `found` was read."""
        version = found.version if found else None
        asked = write_as_read(_path(consent_id), _fields(State.ASKED, at), version)
        try:
            self._documents.commit(asked)
        except ChangedMeanwhileError:
            return False
        return True

    def write(self, consent_id: str, state: State, at: datetime) -> None:
        """Record what the owner has said, over any earlier state."""
        self._documents.commit(Put(_path(consent_id), _fields(state, at)))

    def end_known(self, consent_id: str, at: datetime) -> bool:
        """End the consent if it is on record and has not ended; whether that was so."""
        [found] = self.load([consent_id])
        if found is None or found.consent.state is State.ENDED:
            return False
        self.write(consent_id, State.ENDED, at)
        return True


def _fields(state: State, at: datetime) -> dict[str, object]:
    return {"state": state.value, "at": at}


def _path(consent_id: str) -> str:
    return f"noticeConsents/{consent_id}"
