"""What an event may look like, and what may become of it (spec 2.1 and 3.2)."""

import uuid
from typing import Any

import pytest
from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

from tests.suite.rules.cast import OTHER_TENANT, TENANT, Cast, Who
from tests.suite.rules.client import Client
from tests.suite.rules.samples import PAST, draft, event

PUBLISHED = {"status": "published", "publishedAt": SERVER_TIMESTAMP}
ARCHIVED = {"status": "archived", "archivedAt": SERVER_TIMESTAMP}


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({}, True),
        (PUBLISHED, True),
        ({"publishedAt": None, "archivedAt": None, "galleryUrl": None, "template": None}, True),
        ({"template": "classic", "galleryUrl": "https://example.com/gallery"}, True),
        ({"autoApprove": True}, True),
        ({"autoApprove": DELETE_FIELD}, True),
        ({"language": "pt-BR"}, True),
        ({"language": "x" * 40}, False),
        ({"language": 1}, False),
        ({"replyTo": "somebody.else@example.com"}, False),
        ({"replyTo": None}, True),
        ({"keepGuestDataDays": 30}, True),
        ({"keepGuestDataDays": None}, True),
        ({"keepGuestDataDays": 0}, False),
        ({"keepGuestDataDays": 3651}, False),
        ({"keepGuestDataDays": "30"}, False),
        ({"name": "n" * 200}, True),
        ({"name": "n" * 201}, False),
        ({"name": DELETE_FIELD}, False),
        ({"name": 1}, False),
        ({"template": "t" * 201}, False),
        ({"template": 1}, False),
        ({"autoApprove": "yes"}, False),
        ({"galleryUrl": "javascript:alert(1)"}, False),
        ({"galleryUrl": "https://bank.example@evil.example/"}, False),
        ({"galleryUrl": "https://example.com/" + "g" * 2029}, False),
        ({"tenantId": OTHER_TENANT}, False),
        ({"tenantId": None}, False),
        ({"tenantId": DELETE_FIELD}, False),
        ({"status": DELETE_FIELD}, False),
        ({"status": "live"}, False),
        ({"status": "published"}, False),
        ({"status": "published", "publishedAt": PAST}, False),
        ({"status": "published", "publishedAt": None}, False),
        (PUBLISHED | {"archivedAt": SERVER_TIMESTAMP}, False),
        (ARCHIVED, False),
        ({"publishedAt": SERVER_TIMESTAMP}, False),
        ({"archivedAt": SERVER_TIMESTAMP}, False),
        ({"unheardOf": 1}, False),
    ],
)
def test_an_admin_creates_an_event(
    fields: dict[str, Any],
    allowed: bool,
    admin: Client,
) -> None:
    """Spec 3.2: an event is created as a draft or published at once; never archived."""
    whole = {n: value for n, value in (draft() | fields).items() if value is not DELETE_FIELD}

    assert allowed is admin.create(f"events/event-{uuid.uuid4().hex}", whole)


def test_answers_go_to_a_verified_address_of_the_writer(admin: Client, cast: Cast) -> None:
    """Design 3.56; another admin leaves the address as it is."""
    own = draft() | {"replyTo": cast.email(Who.ADMIN)}

    assert admin.create(f"events/event-{uuid.uuid4().hex}", own)


@pytest.mark.parametrize(
    ("event_id", "allowed"),
    [("Party_2026-05", True), ("e" * 128, True), ("e" * 129, False), ("a%20b", False)],
)
def test_an_event_id_is_one_that_the_functions_take(
    event_id: str,
    allowed: bool,
    admin: Client,
    administrator: Client,
) -> None:
    """Design 3.5: `^[A-Za-z0-9_-]{1,128}$`."""
    administrator.delete(f"events/{event_id}")

    assert allowed is admin.create(f"events/{event_id}", draft())


