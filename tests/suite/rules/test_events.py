"""Valid events and valid changes of an event (spec 2.1 and 3.2)."""

import uuid
from typing import Any, Final

import pytest
from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

from tests.suite.rules.cast import OTHER_TENANT, TENANT, Cast, Who
from tests.suite.rules.client import ADMINISTRATOR, Client, Fields, Values, wrongly_judged
from tests.suite.rules.samples import PAST, draft, event, upload

ABSENT: Final = DELETE_FIELD
LONGEST_LOGO: Final = f"https://example.com/{'x' * 1980}"
PUBLISHED: Final = {"status": "published", "publishedAt": SERVER_TIMESTAMP}
ARCHIVED: Final = {"status": "archived", "archivedAt": SERVER_TIMESTAMP}
FIELDS: Final[dict[str, Values]] = {
    # field: accepted, refused values
    "tenantId": ([TENANT], [OTHER_TENANT, None, ABSENT]),
    "name": (["", "n" * 200], ["n" * 201, None, 1, ABSENT]),
    "status": (["draft"], ["published", "archived", "live", None, ABSENT]),
    "template": (["classic", None, ABSENT], ["t" * 201, 1]),
    "autoApprove": ([True, None, ABSENT], ["yes", 1]),
    "language": (["pt-BR", None], ["x" * 40, 1]),
    "replyTo": ([None], ["somebody.else@example.com", 1]),
    "keepGuestDataDays": ([1, 30, 3650, None], [0, 3651, "30"]),
    "galleryUrl": (["https://example.com/gallery", None], ["javascript:alert(1)", 1]),
    "uploadUrl": (["https://example.com/upload", None], ["javascript:alert(1)", 1]),
    "logoUrl": (
        ["https://example.com/logo.png", LONGEST_LOGO, None],
        ["http://example.com/logo.png", f"{LONGEST_LOGO}x", "javascript:alert(1)", "https://", 1],
    ),
    "accentColor": (
        ["#0b1f4d", "#FFD60A", None],
        ["#fff", "red", "#0b1f4d;", "#0b1f4g", "0b1f4d", 1, ["#0b1f4d"]],
    ),
    "publishedAt": ([None], [SERVER_TIMESTAMP, PAST]),
    "archivedAt": ([None], [SERVER_TIMESTAMP, PAST]),
    "unheardOf": ([], [1]),
}


@pytest.mark.parametrize("field", FIELDS)
def test_an_event_has_the_fields_of_the_specification(field: str, admin: Client) -> None:
    """Spec 2.1: a draft is created and changed with fields of the right types and sizes."""

    def creates(value: object) -> bool:
        return admin.create(f"events/event-{uuid.uuid4().hex}", draft() | {field: value})

    def changes(value: object) -> bool:
        path = f"events/event-{uuid.uuid4().hex}"
        ADMINISTRATOR.replace(path, event("draft"))
        return admin.update(path, {field: value})

    assert wrongly_judged(FIELDS[field], creates) == []
    assert wrongly_judged(FIELDS[field], changes) == []


def test_the_reply_address_is_the_writers_verified_address(cast: Cast, wall: str) -> None:
    """Design 3.56: an admin names the own address, if it is verified."""
    for who, allowed in ((Who.ADMIN, True), (Who.UNVERIFIED, False)):
        own = {"replyTo": cast[who].email}
        assert allowed is cast[who].create(f"events/event-{uuid.uuid4().hex}", draft() | own)
        assert allowed is cast[who].update(wall, own)


def test_an_event_and_a_photo_have_ids_that_the_functions_accept(
    admin: Client, guest: Client, wall: str
) -> None:
    """Design 3.5: ids are `^[A-Za-z0-9_-]{1,128}$`, because receivers get them."""
    ids = (["Party_2026-05", "e" * 128], ["e" * 129, "a%20b", "für-Ann", "photo.jpg"])

    def is_created(new_id: str) -> bool:
        ADMINISTRATOR.delete(f"events/{new_id}")
        return admin.create(f"events/{new_id}", draft())

    def is_uploaded(new_id: str) -> bool:
        return guest.create(f"{wall}/photos/{new_id}", upload(guest))

    assert wrongly_judged(ids, is_created) == []
    assert wrongly_judged(ids, is_uploaded) == []


