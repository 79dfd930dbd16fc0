"""What a photo may look like, and what may become of it (spec 2.2 and 3.1)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

from emulator.people import sign_in
from tests.suite.rules.cast import OTHER_TENANT, TENANT, Cast, Who
from tests.suite.rules.client import Client
from tests.suite.rules.samples import PAST, approval, event, photo, rejection, upload

ABSENT = DELETE_FIELD


def without_absent(fields: dict[str, Any]) -> dict[str, Any]:
    """`fields` as they are created, without absent ones."""
    return {name: value for name, value in fields.items() if value is not ABSENT}


@pytest.fixture
def uid(cast: Cast) -> str:
    """The guest's uid."""
    return cast.uid(Who.UPLOADER)


@pytest.fixture
def email(cast: Cast) -> str:
    """The moderator's address."""
    return cast.email(Who.MODERATOR)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"uploaderEmail": ABSENT},
        {"uploaderEmail": None},
        {"uploaderName": ""},
        {"uploaderName": "n" * 200},
        {"uploaderEmail": "e" * 320},
        {"url": "https://example.com/" + "p" * 2028},
        {"url": "http://127.0.0.1:9199/photo"},
        {"url": "https://example.com:8443/o/wall%2Fp1.jpg?alt=media&token=a-b#@1200w"},
        {"url": "https://[2001:db8::1]/photo.jpg"},
        {"url": "HTTPS://EXAMPLE.COM"},
        {"thumbUrl": "https://example.com/thumb.jpg"},
        {"thumbUrl": None},
        {"featured": False},
        {
            "approvedAt": None,
            "approvedBy": None,
            "rejectedAt": None,
            "rejectedBy": None,
            "reason": None,
        },
    ],
)
def test_a_guest_uploads_a_photo(
    fields: dict[str, Any], guest: Client, wall: str, uid: str
) -> None:
    """Spec 2.2: a photo has its fields, and some may be left out."""
    assert guest.create(f"{wall}/photos/p", without_absent(upload(uid) | fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "approved"},
        {"status": "approved", "approvedAt": SERVER_TIMESTAMP},
        {"status": "rejected"},
        {"status": "rejected", "rejectedAt": SERVER_TIMESTAMP},
        {"status": "Pending"},
        {"status": None},
        {"status": ABSENT},
        {"url": ABSENT},
        {"url": ""},
        {"url": 1},
        {"url": "https://"},
        {"url": "javascript:alert(1)//https://example.com"},
        {"url": "javascript:alert(1)\nhttps://example.com"},
        {"url": "https://example.com/" + "p" * 2029},
        {"url": "https://bank.example@evil.example/photo.jpg"},
        {"url": "https://user:password@example.com/photo.jpg"},
        {"url": "https://example.com\\@evil.example/photo.jpg"},
        {"url": "https://example.com /photo.jpg"},
        {"url": "https://example.com/photo.jpg\u2028Call us"},
        {"url": "https://example.com/photo.jpg\u0085Call us"},
        {"url": "https://example.com/\u202egpj.exe"},
        {"url": "https://example.com/photo\x7f.jpg"},
        {"url": "https://example.com/fête.jpg"},
        {"url": "https://fête.example/photo.jpg"},
        {"url": "ftp://example.com/photo.jpg"},
        {"url": "https:///photo.jpg"},
        {"thumbUrl": "data:image/png;base64,AAAA"},
        {"thumbUrl": "https://bank.example@evil.example/photo.jpg"},
        {"thumbUrl": "https://example.com/photo.jpg\u2028Call us"},
        {"thumbUrl": 1},
        {"featured": True},
        {"featured": "no"},
        {"uploaderName": ABSENT},
        {"uploaderName": None},
        {"uploaderName": ["Guest"]},
        {"uploaderName": "n" * 201},
        {"uploaderEmail": 1},
        {"uploaderEmail": {"address": "guest@example.com"}},
        {"uploaderEmail": "e" * 321},
        {"uploaderUid": ABSENT},
        {"uploaderUid": None},
        {"uploaderUid": "somebody-else"},
        {"createdAt": ABSENT},
        {"createdAt": None},
        {"createdAt": PAST},
        {"createdAt": "2026-05-01T18:30:00.000Z"},
        {"approvedAt": SERVER_TIMESTAMP},
        {"approvedBy": "moderator@example.com"},
        {"rejectedAt": SERVER_TIMESTAMP},
        {"rejectedBy": "moderator@example.com"},
        {"reason": "none"},
        {"tenantId": "tenant-a"},
        {"unheardOf": 1},
    ],
)
def test_an_upload_that_is_not_as_specified_is_refused(
    fields: dict[str, Any], guest: Client, wall: str, uid: str
) -> None:
    """Spec 2.2: wrong types, sizes, times, uids and further fields are refused."""
    assert not guest.create(f"{wall}/photos/p", without_absent(upload(uid) | fields))


