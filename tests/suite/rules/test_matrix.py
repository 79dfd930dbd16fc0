"""Who may do what, and where: the whole data model (design 4) as one table."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from ops import merging
from tests.suite.rules.cast import Cast, Who
from tests.suite.rules.client import Client, load_rules
from tests.suite.rules.samples import change, creation, event, recorded

APP_RULES: Final = (Path(__file__).parents[2] / "rehearsal/app.rules").read_text()
NONE: Final[frozenset[Who]] = frozenset()
GUESTS: Final = frozenset(Who) - {Who.SIGNED_OUT}
SELF: Final = frozenset({Who.UPLOADER})  # whose record or photo it is
ADMIN: Final = frozenset({Who.ADMIN})
MODS: Final = frozenset({Who.ADMIN, Who.MODERATOR})
SUPERS: Final = frozenset({Who.SUPERADMIN, Who.SUPERADMIN_OF_NONE})
STAFF: Final = MODS | SUPERS
OWNERS: Final = ADMIN | SUPERS
READS: Final = STAFF | SELF
DELETE: Final = MODS | SELF
LISTS: Final = frozenset({Who.SUPERADMIN_OF_NONE})  # others name their tenant: test_events.py

OPERATIONS: Final = ("get", "list", "create", "update", "delete")

# fmt: off
MATRIX: Final = {
    # path                                                 get     list    create  update  delete
    # Of an event that is published; a deletion needs a tombstone: see test_deletion.py.
    "events/{eventId}":                                   (GUESTS, LISTS,  ADMIN,  ADMIN,  NONE),
    "events/{eventId}/photos/{photoId}":                  (READS,  STAFF,  GUESTS, MODS,   DELETE),
    "events/{eventId}/wall/{photoId}":                    (GUESTS, GUESTS, NONE,   NONE,   NONE),
    "events/{eventId}/settings/webhooks":                 (OWNERS, NONE,   ADMIN,  ADMIN,  ADMIN),
    "events/{eventId}/secrets/webhooks":                  (SUPERS, NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/deliveries/{deliveryId}":           (OWNERS, OWNERS, NONE,   NONE,   NONE),
    "events/{eventId}/endpoints/{endpointId}":            (OWNERS, OWNERS, NONE,   NONE,   NONE),
    "events/{eventId}/shares/{shareId}":                  (OWNERS, OWNERS, NONE,   NONE,   NONE),
    "events/{eventId}/milestones/{number}":               (STAFF,  STAFF,  NONE,   NONE,   NONE),
    "events/{eventId}/recaps/{recapId}":                  (STAFF,  STAFF,  NONE,   NONE,   NONE),
    "events/{eventId}/recaps/{recapId}/batches/{number}": (STAFF,  STAFF,  NONE,   NONE,   NONE),
    "events/{eventId}/recaps/{recapId}/outcomes/mails":   (NONE,   NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/guestData/timer":                   (STAFF,  NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/locks/recap":                       (STAFF,  NONE,   NONE,   NONE,   NONE),
    "deletedEvents/{eventId}":                            (NONE,   NONE,   NONE,   NONE,   NONE),
    "users/{uid}":                                        (SELF,   NONE,   NONE,   SELF,   NONE),
    "rateLimits/{key}":                                   (NONE,   NONE,   NONE,   NONE,   NONE),
    "recapMails/{tenant}":                                (NONE,   NONE,   NONE,   NONE,   NONE),
    "recapStops/{tenant}":                                (NONE,   NONE,   NONE,   NONE,   NONE),
}
# fmt: on

UNNAMED: Final = (
    "service/brake",
    "unheardOf/{id}",
    "events/{eventId}/unheardOf/{id}",
    "events/{eventId}/secrets/other",
    "events/{eventId}/settings/other",
    "events/{eventId}/locks/other",
    "events/{eventId}/photos/{photoId}/unheardOf/{id}",
)
"""Paths without a rule: closed to everybody."""
CLOSED: Final = (NONE,) * len(OPERATIONS)


@pytest.fixture(scope="module")
def in_an_app(rules: str) -> Iterator[None]:
    """Our rules in the file of an app, whose own rules are for other paths."""
    load_rules(merging.merged(APP_RULES, rules))
    yield
    load_rules(rules)


@pytest.mark.usefixtures("in_an_app")
def test_the_app_goes_on(cast: Cast) -> None:
    """Its own rules count beside ours, with its own functions of the same names."""
    assert cast.client(Who.GUEST).get("orders/o")
    assert not cast.client(Who.GUEST).create("orders/o", {})


def test_the_table_has_a_row_for_every_rule_and_no_other(rules: str) -> None:
    """Design 4: no path without a rule, no rule without a path."""
    assert sorted(MATRIX) == sorted(merging.paths_of(rules))


@pytest.mark.parametrize("path", [*MATRIX, *UNNAMED])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("in_an_app")
def test_a_path_is_open_to_those_in_its_row(
    path: str, operation: str, cast: Cast, administrator: Client
) -> None:
    """Design 4: every role is tried on every path."""
    expected = MATRIX.get(path, CLOSED)[OPERATIONS.index(operation)]

    allowed = {who for who in Who if _is_allowed(path, operation, who, cast, administrator)}

    assert expected == allowed


LISTED: Final = tuple(
    path for path, row in MATRIX.items() if row[OPERATIONS.index("list")] not in (NONE, GUESTS)
)


@pytest.mark.parametrize("path", LISTED)
@pytest.mark.parametrize("read", [Client.list, Client.count])
@pytest.mark.parametrize(
    ("limit", "offset", "allowed"),
    [
        (500, None, True),
        (500, 0, True),
        (501, None, False),
        (None, None, False),
        (1, 1, False),
        (1, 50_000, False),
    ],
)
def test_staff_read_and_count_by_pages_of_five_hundred(
    path: str,
    read: Callable[..., bool],
    limit: int | None,
    offset: int | None,
    allowed: bool,
    cast: Cast,
    wall: str,
) -> None:
    """Documents that an offset skips are billed like those that are read."""
    collection = path.rpartition("/")[0].replace("events/{eventId}", wall)
    collection = collection.replace("{recapId}", "recap")
    staff = cast.client(Who.SUPERADMIN_OF_NONE)

    assert allowed is read(staff, collection, limit=limit, offset=offset)


@pytest.mark.parametrize("who", Who)
@pytest.mark.parametrize(
    "collection",
    [
        "photos",
        "settings",
        "secrets",
        "deliveries",
        "endpoints",
        "shares",
        "recaps",
        "batches",
        "outcomes",
        "locks",
    ],
)
def test_nobody_searches_all_events_at_once(collection: str, who: Who, cast: Cast) -> None:
    """A collection group query reaches into other tenants."""
    assert not cast.client(who).list(f"*/{collection}")


def _is_allowed(path: str, operation: str, who: Who, cast: Cast, administrator: Client) -> bool:
    """Whether `who` is let through to documents that were made for this one question."""
    names = {
        "{eventId}": f"event-{uuid.uuid4().hex[:12]}",
        "{uid}": cast.uid(Who.UPLOADER),
    }
    parts = [names.get(part, part.strip("{}")) for part in path.split("/")]
    document = "/".join(parts)
    if parts[0] == "events":
        administrator.replace("/".join(parts[:2]), event())
    if operation == "create":
        administrator.delete(document)
    else:
        administrator.replace(document, recorded(path, cast))
    client = cast.client(who)
    match operation:
        case "get":
            return client.get(document)
        case "list":
            return client.list("/".join(parts[:-1]))
        case "create":
            return client.create(document, creation(path, cast, who))
        case "update":
            return client.update(document, change(path, cast, who))
        case _:
            return client.delete(document)
