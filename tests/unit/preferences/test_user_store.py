"""User records: choices, and addresses that accept no mail."""

from datetime import UTC, datetime
from typing import Any

import pytest

from functions.firestore.model import Put
from functions.preferences.preferences import CHOSEN_AT, UNREACHABLE_UNTIL, Flag
from functions.preferences.user_store import UserStore
from functions.wall.address import guest_uid
from tests.in_memory.documents import InMemoryDocuments

NOW = datetime(2026, 5, 1, tzinfo=UTC)
UNTIL = datetime(2027, 5, 1, tzinfo=UTC)
GUEST = guest_uid("0123456789abcdef0123456789abcdef")


@pytest.fixture
def documents() -> InMemoryDocuments:
    """No user is recorded."""
    return InMemoryDocuments()


def fields(documents: InMemoryDocuments, uid: str) -> Any:
    """The record of a user."""
    found = documents.get(f"users/{uid}")
    return found and found.fields


def choose(documents: InMemoryDocuments, uid: str, **choices: bool) -> None:
    """Choose by a link that names the user alone."""
    users = UserStore(documents)
    users.choose(users.find(uid), {Flag(name): on for name, on in choices.items()}, NOW)


def test_a_choice_leaves_all_else(documents: InMemoryDocuments) -> None:
    """A missing record is made; other flags and fields stay."""
    choose(documents, "u1", recap=False)
    assert fields(documents, "u1") == {"emailPreferences": {"recap": False}, CHOSEN_AT: NOW}
    documents.commit(Put("users/u2", {"plan": "pro", "emailPreferences": {"marketing": False}}))
    choose(documents, "u2", recap=True)
    assert fields(documents, "u2") == {
        "plan": "pro",
        "emailPreferences": {"marketing": False, "recap": True},
        CHOSEN_AT: NOW,
    }


def test_the_owner_of_a_mailbox_frees_its_addresses(documents: InMemoryDocuments) -> None:
    """The links in mails lead to the mailbox: turning recaps on there frees `ann+party@…` too."""
    users, other = UserStore(documents), guest_uid("f" * 32)
    users.mark_unreachable(GUEST, UNTIL)
    users.mark_unreachable(other, UNTIL, GUEST)
    for kept in ({"marketing": True}, {"recap": False}):
        choose(documents, GUEST, **kept)
        assert fields(documents, other) == {UNREACHABLE_UNTIL: UNTIL}
        assert fields(documents, GUEST)[UNREACHABLE_UNTIL] == UNTIL
    choose(documents, GUEST, recap=True)
    assert fields(documents, other) == {}
    flags = {"marketing": True, "recap": True}
    assert fields(documents, GUEST) == {"emailPreferences": flags, CHOSEN_AT: NOW}