@pytest.mark.parametrize(
    ("auto_approve", "fields", "allowed"),
    [
        (False, {"status": "pending"}, True),
        (False, {"status": "approved", "approvedAt": SERVER_TIMESTAMP}, False),
        (None, {"status": "pending"}, True),
        (None, {"status": "approved", "approvedAt": SERVER_TIMESTAMP}, False),
        ("true", {"status": "approved", "approvedAt": SERVER_TIMESTAMP}, False),
        (True, {"status": "approved", "approvedAt": SERVER_TIMESTAMP}, True),
        (True, {"status": "approved", "approvedAt": SERVER_TIMESTAMP, "approvedBy": None}, True),
        (True, {"status": "approved", "approvedAt": SERVER_TIMESTAMP, "approvedBy": "me"}, False),
        (True, {"status": "approved", "approvedAt": PAST}, False),
        (True, {"status": "approved"}, False),
        (True, {"status": "pending"}, False),
        (True, {"status": "rejected", "rejectedAt": SERVER_TIMESTAMP}, False),
    ],
)
def test_the_event_decides_whether_an_upload_is_approved(
    auto_approve: object,
    fields: dict[str, Any],
    allowed: bool,
    guest: Client,
    administrator: Client,
    wall: str,
    uid: str,
) -> None:
    """Spec 3.1: an upload is pending under moderation, and approved under auto-approve."""
    administrator.replace(wall, event(autoApprove=auto_approve))

    assert allowed is guest.create(f"{wall}/photos/p", upload(uid) | fields)


@pytest.mark.parametrize("status", ["draft", "archived", "unheard of", None])
def test_only_a_published_event_takes_uploads(
    status: Any, guest: Client, administrator: Client, wall: str, uid: str
) -> None:
    """Spec 3.2: published accepts uploads, archived takes no more."""
    administrator.replace(wall, event(status))

    assert not guest.create(f"{wall}/photos/p", upload(uid))


def test_an_event_that_does_not_exist_takes_no_uploads(guest: Client, uid: str) -> None:
    """Spec 3.2: an upload to a missing event is refused."""
    assert not guest.create("events/none/photos/p", upload(uid))


@pytest.mark.parametrize(
    ("photo_id", "allowed"),
    [
        ("IMG_2026-05", True),
        ("p" * 128, True),
        ("p" * 129, False),
        ("a%20b", False),
        ("für-Ann", False),
        ("photo.jpg", False),
    ],
)
def test_a_photo_id_is_of_the_form_of_an_event_id(
    photo_id: str, allowed: bool, guest: Client, wall: str, uid: str
) -> None:
    """Design 3.5: a photo's id has the form of an event's, because receivers get it."""
    assert allowed is guest.create(f"{wall}/photos/{photo_id}", upload(uid))


def test_a_photo_of_an_older_id_is_moderated(
    moderator: Client, administrator: Client, wall: str, uid: str, email: str
) -> None:
    """Photos with ids of an older form are moderated as well."""
    administrator.replace(f"{wall}/photos/für-Ann", photo(uid))

    assert moderator.update(f"{wall}/photos/für-Ann", approval(email))


def test_a_guest_finds_their_own_photos_and_no_others(
    cast: Cast, administrator: Client, wall: str, uid: str
) -> None:
    """Design 4: the uploader reads their own."""
    administrator.replace(f"{wall}/photos/p", photo(uid))

    assert cast.client(Who.UPLOADER).list(f"{wall}/photos", uploaderUid=uid)
    assert not cast.client(Who.GUEST).list(f"{wall}/photos", uploaderUid=uid)
    assert not cast.client(Who.GUEST).get(f"{wall}/photos/p")
    assert not cast.client(Who.SIGNED_OUT).list(f"{wall}/photos", uploaderUid=uid)


