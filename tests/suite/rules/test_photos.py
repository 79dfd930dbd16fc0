"""Valid photos and valid changes of a photo (spec 2.2 and 3.1)."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Final

import pytest
from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

from emulator.accounts import sign_in
from tests.suite.rules.cast import OTHER_TENANT, Cast, Who
from tests.suite.rules.client import ADMINISTRATOR, Client, Fields, Values, wrongly_judged
from tests.suite.rules.samples import PAST, approval, event, photo, rejection, upload

ABSENT: Final = DELETE_FIELD
OTHER_URL: Final = "https://example.com/another.jpg"
SOMEBODY: Final = "somebody.else@example.com"
UPLOADS: Final[dict[str, Values]] = {
    # field: accepted, refused values
    "status": (["pending"], ["approved", "rejected", "Pending", None, ABSENT]),
    "url": (
        [
            "https://example.com/" + "p" * 2028,
            "http://127.0.0.1:9199/photo",
            "https://example.com:8443/o/wall%2Fp1.jpg?alt=media&token=a-b#@1200w",
            "https://[2001:db8::1]/photo.jpg",
            "HTTPS://EXAMPLE.COM",
        ],
        [
            ABSENT,
            "",
            1,
            "https://",
            "https:///photo.jpg",
            "ftp://example.com/photo.jpg",
            "javascript:alert(1)//https://example.com",
            "javascript:alert(1)\nhttps://example.com",
            "https://example.com/" + "p" * 2029,
            "https://bank.example@evil.example/photo.jpg",
            "https://user:password@example.com/photo.jpg",
            "https://example.com\\@evil.example/photo.jpg",
            "https://example.com /photo.jpg",
            "https://example.com/photo.jpg\u2028Call us",
            "https://example.com/photo.jpg\u0085Call us",
            "https://example.com/\u202egpj.exe",
            "https://example.com/photo\x7f.jpg",
            "https://example.com/fête.jpg",
            "https://fête.example/photo.jpg",
        ],
    ),
    "thumbUrl": (
        [None, ABSENT],
        ["https://example.com/thumb.jpg", "http://a.example", "data:image/png;base64,AAAA", "", 1],
    ),
    "featured": ([False], [True, "no"]),
    "uploaderName": (["", "n" * 200], ["n" * 201, None, ["Guest"], ABSENT]),
    "uploaderEmail": (["e" * 320, None, ABSENT], ["e" * 321, 1, {"address": SOMEBODY}]),
    "uploaderUid": ([], ["somebody-else", None, ABSENT]),
    "createdAt": ([SERVER_TIMESTAMP], [PAST, "2026-05-01T18:30:00.000Z", None, ABSENT]),
    "approvedAt": ([None], [SERVER_TIMESTAMP]),
    "approvedBy": ([None], [SOMEBODY]),
    "rejectedAt": ([None], [SERVER_TIMESTAMP]),
    "rejectedBy": ([None], [SOMEBODY]),
    "reason": ([None], ["none"]),
    "tenantId": ([], ["tenant-a"]),
    "unheardOf": ([], [1]),
}


@pytest.mark.parametrize("field", UPLOADS)
def test_an_upload_has_the_fields_of_the_specification(
    field: str, guest: Client, wall: str
) -> None:
    """Spec 2.2: a guest's photo has fields of the right types, sizes, times and uid."""

    def is_accepted(value: object) -> bool:
        return guest.create(f"{wall}/photos/{uuid.uuid4().hex}", upload(guest) | {field: value})

    assert wrongly_judged(UPLOADS[field], is_accepted) == []


APPROVED: Final = {"status": "approved", "approvedAt": SERVER_TIMESTAMP}


@pytest.mark.parametrize(
    ("of_event", "of_photo", "allowed"),
    [
        ({"autoApprove": None}, {"status": "pending"}, True),
        ({"autoApprove": None}, APPROVED, False),
        ({"autoApprove": False}, APPROVED, False),
        ({"autoApprove": "true"}, APPROVED, False),
        ({"autoApprove": True}, APPROVED, True),
        ({"autoApprove": True}, APPROVED | {"approvedBy": None}, True),
        ({"autoApprove": True}, APPROVED | {"approvedBy": "me"}, False),
        ({"autoApprove": True}, APPROVED | {"approvedAt": PAST}, False),
        ({"autoApprove": True}, {"status": "approved"}, False),
        ({"autoApprove": True}, {"status": "pending"}, False),
        ({"autoApprove": True}, APPROVED | {"status": "pending"}, False),
        ({"autoApprove": True}, {"status": "rejected", "rejectedAt": SERVER_TIMESTAMP}, False),
        ({"status": "draft"}, {}, False),
        ({"status": "archived"}, {}, False),
        ({"status": "unheard of"}, {}, False),
        ({"status": None}, {}, False),
    ],
)
def test_the_event_decides_whether_an_upload_is_accepted_and_approved(
    of_event: Fields, of_photo: Fields, allowed: bool, guest: Client, wall: str
) -> None:
    """Spec 3.1 and 3.2: published events accept uploads, pending unless they are auto-approved."""
    ADMINISTRATOR.replace(wall, event() | of_event)

    assert allowed is guest.create(f"{wall}/photos/p", upload(guest) | of_photo)