@pytest.mark.parametrize(
    ("status", "fields", "allowed"),
    [
        # None: the event is created
        (None, PUBLISHED, True),
        (None, {"status": "published", "publishedAt": PAST}, False),
        (None, PUBLISHED | {"archivedAt": SERVER_TIMESTAMP}, False),
        (None, ARCHIVED, False),
        ("draft", PUBLISHED, True),
        ("draft", {"status": "published", "publishedAt": PAST}, False),
        ("draft", PUBLISHED | {"archivedAt": SERVER_TIMESTAMP}, False),
        ("draft", ARCHIVED, False),
        ("published", ARCHIVED, True),
        ("published", {"status": "archived"}, False),
        ("published", {"status": "archived", "archivedAt": PAST}, False),
        ("published", ARCHIVED | {"publishedAt": SERVER_TIMESTAMP}, False),
        ("published", ARCHIVED | {"publishedAt": ABSENT}, False),
        ("published", PUBLISHED, False),
        ("published", {"publishedAt": ABSENT}, False),
        ("published", {"archivedAt": SERVER_TIMESTAMP}, False),
        ("published", {"status": "draft"}, False),
        ("published", {"status": "draft", "publishedAt": None}, False),
        ("published", {"status": "cancelled"}, False),
        ("archived", PUBLISHED | {"archivedAt": None}, True),
        ("archived", PUBLISHED | {"archivedAt": ABSENT}, True),
        ("archived", PUBLISHED, False),
        ("archived", {"status": "draft", "publishedAt": None, "archivedAt": None}, False),
        ("unheard of", PUBLISHED, False),
    ],
)
def test_an_event_makes_the_transitions_of_the_specification_and_no_others(
    status: str | None, fields: Fields, allowed: bool, admin: Client, wall: str
) -> None:
    """Spec 3.2: not live to published, published to archived, each at the server's time."""
    if status is None:
        assert allowed is admin.create(f"{wall}-new", draft() | fields)
    else:
        ADMINISTRATOR.replace(wall, event(status))
        assert allowed is admin.update(wall, fields)


@pytest.mark.parametrize(
    ("field", "old"),
    [
        ("galleryUrl", "https://example.com/Gärten"),
        ("replyTo", "somebody.else@example.com"),
        ("logoUrl", "http://example.com/logo.png"),
        ("accentColor", "red"),
        ("seats", 100),  # the complete fields of an event are not known (spec 2.1)
    ],
)
def test_a_value_that_an_admin_may_not_write_does_not_lock_the_event(
    field: str, old: Any, admin: Client, wall: str
) -> None:
    """A value of an older form, of another admin or of another program stays, and is not set."""
    ADMINISTRATOR.replace(wall, event(**{field: old}))
    assert admin.update(wall, {"name": "Another name"})

    ADMINISTRATOR.replace(wall, event())
    assert not admin.update(wall, {field: old})


OWN_STAFF: Final = {
    *(Who.MODERATOR, Who.ADMIN, Who.UNVERIFIED),
    *(Who.SUPERADMIN, Who.SUPERADMIN_OF_NONE),
}
OTHER_STAFF: Final = {
    *(Who.OTHER_MODERATOR, Who.OTHER_ADMIN, Who.OTHER_SUPERADMIN, Who.SUPERADMIN_OF_NONE)
}
SIGNED_IN: Final = set(Who) - {Who.SIGNED_OUT}


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        ("draft", OWN_STAFF),
        ("unheard of", OWN_STAFF),
        ("published", SIGNED_IN),
        ("archived", SIGNED_IN),
        (None, {Who.SUPERADMIN_OF_NONE}),  # to a guest, a missing event looks like a draft
    ],
)
def test_a_published_event_can_be_read_by_its_id(
    status: str | None, allowed: set[Who], cast: Cast, wall: str
) -> None:
    """Design 4: a guest has the ID from the event's page. Only the tenant's staff reads a draft."""
    if status:
        ADMINISTRATOR.replace(wall, event(status))
    else:
        ADMINISTRATOR.delete(wall)

    assert allowed == {who for who in Who if cast[who].get(wall)}


@pytest.mark.parametrize(("tenant", "allowed"), [(TENANT, OWN_STAFF), (OTHER_TENANT, OTHER_STAFF)])
def test_staff_list_the_events_of_their_own_tenant(
    tenant: str, allowed: set[Who], cast: Cast
) -> None:
    """Design 4: other people list no event, published or not."""
    assert allowed == {who for who in Who if cast[who].list("events", tenantId=tenant)}
    assert not cast[Who.GUEST].list("events", status="published")
