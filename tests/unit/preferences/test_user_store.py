"""User records: choices, addresses that accept no mail, accounts of an address."""

from datetime import UTC, datetime

import pytest

from functions.documents.write import Put
from functions.preferences import accounts, reach
from functions.preferences.preferences import Flag
from functions.preferences.store.user_store import UserStore
from functions.wall.address import guest_uid
from tests.in_memory.documents import InMemoryDocuments

UNTIL = datetime(2027, 5, 1, tzinfo=UTC)
GUEST = guest_uid("0123456789abcdef0123456789abcdef")


@pytest.fixture
def documents() -> InMemoryDocuments:
    """No user is recorded."""
    return InMemoryDocuments()


def fields(documents: InMemoryDocuments, uid: str) -> object:
    """The record of a user."""
    found = documents.get(f"users/{uid}")
    return found and found.fields


def test_a_choice_leaves_all_else(documents: InMemoryDocuments) -> None:
    """A missing record is made; other flags and fields stay."""
    users = UserStore(documents)
    users.choose("u1", {Flag.RECAP: False})
    assert fields(documents, "u1") == {"emailPreferences": {"recap": False}}
    documents.commit(Put("users/u2", {"plan": "pro", "emailPreferences": {"marketing": False}}))
    users.choose("u2", {Flag.RECAP: True})
    assert fields(documents, "u2") == {
        "plan": "pro",
        "emailPreferences": {"marketing": False, "recap": True},
    }
    assert users.find("u2") == {"emailPreferences": {"marketing": False, "recap": True}}
    assert users.find("u3") is None


@pytest.mark.parametrize(
    ("uid", "wanted", "is_mailed"),
    [(GUEST, True, True), (GUEST, False, False), ("u1", True, False)],
)
def test_a_guest_who_turns_recaps_on_is_mailed_again(
    documents: InMemoryDocuments, uid: str, *, wanted: bool, is_mailed: bool
) -> None:
    """A guest who turns recaps on is mailed again, even after a hard bounce."""
    users = UserStore(documents)
    users.mark_unreachable(uid, UNTIL)
    assert fields(documents, uid) == {reach.FIELD: UNTIL}
    users.choose(uid, {Flag.RECAP: wanted})
    found = documents.get(f"users/{uid}", [reach.FIELD])
    assert found is not None
    assert (found.fields == {}) == is_mailed


def test_the_owner_of_a_mailbox_frees_its_other_addresses(documents: InMemoryDocuments) -> None:
    """The links in mails lead to the mailbox: turning recaps on there frees `ann+party@…` too."""
    users, other = UserStore(documents), guest_uid("f" * 32)
    users.mark_unreachable(other, UNTIL, GUEST)
    users.choose(GUEST, {Flag.MARKETING: True})
    assert fields(documents, other) == {reach.FIELD: UNTIL}
    users.choose(GUEST, {Flag.RECAP: True})
    assert fields(documents, other) == {}
    assert fields(documents, GUEST) == {"emailPreferences": {"marketing": True, "recap": True}}


def test_an_address_that_accepts_mail_again(documents: InMemoryDocuments) -> None:
    """The mark is deleted; an address without a mark is not written."""
    users = UserStore(documents)
    users.mark_reachable(GUEST)
    assert fields(documents, GUEST) is None
    users.note_account(GUEST, "u1")
    users.mark_unreachable(GUEST, UNTIL)
    users.mark_reachable(GUEST)
    assert fields(documents, GUEST) == {accounts.FIELD: {"u1": True}}