@pytest.mark.parametrize("read", [Client.list, Client.count])
@pytest.mark.parametrize("collection", ["photos", "wall"])
@pytest.mark.parametrize(
    ("limit", "offset", "allowed"),
    [
        (100, None, True),
        (100, 0, True),
        (101, None, False),
        (None, None, False),
        (1, 1, False),
        (1, 50_000, False),
    ],
)
def test_a_guest_reads_and_counts_by_pages_of_a_hundred(
    read: Callable[..., bool],
    collection: str,
    limit: int | None,
    offset: int | None,
    allowed: bool,
    guest: Client,
    wall: str,
    uid: str,
) -> None:
    """Documents that an offset skips are billed like those that are read."""
    own = {"uploaderUid": uid} if collection == "photos" else {}

    assert allowed is read(guest, f"{wall}/{collection}", limit=limit, offset=offset, **own)


@pytest.mark.parametrize("status", ["pending", "approved", "rejected"])
@pytest.mark.parametrize("then", ["pending", "approved", "rejected"])
@pytest.mark.parametrize("who", [Who.UPLOADER, Who.MODERATOR, Who.ADMIN, Who.SUPERADMIN])
def test_a_photo_makes_the_transitions_of_the_specification_and_no_others(
    status: str, then: str, who: Who, cast: Cast, administrator: Client, wall: str, uid: str
) -> None:
    """Spec 3.1: a moderator approves unapproved photos and rejects unrejected ones."""
    administrator.replace(f"{wall}/photos/p", photo(uid, status))
    email = cast.email(who)
    writes = {
        "pending": {"status": "pending"},
        "approved": approval(email),
        "rejected": rejection(email),
    }
    named = status != then != "pending" and who in (Who.MODERATOR, Who.ADMIN)

    assert named is cast.client(who).update(f"{wall}/photos/p", writes[then])


@pytest.mark.parametrize("status", ["pending", "approved", "rejected"])
@pytest.mark.parametrize("of_event", ["draft", "published", "archived"])
def test_staff_and_the_uploader_delete_a_photo_whatever_its_state(
    status: str, of_event: str, cast: Cast, administrator: Client, wall: str, uid: str
) -> None:
    """Spec 3.1: photos are deleted also once the event takes no more uploads."""
    administrator.replace(wall, event(of_event))
    for who in (Who.UPLOADER, Who.MODERATOR, Who.ADMIN):
        administrator.replace(f"{wall}/photos/p", photo(uid, status))
        assert cast.client(who).delete(f"{wall}/photos/p")


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_what_was_uploaded_is_moderated_whatever_became_of_the_event(
    status: str, moderator: Client, administrator: Client, wall: str, uid: str, email: str
) -> None:
    """Spec 3.1: moderation has no condition."""
    administrator.replace(wall, event(status))
    administrator.replace(f"{wall}/photos/p", photo(uid))

    assert moderator.update(f"{wall}/photos/p", approval(email))


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "pending"},
        {"status": "Approved"},
        {"approvedAt": PAST},
        {"approvedAt": None},
        {"approvedAt": "now"},
        {"approvedBy": "somebody.else@example.com"},
        {"approvedBy": None},
        {"approvedBy": ""},
        {"rejectedAt": SERVER_TIMESTAMP},
        {"reason": "lovely"},
        {"url": "https://example.com/another.jpg"},
        {"uploaderName": "Another"},
        {"uploaderEmail": "another@example.com"},
        {"uploaderEmail": ABSENT},
        {"uploaderUid": "another"},
        {"createdAt": SERVER_TIMESTAMP},
        {"featured": True},
        {"unheardOf": 1},
    ],
)
def test_an_approval_says_who_and_when_and_changes_nothing_else(
    fields: dict[str, Any],
    moderator: Client,
    administrator: Client,
    wall: str,
    uid: str,
    email: str,
) -> None:
    """Spec 2.2: approvedAt is now, approvedBy the moderator's own address."""
    administrator.replace(f"{wall}/photos/p", photo(uid))

    assert not moderator.update(f"{wall}/photos/p", approval(email) | fields)


@pytest.mark.parametrize("decision", [approval, rejection])
def test_a_decision_with_what_was_seen_holds_for_no_other_photo(
    decision: Callable[[str], dict[str, Any]],
    moderator: Client,
    administrator: Client,
    wall: str,
    uid: str,
    email: str,
) -> None:
    """docs/data-model.md: a guest may upload another photo under the id of a deleted one."""
    seen = photo(uid)
    shown = {"url": seen["url"], "createdAt": seen["createdAt"]}
    for swapped in ({"url": "https://example.com/2.jpg"}, {"createdAt": PAST + timedelta(1)}):
        administrator.replace(f"{wall}/photos/p", seen | swapped)
        assert not moderator.update(f"{wall}/photos/p", decision(email) | shown)
    administrator.replace(f"{wall}/photos/p", seen)
    assert moderator.update(f"{wall}/photos/p", decision(email) | shown)


