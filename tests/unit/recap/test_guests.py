"""Recipients (spec 4.1, rules 1 to 3) and their photos (design 3.48)."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.email_address import deliverable
from functions.recap.audience.guests import Audience, Guest, least_recently_mailed_first
from functions.recap.audience.photos import (
    MAX_REEL,
    PhotoHosts,
    Picture,
    PictureHeap,
    Problem,
    is_resized,
    picture_of,
    web_address,
)
from functions.recap.mail.layout import layout
from functions.recap.recap_arguments import Mode
from functions.wall.wall_event import Photo

ANY = PhotoHosts.read("*", "")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _photo(number: int, email: str = "", **fields: Any) -> Photo:
    minute = NOON + timedelta(minutes=number)
    url = f"https://example.com/{number}.jpg"
    document = {
        "uploaderEmail": email,
        "url": url,
        "thumbUrl": url,
        "createdAt": minute,
        "approvedAt": minute,
    }
    return Photo.read(f"{number:05}", document | fields, created=NOON, updated=NOON)


def _audience(mode: Mode, *photos: Photo) -> Audience:
    audience = Audience(mode, hosts=ANY, at_most=5000, bytes_per_guest=9500)
    for photo in photos:
        audience.add(photo)
    return audience


@pytest.mark.parametrize(
    ("email", "address"),
    [
        ("Anna@Example.com", "Anna@example.com"),
        ("a@münchen.example.com", "a@xn--mnchen-3ya.example.com"),
        ("anna", None),
        ("anna@", None),
        ("anna@localhost", None),
        ("Anna <anna@example.com>", None),
        ("a@example.com\nBcc: b@example.com", None),
        ("a@example.com, b@example.com", None),
        ("ä@example.com", None),
        ("a b@example.com", None),
        ("x" * 65 + "@example.com", None),
    ],
)
def test_syntax_decides_without_asking_the_network(email: str, address: str | None) -> None:
    """Design 3.52: SendGrid accepts only ASCII in the local part."""
    assert deliverable(email) == address


def test_addresses_are_unique_trimmed_and_case_folded() -> None:
    """Design 3.52: both spellings of an international domain are one mailbox."""
    spellings = [" Anna@example.com", "anna@EXAMPLE.com ", "a@MÜNCHEN.example.com"]
    spellings += ["a@xn--mnchen-3ya.example.com", "nobody", "nobody", ""]
    audience = _audience(
        Mode.PERSONAL, *(_photo(n, spelling) for n, spelling in enumerate(spellings))
    )
    assert [guest.address for guest in audience.guests] == [
        "Anna@example.com",
        "a@xn--mnchen-3ya.example.com",
    ]
    assert audience.invalid == 1
    assert audience.photo_count == 7
    audience = _audience(Mode.PERSONAL, _photo(1, "a@MÜNCHEN.example.com"))
    assert audience.find("A@xn--mnchen-3ya.example.com") is audience.guests[0]


def test_a_guest_has_the_id_of_the_normalised_address() -> None:
    """Design 3.53: a guest without a user record has an id of the address."""
    (guest,) = _audience(Mode.PERSONAL, _photo(1, " Anna@Example.com")).guests
    digest = hashlib.sha256(b"anna@example.com").hexdigest()[:32]
    assert (guest.id, guest.uid) == (digest, f"guest-{digest}")


def test_a_guest_has_the_newest_name_and_all_photos() -> None:
    """Spec 4.1, `personal`: the newest photos first."""
    photos = [_photo(n, "a@example.com", uploaderName=f"Anna {n}") for n in range(100)]
    photos.append(_photo(100, "a@example.com", uploaderName=""))
    (guest,) = _audience(Mode.PERSONAL, *photos[50:], *photos[:50]).guests
    assert guest.name == "Anna 99"
    assert guest.photo_count == 101
    newest = [f"https://example.com/{n}.jpg" for n in range(100, -1, -1)]
    assert [picture.url for picture in guest.newest.pictures()] == newest


def test_one_picture_is_kept_in_any_room() -> None:
    """A guest whose only photo has a long address still sees it."""
    newest = PictureHeap(max_bytes=0, at_most=3)
    for number in range(3):
        newest.add(str(number), (False, NOON + timedelta(minutes=number)), Picture(str(number), ""))
    assert [picture.thumb for picture in newest.pictures()] == ["2"]


def test_the_reel_starts_with_featured_photos() -> None:
    """Design 3.50: the newest approved photos follow, at most 24 in total."""
    photos = [
        _photo(n, featured=n in (3, 5), createdAt=NOON - timedelta(minutes=n)) for n in range(40)
    ]
    reel = _audience(Mode.ALL, *photos).reel.pictures()
    newest = list(range(39, 39 - MAX_REEL + 2, -1))
    assert [picture.url for picture in reel] == [
        f"https://example.com/{n}.jpg" for n in [5, 3, *newest]
    ]


def test_a_photo_shows_its_thumbnail_and_leads_to_itself() -> None:
    """Show `thumbUrl`, or `url` without one, with a link to the photo. Use only web addresses."""
    thumb = "https://example.com/t.jpg"
    assert picture_of(_photo(1, thumbUrl=thumb), ANY) == Picture(thumb, "https://example.com/1.jpg")
    own = "https://example.com/1.jpg"
    assert picture_of(_photo(1, thumbUrl=None), ANY) == Picture(own, own, small=False)
    assert picture_of(_photo(1, thumbUrl=thumb, url="javascript:1"), ANY) == Picture(thumb, thumb)
    assert picture_of(_photo(1, url=None, thumbUrl=None), ANY) is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://example.com/a.jpg?x=1&y=%20", True),
        ("http://127.0.0.1:9199/a.jpg", True),
        ("javascript:alert(1)", False),
        ("javascript://example.com/%0aalert(1)", False),
        ("data:image/png;base64,AA", False),
        ("//example.com/a.jpg", False),
        ("https://", False),
        ("https://[", False),
        ("https://example.com/" + "a" * 2048, False),
        ("https://bank.example@evil.example/", False),
        ("https://@evil.example/", False),
        ("https://example.com/a@b", True),
        ("", False),
        (7, False),
    ],
    ids=ascii,
)
def test_only_web_addresses_are_in_an_email(value: object, *, shown: bool) -> None:
    """A guest writes the document, so it can have any value."""
    assert web_address(value) == (value if shown else None)


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("https://example.com/o/a|b.jpg", "https://example.com/o/a%7Cb.jpg"),
        (" https://example.com/a b.jpg\n", "https://example.com/a%20b.jpg"),
        ("https://example.com/\u00e4.jpg?x=\u00fc", "https://example.com/%C3%A4.jpg?x=%C3%BC"),
        ("https://ex\u00e4mple.com/a", "https://xn--exmple-cua.com/a"),
        ("https://stra\u00dfe.example:8443/a", "https://xn--strae-oqa.example:8443/a"),
        ("https://example.com/{a}^`.jpg", "https://example.com/%7Ba%7D%5E%60.jpg"),
        ("https://example.com/a\\b.jpg", "https://example.com/a/b.jpg"),
        ('https://example.com/"onload=1', "https://example.com/%22onload=1"),
        ("https://example.com/\u202egpj.exe", "https://example.com/%E2%80%AEgpj.exe"),
        ("https://example.com/a%20b|c", "https://example.com/a%20b%7Cc"),
        ("https://example.com\\@evil.example/a", None),
        ("https://ex ample.com/\u00e4", None),
        ("https://ann:pass@ex\u00e4mple.com/a", None),
    ],
    ids=ascii,
)
def test_a_link_is_encoded_as_a_browser_would(value: str, address: str | None) -> None:
    """The rules accept such links, and scripts write them."""
    assert web_address(value) == address


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("gs://bucket/a.jpg", Problem.NO_LINK),
        (None, Problem.NO_LINK),
        ("data:image/png;base64,AA", Problem.NO_LINK),
        ("https://example.com/" + "a" * 2048, Problem.TOO_LONG),
        ("https://example.com/a.HEIC", Problem.FORMAT),
        ("https://example.com/o/a%2Fb.mov?alt=media&token=t", Problem.FORMAT),
        ("https://example.com/o/a%2Fb.jpg?alt=media", None),
        ("https://example.com/heic", None),
    ],
)
def test_every_photo_without_a_picture_is_counted_with_its_reason(
    url: str | None, problem: Problem | None
) -> None:
    """The notes mention every photo that is missing from an email."""
    audience = _audience(Mode.ALL, _photo(1, "a@example.com", url=url, thumbUrl=None))
    assert audience.problems == ({problem: 1} if problem else {})
    links = layout(audience.reel.pictures(), oldest_first=False, step=0).links
    assert len(links) == (problem is Problem.FORMAT)


def test_guests_without_a_recap_come_first_and_then_the_oldest_recap() -> None:
    """Design 3.38: every guest gets a recap before any guest gets a second one."""
    guests = [Guest(f"{name}@example.com") for name in "abc"]
    sent_at = {guests[0].id: NOON, guests[1].id: NOON - timedelta(days=2)}
    assert least_recently_mailed_first(guests, sent_at, only_new=False) == [
        guests[2],
        guests[1],
        guests[0],
    ]
    assert least_recently_mailed_first(guests, sent_at, only_new=True) == [guests[2]]


def test_a_small_picture_is_known_by_its_field_or_by_its_name() -> None:
    """Few originals have room in a mail, as one has some 4 MB: a small picture has a thumbUrl."""
    resized = "https://example.com/o/a%2Fb_400x400.webp?alt=media"
    photos = [_photo(n, "a@example.com", thumbUrl=None) for n in range(10)]
    photos += [_photo(n, "a@example.com", thumbUrl=None, url=f"{resized}&{n}") for n in (10, 11)]
    photos += [_photo(n, "a@example.com") for n in range(12, 20)]
    (guest,) = _audience(Mode.PERSONAL, *photos).guests
    assert [picture.small for picture in guest.newest.pictures()] == [True] * 10 + [False] * 10


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("a_200x200.jpeg", True),
        ("a_1600x900", True),
        ("a_4000x3000.jpg", False),
        ("a_200x200_b.jpg", False),
        ("200x200.jpg", False),
    ],
)
def test_a_resized_picture_is_known_by_its_name(name: str, small: bool) -> None:
    """Firebase's extension Resize Images writes the size into the names of its files."""
    assert is_resized(f"https://example.com/o/photos%2F{name}?alt=media") is small
