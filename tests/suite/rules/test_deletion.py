"""How an admin deletes an event: with a tombstone, so that nobody inherits what was under it."""

import pytest
from google.cloud.firestore import SERVER_TIMESTAMP

from tests.suite.rules.cast import OTHER_TENANT, Cast, Who
from tests.suite.rules.client import Client
from tests.suite.rules.samples import PAST, draft, event

TOMBSTONE = {"deletedAt": SERVER_TIMESTAMP}


@pytest.fixture
def tombstone(wall: str) -> str:
    """Path of the tombstone of this test's event."""
    return wall.replace("events/", "deletedEvents/")


@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_an_admin_of_the_tenant_deletes_an_event_and_nobody_else_does(
    status: str, cast: Cast, administrator: Client, wall: str, tombstone: str
) -> None:
    """An admin deletes an event in any state."""
    allowed = set()
    for who in Who:
        administrator.replace(wall, event(status))
        administrator.delete(tombstone)
        if cast.client(who).replace_and_delete(tombstone, TOMBSTONE, wall):
            allowed.add(who)

    assert allowed == {Who.ADMIN}


def test_an_event_is_not_deleted_without_a_tombstone(
    admin: Client, administrator: Client, wall: str, tombstone: str
) -> None:
    """A deletion without a tombstone, or with an old one, is refused."""
    assert not admin.delete(wall)
    administrator.replace(tombstone, {"emptiedAt": PAST})
    assert not admin.delete(wall)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"deletedAt": PAST},
        {"deletedAt": None},
        TOMBSTONE | {"emptiedAt": SERVER_TIMESTAMP},
        TOMBSTONE | {"tenantId": OTHER_TENANT},
    ],
)
def test_a_tombstone_says_when_and_nothing_else(
    fields: dict[str, object], admin: Client, wall: str, tombstone: str
) -> None:
    """`emptiedAt` would keep the sweep away: only the service writes it."""
    assert not admin.replace_and_delete(tombstone, fields, wall)


def test_nobody_reserves_an_id(
    admin: Client, administrator: Client, wall: str, tombstone: str
) -> None:
    """A tombstone comes with a deletion, and with that of its own event."""
    other = f"{wall}-other"
    administrator.replace(other, event())

    assert not admin.replace(tombstone, TOMBSTONE)
    assert not admin.replace_and_delete(tombstone, TOMBSTONE, other)
    administrator.delete(wall)
    assert not admin.replace(tombstone, TOMBSTONE)


@pytest.mark.parametrize("fields", [{"deletedAt": PAST}, {"emptiedAt": PAST}])
@pytest.mark.parametrize("who", [Who.ADMIN, Who.OTHER_ADMIN])
def test_an_id_is_never_given_out_again(
    who: Who,
    fields: dict[str, object],
    cast: Cast,
    administrator: Client,
    wall: str,
    tombstone: str,
) -> None:
    """No tenant makes an event of that id, and so none reads another's, or gets its messages."""
    tenants = {Who.OTHER_ADMIN: OTHER_TENANT}
    new = draft() | ({"tenantId": tenants[who]} if who in tenants else {})
    assert cast.client(Who.ADMIN).replace_and_delete(tombstone, TOMBSTONE, wall)

    assert not cast.client(who).create(wall, new)
    administrator.replace(tombstone, fields)
    assert not cast.client(who).create(wall, new)
    administrator.delete(tombstone)
    assert cast.client(who).create(wall, new)