@pytest.mark.parametrize(
    ("status", "fields", "allowed"),
    [
        ("draft", PUBLISHED, True),
        ("published", ARCHIVED, True),
        ("archived", PUBLISHED | {"archivedAt": None}, True),
        ("archived", PUBLISHED | {"archivedAt": DELETE_FIELD}, True),
        ("archived", PUBLISHED, False),
        ("draft", ARCHIVED, False),
        ("published", {"status": "draft"}, False),
        ("published", {"status": "draft", "publishedAt": None}, False),
        ("archived", {"status": "draft", "publishedAt": None, "archivedAt": None}, False),
        ("draft", {"status": "published"}, False),
        ("draft", {"status": "published", "publishedAt": PAST}, False),
        ("draft", PUBLISHED | {"archivedAt": SERVER_TIMESTAMP}, False),
        ("published", {"status": "archived"}, False),
        ("published", {"status": "archived", "archivedAt": PAST}, False),
        ("published", ARCHIVED | {"publishedAt": SERVER_TIMESTAMP}, False),
        ("published", ARCHIVED | {"publishedAt": DELETE_FIELD}, False),
        ("published", {"status": "cancelled"}, False),
        ("published", {"status": DELETE_FIELD}, False),
        ("unheard of", PUBLISHED, False),
    ],
)
def test_an_event_makes_the_transitions_of_the_specification_and_no_others(
    status: str,
    fields: dict[str, Any],
    allowed: bool,
    admin: Client,
    administrator: Client,
    wall: str,
) -> None:
    """Spec 3.2: not live to published, published to archived, each at the server's time."""
    administrator.replace(wall, event(status))

    assert allowed is admin.update(wall, fields)


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"name": "Another name"}, True),
        ({"autoApprove": True}, True),
        ({"template": "modern", "galleryUrl": "https://example.com/g"}, True),
        ({"tenantId": OTHER_TENANT}, False),
        ({"tenantId": DELETE_FIELD}, False),
        ({"publishedAt": SERVER_TIMESTAMP}, False),
        ({"publishedAt": DELETE_FIELD}, False),
        ({"archivedAt": SERVER_TIMESTAMP}, False),
        ({"name": ""}, True),
        ({"name": None}, False),
        ({"autoApprove": 1}, False),
        ({"galleryUrl": 1}, False),
        ({"galleryUrl": "https://example.com/\u202egnp"}, False),
        ({"unheardOf": 1}, False),
    ],
)
def test_an_admin_edits_a_live_event(
    fields: dict[str, Any],
    allowed: bool,
    admin: Client,
    wall: str,
) -> None:
    """Design 4: an admin changes neither the tenant nor the times of an event."""
    assert allowed is admin.update(wall, fields)


def test_a_gallery_that_was_allowed_once_does_not_lock_the_event(
    admin: Client, administrator: Client, wall: str
) -> None:
    """An address of an older form may stay, and may not come back."""
    old = "https://example.com/Gärten"
    administrator.replace(wall, event(galleryUrl=old))

    assert admin.update(wall, {"name": "Another name"})
    assert admin.update(wall, {"galleryUrl": None})
    assert not admin.update(wall, {"galleryUrl": old})


OWN_STAFF = {Who.MODERATOR, Who.ADMIN, Who.SUPERADMIN, Who.SUPERADMIN_OF_NONE}


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        ("draft", OWN_STAFF),
        ("unheard of", OWN_STAFF),
        ("published", set(Who) - {Who.SIGNED_OUT}),
        ("archived", set(Who) - {Who.SIGNED_OUT}),
    ],
)
def test_an_event_is_open_by_its_id_once_it_is_no_draft(
    status: str, allowed: set[Who], cast: Cast, administrator: Client, wall: str
) -> None:
    """Design 4: a guest has the id from the event's page; a draft is its tenant's staff's."""
    administrator.replace(wall, event(status))

    assert allowed == {who for who in Who if cast.client(who).get(wall)}


def test_an_id_without_an_event_tells_a_guest_no_more_than_a_draft_does(
    cast: Cast, administrator: Client, wall: str
) -> None:
    """A missing event and a draft are refused alike."""
    administrator.delete(wall)

    assert not cast.client(Who.GUEST).get(wall)


@pytest.mark.parametrize(
    ("tenant", "allowed"),
    [
        (TENANT, OWN_STAFF),
        (
            OTHER_TENANT,
            {
                Who.OTHER_MODERATOR,
                Who.OTHER_ADMIN,
                Who.OTHER_SUPERADMIN,
                Who.SUPERADMIN_OF_NONE,
            },
        ),
    ],
)
def test_staff_list_the_events_of_their_own_tenant(
    tenant: str, allowed: set[Who], cast: Cast, administrator: Client, wall: str
) -> None:
    """Design 4: nobody else lists any event, published or not."""
    administrator.replace(wall, event(tenantId=tenant))

    assert allowed == {who for who in Who if cast.client(who).list("events", tenantId=tenant)}


def test_a_guest_cannot_list_what_is_published(cast: Cast) -> None:
    """A list of events tells who gives which party."""
    assert not cast.client(Who.GUEST).list("events", status="published")


def test_a_field_that_others_added_does_not_lock_the_event(
    admin: Client, administrator: Client, wall: str
) -> None:
    """Spec 2.1: the complete fields of an event are not known."""
    administrator.replace(wall, event(seats=100))

    assert admin.update(wall, {"name": "Another name"})
    assert not admin.update(wall, {"seats": 1})
