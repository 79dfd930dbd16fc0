"""What became of mails, in Firestore: `recaps/{recapId}/outcomes/mails` beside the ledger."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Final

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.documents import Documents
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.mail.fate import Fate, Tally
from functions.recap.mail_events import entries
from functions.recap.mail_events.ports import StoredOutcomes
from functions.recap.ports import RecapKey, TakenElsewhereError, Version

_CHANGED: Final = (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound)


class OutcomeStore:
    """See `ports.Outcomes`; every method is one round trip."""

    def __init__(self, client: firestore.Client, documents: Documents) -> None:
        """`documents` reads, `client` writes: only it can add to a number."""
        self._client = client
        self._documents = documents

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredOutcomes:
        """See `ports.Outcomes`."""
        numbers = sorted(batches)
        paths = [f"{_recap(key)}/batches/{one}" for one in numbers]
        found, *ledger = self._documents.get_all([_outcomes(key), *paths])
        return StoredOutcomes(
            {
                number: frozenset(one.fields["recipients"])
                for number, one in zip(numbers, ledger, strict=True)
                if one
            },
            entries.read(found.fields["entries"]) if found else {},
            found.version if found else None,
        )

    def save(
        self, key: RecapKey, fates: Mapping[str, Fate], change: Tally, version: Version | None
    ) -> None:
        """See `ports.Outcomes`."""
        commit = self._client.batch()
        reference = self._client.document(_outcomes(key))
        fields = {"entries": entries.written(fates)}
        if version is None:
            commit.create(reference, fields)
        else:
            option = self._client.write_option(last_update_time=version)
            commit.update(reference, fields, option=option)
        # An update, which fails where the recap is gone: nothing is written under a deleted event.
        commit.update(
            self._client.document(_recap(key)),
            {name: firestore.Increment(count) for name, count in asdict(change).items()},
        )
        try:
            commit.commit(retry=RETRY, timeout=CALL_SECONDS)
        except _CHANGED as changed:
            raise TakenElsewhereError from changed


def _recap(key: RecapKey) -> str:
    return f"events/{key.event_id}/recaps/{key.recap_id}"


def _outcomes(key: RecapKey) -> str:
    return f"{_recap(key)}/outcomes/mails"