def test_an_event_that_does_not_exist_accepts_no_uploads(guest: Client) -> None:
    """Spec 3.2: an upload to a missing event is refused."""
    assert not guest.create("events/none/photos/p", upload(guest))


def test_staff_add_a_small_picture_and_guests_do_not(cast: Cast, guest: Client, wall: str) -> None:
    """docs/data-model.md: moderators approve the picture that receivers show."""
    path = f"{wall}/photos/p"

    def is_accepted(who: Who, change: Fields) -> bool:
        ADMINISTRATOR.replace(path, photo(guest, "pending"))
        return cast[who].update(path, change)

    link = {"thumbUrl": "https://example.com/small.jpg"}
    assert is_accepted(Who.MODERATOR, link)
    assert is_accepted(Who.ADMIN, link)
    assert is_accepted(Who.MODERATOR, {"thumbUrl": None})
    assert not is_accepted(Who.UPLOADER, link)
    assert not is_accepted(Who.MODERATOR, {"thumbUrl": "gs://bucket/small.jpg"})
    assert not is_accepted(Who.MODERATOR, {"thumbUrl": 1})
    assert not is_accepted(Who.MODERATOR, link | {"url": OTHER_URL})


def test_a_guest_finds_their_own_photos_and_no_others(cast: Cast, wall: str) -> None:
    """Design 4: a query names the uid of the guest who asks."""
    uid = cast[Who.UPLOADER].uid

    assert {who for who in Who if cast[who].list(f"{wall}/photos", uploaderUid=uid)} == {
        *(Who.UPLOADER, Who.MODERATOR, Who.ADMIN, Who.UNVERIFIED),
        *(Who.SUPERADMIN, Who.SUPERADMIN_OF_NONE),
    }


@pytest.mark.parametrize("of_event", ["draft", "published", "archived"])
@pytest.mark.parametrize("photo_id", ["p", "für-Ann"])
def test_a_photo_makes_the_transitions_of_the_specification_and_no_others(
    of_event: str, photo_id: str, cast: Cast, guest: Client, moderator: Client, wall: str
) -> None:
    """Spec 3.1: the event's status and the form of the photo's ID do not matter."""
    ADMINISTRATOR.replace(wall, event(of_event))
    path = f"{wall}/photos/{photo_id}"
    writes: dict[str, Fields] = {
        "pending": {"status": "pending"},
        "approved": approval(moderator),
        "rejected": rejection(moderator),
    }
    made = set()
    for status, then in product(writes, writes):
        ADMINISTRATOR.replace(path, photo(guest, status))
        if moderator.update(path, writes[then]):
            made.add((status, then))
        for who in (Who.UPLOADER, Who.MODERATOR, Who.ADMIN):
            ADMINISTRATOR.replace(path, photo(guest, status))
            assert cast[who].delete(path), "in any state of photo and event"

    assert made == {
        ("pending", "approved"),
        ("pending", "rejected"),
        ("approved", "rejected"),
        ("rejected", "approved"),
    }


Decision = Callable[[Client], Fields]
NEITHER: Final[dict[str, Values]] = {
    "url": ([], [OTHER_URL]),
    "uploaderName": ([], ["Another"]),
    "uploaderEmail": ([], [SOMEBODY, ABSENT]),
    "uploaderUid": ([], ["another"]),
    "createdAt": ([], [SERVER_TIMESTAMP]),
    "featured": ([], [True]),
    "decidedByUid": ([ABSENT], ["another"]),
    "unheardOf": ([], [1]),
}
DECISIONS: Final[dict[Decision, dict[str, Values]]] = {
    approval: NEITHER
    | {
        "status": ([], ["pending", "Approved"]),
        "approvedAt": ([SERVER_TIMESTAMP], [PAST, None, "now"]),
        "approvedBy": ([], [SOMEBODY, None, ""]),
        "rejectedAt": ([], [SERVER_TIMESTAMP]),
        "rejectedBy": ([], [SOMEBODY]),
        "reason": ([], ["lovely"]),
    },
    rejection: NEITHER
    | {
        "status": ([], ["approved", "Rejected"]),
        "rejectedAt": ([SERVER_TIMESTAMP], [PAST, None]),
        "rejectedBy": ([], [SOMEBODY, None]),
        "reason": (["", "r" * 1000, None], ["r" * 1001, 1]),
        "approvedAt": ([], [SERVER_TIMESTAMP]),
        "approvedBy": ([], [SOMEBODY]),
    },
}


