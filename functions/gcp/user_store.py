"""User records in Firestore: `users/{uid}` (DESIGN 4)."""

from collections.abc import Mapping
from typing import Any, Final

from google.cloud import firestore

from functions.gcp.firestore import RETRY
from functions.preferences.preferences import FIELD, Flag

CALL_SECONDS: Final = 10.0
"""How long one call may take with its repetitions: somebody waits for it."""

_RETRY: Final = RETRY.with_timeout(CALL_SECONDS)


class UserStore:
    """Reads and changes e-mail preferences; every method is one round trip."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def find(self, uid: str) -> Mapping[str, Any] | None:
        """Address and preferences of the user; None where there is no record."""
        snapshot = self._record(uid).get(["email", FIELD], retry=_RETRY, timeout=CALL_SECONDS)
        record: Mapping[str, Any] | None = snapshot.to_dict()
        return record

    def choose(self, uid: str, choices: Mapping[Flag, bool]) -> None:
        """Set some flags and leave everything else as it is.

        A guest has no record before; it is made, so that the choice holds.
        """
        self._record(uid).set(
            {FIELD: {flag.value: value for flag, value in choices.items()}},
            merge=True,
            retry=_RETRY,
            timeout=CALL_SECONDS,
        )

    def _record(self, uid: str) -> firestore.DocumentReference:
        return self._client.collection("users").document(uid)