def test_nobody_approves_or_rejects_in_the_name_of_an_address_that_is_not_verified(
    administrator: Client, wall: str, uid: str
) -> None:
    """`email_verified`: a new account may claim any address, a colleague's too."""
    claimed = sign_in("moderator", TENANT, verified=False)
    moderator = Client(claimed.id_token)
    administrator.replace(f"{wall}/photos/p", photo(uid))

    assert moderator.get(f"{wall}/photos/p")
    assert not moderator.update(f"{wall}/photos/p", approval(claimed.email))
    assert not moderator.update(f"{wall}/photos/p", rejection(claimed.email))


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({}, True),
        ({"reason": None}, True),
        ({"reason": ""}, True),
        ({"reason": "r" * 1000}, True),
        ({"reason": "r" * 1001}, False),
        ({"reason": 1}, False),
        ({"status": "approved"}, False),
        ({"status": "Rejected"}, False),
        ({"rejectedAt": PAST}, False),
        ({"rejectedAt": None}, False),
        ({"rejectedBy": "somebody.else@example.com"}, False),
        ({"rejectedBy": None}, False),
        ({"approvedAt": SERVER_TIMESTAMP}, False),
        ({"approvedBy": "somebody.else@example.com"}, False),
        ({"url": "https://example.com/another.jpg"}, False),
        ({"unheardOf": 1}, False),
    ],
)
def test_a_rejection_says_who_when_and_why_and_changes_nothing_else(
    fields: dict[str, Any],
    allowed: bool,
    moderator: Client,
    administrator: Client,
    wall: str,
    uid: str,
    email: str,
) -> None:
    """Spec 2.2: rejectedAt is now, rejectedBy the moderator's own address, reason free text."""
    administrator.replace(f"{wall}/photos/p", photo(uid))

    assert allowed is moderator.update(f"{wall}/photos/p", rejection(email) | fields)


@pytest.mark.parametrize(
    ("who", "status", "fields", "allowed"),
    [
        (Who.MODERATOR, "approved", {"featured": True}, True),
        (Who.ADMIN, "approved", {"featured": False}, True),
        (Who.MODERATOR, "approved", {"featured": "yes"}, False),
        (Who.MODERATOR, "approved", {"featured": True, "url": "https://example.com/b"}, False),
        (Who.MODERATOR, "approved", {"featured": True, "approvedAt": SERVER_TIMESTAMP}, False),
        (Who.MODERATOR, "pending", {"featured": True}, False),
        (Who.MODERATOR, "rejected", {"featured": True}, False),
        (Who.UPLOADER, "approved", {"featured": True}, False),
        (Who.OTHER_MODERATOR, "approved", {"featured": True}, False),
    ],
)
def test_staff_choose_the_photos_that_the_highlight_reel_begins_with(
    who: Who,
    status: str,
    fields: dict[str, Any],
    allowed: bool,
    cast: Cast,
    administrator: Client,
    wall: str,
    uid: str,
) -> None:
    """Design 3.50: staff feature approved photos only."""
    administrator.replace(f"{wall}/photos/p", photo(uid, status))

    assert allowed is cast.client(who).update(f"{wall}/photos/p", fields)


def test_two_nulls_are_not_one_tenant(
    cast: Cast, administrator: Client, wall: str, uid: str
) -> None:
    """An event without a tenant is no business of an admin without one."""
    administrator.replace(wall, event(tenantId=None))
    administrator.replace(f"{wall}/photos/p", photo(uid))

    assert not cast.client(Who.ADMIN_OF_NONE).get(f"{wall}/photos/p")
    assert not cast.client(Who.MODERATOR_OF_NONE).get(f"{wall}/photos/p")


def test_the_event_decides_the_tenant_not_the_photo(
    cast: Cast, administrator: Client, wall: str, uid: str
) -> None:
    """A photo that names a tenant is still the event's."""
    administrator.replace(f"{wall}/photos/p", photo(uid) | {"tenantId": OTHER_TENANT})

    assert not cast.client(Who.OTHER_MODERATOR).get(f"{wall}/photos/p")