@pytest.mark.parametrize(
    ("decision", "field"),
    [(decision, field) for decision in DECISIONS for field in DECISIONS[decision]],
)
def test_a_decision_says_who_when_and_why_and_changes_nothing_else(
    decision: Decision, field: str, guest: Client, moderator: Client, wall: str
) -> None:
    """Spec 2.2: the time is the server's, the address the moderator's own, the reason free text."""

    def is_accepted(value: object) -> bool:
        ADMINISTRATOR.replace(f"{wall}/photos/p", photo(guest))
        return moderator.update(f"{wall}/photos/p", decision(moderator) | {field: value})

    assert wrongly_judged(DECISIONS[decision][field], is_accepted) == []


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_names_the_photo_that_was_seen(
    decision: Decision, guest: Client, moderator: Client, wall: str
) -> None:
    """docs/data-model.md: a guest may upload another photo under the id of a deleted one."""
    seen = photo(guest)
    shown = {"url": seen["url"], "createdAt": seen["createdAt"]}

    def is_accepted(swapped: Fields) -> bool:
        ADMINISTRATOR.replace(f"{wall}/photos/p", seen | swapped)
        return moderator.update(f"{wall}/photos/p", decision(moderator) | shown)

    photos: Values = ([{}], [{"url": OTHER_URL}, {"createdAt": PAST + timedelta(1)}])
    assert wrongly_judged(photos, is_accepted) == []


@pytest.mark.parametrize("decision", DECISIONS)
def test_staff_sign_decisions_with_their_own_address(
    decision: Decision, cast: Cast, guest: Client, wall: str
) -> None:
    """Spec 3.1: the address need not be verified. A colleague's address is refused."""

    def is_accepted(given: tuple[Client, Client]) -> bool:
        who, named = given
        ADMINISTRATOR.replace(f"{wall}/photos/p", photo(guest))
        return who.update(f"{wall}/photos/p", decision(named))

    unverified, admin = cast[Who.UNVERIFIED], cast[Who.ADMIN]
    pairs: Values = (
        [(unverified, unverified), (admin, admin)],
        [(unverified, admin), (admin, unverified)],
    )
    assert wrongly_judged(pairs, is_accepted) == []


@pytest.mark.parametrize(
    ("status", "fields", "allowed"),
    [
        ("approved", {"featured": True}, True),
        ("approved", {"featured": False}, True),
        ("approved", {"featured": "yes"}, False),
        ("approved", {"featured": True, "url": OTHER_URL}, False),
        ("approved", {"featured": True, "approvedAt": SERVER_TIMESTAMP}, False),
        ("pending", {"featured": True}, False),
        ("rejected", {"featured": True}, False),
    ],
)
def test_staff_choose_the_featured_photos(
    status: str, fields: Fields, allowed: bool, guest: Client, moderator: Client, wall: str
) -> None:
    """Design 3.50: staff feature approved photos only."""
    ADMINISTRATOR.replace(f"{wall}/photos/p", photo(guest, status))

    assert allowed is moderator.update(f"{wall}/photos/p", fields)
    assert not guest.update(f"{wall}/photos/p", fields)


def test_only_staff_of_the_events_tenant_have_access(cast: Cast, guest: Client, wall: str) -> None:
    """The event's tenant counts, not the photo's. Two missing tenants are not equal."""
    path = f"{wall}/photos/p"
    ADMINISTRATOR.replace(path, photo(guest) | {"tenantId": OTHER_TENANT})
    assert not cast[Who.OTHER_MODERATOR].get(path)

    ADMINISTRATOR.replace(wall, event(tenantId=None))
    assert not cast[Who.ADMIN_OF_NONE].get(path)
    assert not cast[Who.MODERATOR_OF_NONE].get(path)

    ADMINISTRATOR.replace(wall, event(tenantId=""))
    assert not Client.of(sign_in("admin", "")).get(path)
