"""Who may do what, and where: the whole data model (design 4) as one table."""

import uuid
from collections.abc import Iterator
from typing import Final

import pytest
from google.cloud.firestore import SERVER_TIMESTAMP

from ops import merging
from tests.suite.rules.cast import Cast, Who
from tests.suite.rules.client import ADMINISTRATOR, Client, Fields, load_rules
from tests.suite.rules.samples import approval, draft, event, photo, settings, upload
from tools.paths import ROOT

APP_RULES: Final = (ROOT / "tests/rehearsal/app.rules").read_text()
NONE: Final[frozenset[Who]] = frozenset()
GUESTS: Final = frozenset(Who) - {Who.SIGNED_OUT}
SELF: Final = frozenset({Who.UPLOADER})  # whose record or photo it is
SUPERS: Final = frozenset({Who.SUPERADMIN, Who.SUPERADMIN_OF_NONE})
ADMIN: Final = SUPERS | {Who.ADMIN, Who.UNVERIFIED}
STAFF: Final = ADMIN | {Who.MODERATOR}
READS: Final = STAFF | SELF
LISTS: Final = frozenset({Who.SUPERADMIN_OF_NONE})  # others name their tenant: test_events.py

METHODS: Final = ("get", "list", "create", "update", "delete")

# fmt: off
MATRIX: Final = {
    # path                                                 get     list    create  update  delete
    # Of an event that is published, and deleted with its tombstone.
    "events/{eventId}":                                   (GUESTS, LISTS,  ADMIN,  ADMIN,  ADMIN),
    "events/{eventId}/photos/{photoId}":                  (READS,  STAFF,  GUESTS, STAFF,  READS),
    "events/{eventId}/wall/{photoId}":                    (GUESTS, GUESTS, NONE,   NONE,   NONE),
    "events/{eventId}/settings/webhooks":                 (ADMIN,  NONE,   ADMIN,  ADMIN,  ADMIN),
    "events/{eventId}/secrets/webhooks":                  (SUPERS, NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/deliveries/{deliveryId}":           (ADMIN,  ADMIN,  NONE,   NONE,   NONE),
    "events/{eventId}/endpoints/{endpointId}":            (ADMIN,  ADMIN,  NONE,   NONE,   NONE),
    "events/{eventId}/shares/{shareId}":                  (ADMIN,  ADMIN,  NONE,   NONE,   NONE),
    "events/{eventId}/milestones/{number}":               (STAFF,  STAFF,  NONE,   NONE,   NONE),
    "events/{eventId}/recaps/{recapId}":                  (STAFF,  STAFF,  NONE,   NONE,   NONE),
    "events/{eventId}/recaps/{recapId}/batches/{number}": (STAFF,  STAFF,  NONE,   NONE,   NONE),
    "events/{eventId}/recaps/{recapId}/outcomes/mails":   (NONE,   NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/guestData/timer":                   (STAFF,  NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/schedules/recap":                    (STAFF,  NONE,   NONE,   NONE,   NONE),
    "events/{eventId}/locks/recap":                       (STAFF,  NONE,   NONE,   NONE,   NONE),
    "deletedEvents/{eventId}":                            (NONE,   NONE,   NONE,   NONE,   NONE),
    "users/{uid}":                                        (SELF,   NONE,   NONE,   SELF,   NONE),
    "rateLimits/{key}":                                   (NONE,   NONE,   NONE,   NONE,   NONE),
    "recapMails/{tenant}":                                (NONE,   NONE,   NONE,   NONE,   NONE),
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


@pytest.fixture(scope="module")
def in_an_app(rules: str) -> Iterator[None]:
    """Our rules in the file of an app, whose own rules are for other paths."""
    load_rules(merging.merged(APP_RULES, rules))
    yield
    load_rules(rules)


@pytest.mark.usefixtures("in_an_app")
def test_the_rules_of_an_app_still_apply(cast: Cast) -> None:
    """An app's rules count beside ours, with functions of the same names."""
    assert cast[Who.GUEST].get("orders/o")
    assert not cast[Who.GUEST].create("orders/o", {})


def test_the_table_has_a_row_for_each_path_of_the_rules_and_no_other(rules: str) -> None:
    """Design 4: no path without a rule, no rule without a path."""
    assert sorted(MATRIX) == sorted(merging.paths_of(rules))


@pytest.mark.parametrize("path", [*MATRIX, *UNNAMED])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("in_an_app")
def test_a_path_is_open_only_to_the_roles_of_its_row(path: str, method: str, cast: Cast) -> None:
    """Design 4: every role is tried on every path."""
    expected = MATRIX[path][METHODS.index(method)] if path in MATRIX else NONE

    assert expected == {who for who in Who if is_allowed(path, method, cast, cast[who])}


def is_allowed(path: str, method: str, cast: Cast, client: Client) -> bool:
    """Return whether `client` may access documents that were created for this check only."""
    event_id = f"event-{uuid.uuid4().hex[:12]}"
    document = path.replace("{eventId}", event_id).replace("{uid}", cast[Who.UPLOADER].uid)
    document = document.replace("{", "").replace("}", "")
    if path.startswith("events/"):
        ADMINISTRATOR.replace(f"events/{event_id}", event())
    if (path, method) == ("events/{eventId}", "delete"):
        tombstone = {"deletedAt": SERVER_TIMESTAMP}
        return client.replace_and_delete(f"deletedEvents/{event_id}", tombstone, document)
    before, created, changed = samples(path, cast, client)
    return client.ask(method, document, before, created if method == "create" else changed)


def samples(path: str, cast: Cast, client: Client) -> tuple[Fields, Fields, Fields]:
    """Return a recorded document, and what `client` creates and changes at the template `path`."""
    match path.split("/")[-2]:
        case "events":
            return event(), draft(), {"name": "Garden party, moved inside"}
        case "photos":
            return photo(cast[Who.UPLOADER]), upload(client), approval(client)
        case "settings":
            return settings(), settings(), settings() | {"urls": []}
        case "users":
            off: Fields = {"emailPreferences": {"recap": False}}
            return {"email": "guest@example.com"}, off, off
        case _:
            return {"any": "thing"}, {"any": "thing"}, {"any": "other thing"}


PAGES: Final = {
    # the paths that a role may list, with the largest page
    **{
        (path, Who.SUPERADMIN_OF_NONE): 500
        for path, row in MATRIX.items()
        if row[METHODS.index("list")] not in (NONE, GUESTS)
    },
    ("events/{eventId}/photos/{photoId}", Who.UPLOADER): 100,
    ("events/{eventId}/wall/{photoId}", Who.UPLOADER): 100,
}


@pytest.mark.parametrize(("path", "who"), PAGES)
def test_documents_are_listed_and_counted_by_pages(
    path: str, who: Who, cast: Cast, wall: str
) -> None:
    """Each read is billed, and documents that an offset skips are billed like read ones."""
    most, client = PAGES[path, who], cast[who]
    collection = path.rpartition("/")[0].replace("events/{eventId}", wall)
    collection = collection.replace("{recapId}", "recap")
    own = {"uploaderUid": client.uid} if "photos" in path and who is Who.UPLOADER else {}
    pages = [(most, None), (most, 0), (most + 1, None), (None, None), (1, 1), (1, 50_000)]
    for limit, offset in pages:
        for counted in (False, True):
            allowed = client.list(collection, limit=limit, offset=offset, counted=counted, **own)
            assert allowed is (limit == most), (limit, offset, counted)


@pytest.mark.parametrize("path", [path for path in MATRIX if path.startswith("events/{eventId}/")])
def test_queries_over_all_events_are_denied(path: str, cast: Cast) -> None:
    """A collection group query reaches into other tenants."""
    collection = path.split("/")[-2]

    assert [who for who in Who if cast[who].list(f"*/{collection}")] == []
