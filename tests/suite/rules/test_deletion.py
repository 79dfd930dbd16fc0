"""An admin deletes an event with a tombstone, so that no later event inherits its documents."""

from typing import Final

import pytest
from google.cloud.firestore import SERVER_TIMESTAMP

from tests.suite.rules.cast import OTHER_TENANT, Cast, Who
from tests.suite.rules.client import ADMINISTRATOR, Client, Fields, wrongly_judged
from tests.suite.rules.samples import PAST, draft, event

TOMBSTONE: Final = {"deletedAt": SERVER_TIMESTAMP}


@pytest.fixture
def tombstone(wall: str) -> str:
    """Path of the tombstone of this test's event."""
    return wall.replace("events/", "deletedEvents/")


@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_a_tombstone_says_when_the_event_was_deleted_and_nothing_else(
    status: str, admin: Client, wall: str, tombstone: str
) -> None:
    """An event in any state is deleted. `emptiedAt` would stop the sweep."""
    wrong = [
        {},
        {"deletedAt": PAST},
        {"deletedAt": None},
        TOMBSTONE | {"emptiedAt": SERVER_TIMESTAMP},
        TOMBSTONE | {"tenantId": OTHER_TENANT},
    ]
    ADMINISTRATOR.replace(wall, event(status))

    def is_deleted(fields: Fields) -> bool:
        return admin.replace_and_delete(tombstone, fields, wall)

    assert wrongly_judged(([], wrong), is_deleted) == []
    assert is_deleted(TOMBSTONE)


def test_an_event_is_not_deleted_without_a_tombstone(
    admin: Client, wall: str, tombstone: str
) -> None:
    """A deletion without a tombstone, or with an old one, is refused."""
    assert not admin.delete(wall)
    ADMINISTRATOR.replace(tombstone, {"emptiedAt": PAST})
    assert not admin.delete(wall)


def test_an_event_id_cannot_be_reserved(admin: Client, wall: str, tombstone: str) -> None:
    """A tombstone is written only together with the deletion of its own event."""
    other = f"{wall}-other"
    ADMINISTRATOR.replace(other, event())

    assert not admin.replace(tombstone, TOMBSTONE)
    assert not admin.replace_and_delete(tombstone, TOMBSTONE, other)
    ADMINISTRATOR.delete(wall)
    assert not admin.replace(tombstone, TOMBSTONE)


@pytest.mark.parametrize("who", [Who.ADMIN, Who.OTHER_ADMIN])
def test_an_event_id_is_never_reused(who: Who, cast: Cast, wall: str, tombstone: str) -> None:
    """No tenant creates an event with that ID, and so none gets another tenant's data."""
    new = draft() | ({"tenantId": OTHER_TENANT} if who is Who.OTHER_ADMIN else {})
    assert cast[Who.ADMIN].replace_and_delete(tombstone, TOMBSTONE, wall)

    assert not cast[who].create(wall, new)
    ADMINISTRATOR.replace(tombstone, {"emptiedAt": PAST})
    assert not cast[who].create(wall, new)
    ADMINISTRATOR.delete(tombstone)
    assert cast[who].create(wall, new)
