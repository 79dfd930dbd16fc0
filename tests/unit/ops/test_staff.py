"""The report of `ops/staff revoke` on schedules. `tests/suite/wall/test_staff.py` has the rest."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from functions.firestore.model import Put
from ops.cloud import Outside
from ops.staff import LeftBehind
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
OWN: Final = {"by": {"uid": "u1"}, "at": NOW, "state": "scheduled"}


@pytest.mark.parametrize(
    ("schedule", "claims", "is_listed"),
    [
        (OWN, {"role": "admin", "tenantId": "t1"}, True),
        (OWN, {"role": "moderator", "tenantId": "t1"}, True),
        (OWN, {"role": "superadmin"}, True),
        (OWN, {"role": "admin", "tenantId": "t2"}, False),
        (OWN | {"state": "sent"}, {"role": "admin", "tenantId": "t1"}, False),
        (OWN | {"state": "cancelled"}, {"role": "admin", "tenantId": "t1"}, False),
        (OWN | {"by": {"uid": "u2"}}, {"role": "admin", "tenantId": "t1"}, False),
        (OWN | {"by": "u1"}, {"role": "admin", "tenantId": "t1"}, False),
        (OWN | {"at": "soon"}, {"role": "admin", "tenantId": "t1"}, False),
        (None, {"role": "admin", "tenantId": "t1"}, False),
    ],
)
def test_a_schedule_of_a_person_without_a_role_is_listed(
    capsys: pytest.CaptureFixture[str],
    schedule: dict[str, Any] | None,
    claims: dict[str, Any],
    is_listed: bool,
) -> None:
    """The recap will not be sent, so a colleague must know."""
    documents = InMemoryDocuments(Firestore(lambda: NOW))
    documents.commit(Put("events/e1", {"tenantId": "t1"}))
    if schedule:
        documents.commit(Put("events/e1/schedules/recap", schedule))
    LeftBehind(documents, Outside(now=lambda: NOW)).report("u1", "a@example.com", claims, end=False)
    said = capsys.readouterr().out
    assert ("events/e1 scheduled for 2026-05-01T12:00:00.000Z" in said) is is_listed
