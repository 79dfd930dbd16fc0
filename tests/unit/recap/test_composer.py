"""The email that each recipient gets (spec 4.1, design 5)."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parseaddr
from html import unescape
from typing import Any

import pytest

from emulator.mailbox.emails import emails_of
from emulator.provider_models.sendgrid import problems
from functions.links.link import PreferencesLinks
from functions.mail.message import EmailMessage, MailSender
from functions.mail.sendgrid import request_body
from functions.mail.translation import CATALOGS, Texts
from functions.recap.audience.photos import MAIL_BYTES, Picture
from functions.recap.mail.composer import Recipient
from functions.recap.mail.layout import Colors, linked
from functions.recap.mail.photo_renderer import (
    MIN_TEXT_LINKS,
    PhotoRenderer,
    in_bytes,
    json_bytes,
)
from functions.recap.recap_arguments import TEXTS, Mode
from tests.unit.recap.recap_fixture import composer_of, recipient

LINKS = PreferencesLinks(
    page="https://example.com/preferences#token=a.b",
    one_click="https://example.com/unsubscribe?token=c.d",
)


def _pictures(count: int, length: int = 60, *, small: bool = True) -> list[Picture]:
    url = "https://example.com/"
    return [
        Picture(f"{url}{n}-t{'x' * length}", f"{url}{n}-p{'x' * length}", small=small)
        for n in range(count)
    ]


def _recipient(pictures: Sequence[Picture] = (), **changed: Any) -> Recipient:
    return recipient(pictures, links=LINKS, **changed)


def _parts(message: EmailMessage, number: int = 0) -> tuple[str, str]:
    """Return text and HTML of the recipient `number`."""
    text, html = message.text, message.html
    for tag, value in message.copies[number].values.items():
        text, html = text.replace(tag, value), html.replace(tag, value)
    return text, html


_LOGO = f"https://example.com/?{'&' * 1_979}"
"""As long as a logo's address may be, and five times as long as HTML."""


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("length", [0, 150, 600, 1900])
@pytest.mark.parametrize("recipients", [1, 2])
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("count", [0, 1, 24, 300])
def test_an_email_with_long_addresses_is_under_100_kb(
    mode: Mode, length: int, count: int, recipients: int, *, small: bool
) -> None:
    """Gmail truncates longer ones. SendGrid allows 10,000 bytes for a personalization."""
    pictures = _pictures(count, length, small=small)
    composer = composer_of(
        mode, name="&" * 5000, message="<" * 4000, reel=pictures, photo_count=9000, logo_url=_LOGO
    )
    guest = _recipient(pictures, name="ä" * 60, photo_count=9000)
    message = composer.message([guest] * recipients)
    text, html = _parts(message)
    assert len(text.encode()) + len(html.encode()) < MAIL_BYTES
    for personalization in request_body(message)["personalizations"]:
        assert len(json.dumps(personalization["substitutions"])) < 10_000
    in_text = sum(f"{picture.url}\n" in text for picture in pictures)
    in_html = sum(f"href='{picture.url}'" in html for picture in pictures)
    assert min(in_html, MIN_TEXT_LINKS) <= in_text <= in_html
    for part, shown in ((text, in_text), (html, in_html)):
        assert (f"and {9000 - shown:,} more" in part) is (shown > 0)


_STORED = 180
"""Characters of an address in Firebase's storage, about."""


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("count", "small", "pictures"),
    [(1, False, 1), (8, False, 8), (12, False, 8), (12, True, 12), (24, False, 8), (24, True, 24)],
)
def test_every_photo_is_in_the_email_as_a_picture_or_a_link(
    mode: Mode, count: int, pictures: int, *, small: bool
) -> None:
    """Design 3.48: an address of Firebase's storage has about 180 characters."""
    photos = _pictures(count, _STORED, small=small)
    composer = composer_of(mode, reel=photos, photo_count=count)
    text, html = _parts(composer.message([_recipient(photos)]))
    assert "more in the gallery" not in html + text
    order = list(reversed(photos)) if mode is Mode.PERSONAL else photos
    assert re.findall("^https.*x$", text, re.MULTILINE) == [photo.url for photo in order]
    assert re.findall("<img(?: class=q)? src='(.*?)'", html) == [
        photo.thumb for photo in order[:pictures]
    ]
    assert re.findall("alt='Photo (.*?)'", html) == [str(n + 1) for n in range(pictures)]
    linked = re.findall("<a href='([^']*)' style='[^']*'>Photo ([0-9]+)</a>", html)
    behind = range(pictures + 1, count + 1)
    assert linked == [(order[number - 1].url, str(number)) for number in behind]


@pytest.mark.parametrize(("small", "pictures"), [(False, 8), (True, 120)])
def test_an_email_has_up_to_a_hundred_and_twenty_photos(*, small: bool, pictures: int) -> None:
    """An email has 100 kB."""
    photos = _pictures(120, _STORED, small=small)
    message = composer_of().message([_recipient(photos)])
    text, html = _parts(message)
    assert html.count("<img") == pictures
    assert html.count(">Photo ") == 120 - pictures
    assert "more in the gallery" not in html + text
    body = request_body(message)
    assert body["personalizations"][0]["substitutions"] == {}
    assert [part["value"] for part in body["content"]] == [text, html]


def test_photos_without_room_are_counted() -> None:
    """Omit the oldest photos of a guest with a thousand, and turn other pictures into links."""
    text, html = _parts(composer_of().message([_recipient(_pictures(1000, _STORED))]))
    shown = html.count("<img") + html.count(">Photo ")
    assert min(html.count("<img"), html.count(">Photo ")) > 8
    assert f"and {1000 - shown} more" in html
    assert text.count("https://example.com/") == MIN_TEXT_LINKS + 2
    assert f"and {1000 - MIN_TEXT_LINKS} more" in text
    assert 90_000 < len(text.encode()) + len(html.encode()) < MAIL_BYTES


def _guests(pictures: Sequence[Sequence[Picture]]) -> dict[str, Recipient]:
    return {str(n): _recipient(own, address=f"{n}@example.com") for n, own in enumerate(pictures)}


def _stored(guest: int, count: int, *, small: bool = True) -> list[Picture]:
    """Return pictures with addresses like those of Firebase's storage."""
    bucket = "https://firebasestorage.googleapis.com/v0/b/wall.appspot.com/o/events%2F"
    end = f"{guest:016}.jpg?alt=media&token=00000000-0000-0000-0000-000000000000"
    return [
        Picture(f"{bucket}small%2F{n:016}{end}", f"{bucket}large%2F{n:016}{end}", small=small)
        for n in range(count)
    ]


def test_a_guest_with_many_photos_gets_a_separate_message() -> None:
    """SendGrid limits the values of each of several recipients to 10,000 bytes."""
    counts = [1, 20, 2, 30, 20, 1]
    guests = _guests([_stored(guest, count) for guest, count in enumerate(counts)])
    groups = composer_of().groups(guests)
    found = [[counts[int(guest)] for guest in group] for group in groups]
    assert found == [[1, 2, 1], [20], [30], [20]]


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("size", [in_bytes, json_bytes])
def test_the_size_of_photos_is_calculated_exactly(
    size: Callable[[str], int], language: str
) -> None:
    """A request with a copy that is too large sends no email."""
    renderer = PhotoRenderer(
        Texts.of(language),
        Colors.of("#ffd60a"),
        is_personal=True,
        gallery_url="https://wall.example/g?a=1&b=2",
    )
    pictures = [*_stored(0, 9, small=False), *_pictures(5), Picture("", "https://a.example/?'&")]
    for room in range(1_000, 12_000, 100):
        photos = renderer.render(pictures, 20, size=size, at_most=room)
        used = sum(map(size, photos))
        assert used <= room
        assert renderer.render(pictures, 20, size=size, at_most=used) == photos


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 11, 15])
def test_an_email_is_the_same_in_a_batch_and_by_itself(count: int, *, small: bool) -> None:
    """Shared markup must not be visible."""
    composer = composer_of()
    guests = list(_guests([_stored(guest, count, small=small) for guest in range(3)]).values())
    body = request_body(composer.message(guests))
    assert problems(body) == []
    mails = emails_of(body, "id", datetime(2026, 5, 1, tzinfo=UTC), 1)
    for guest, mail in zip(guests, mails, strict=True):
        alone = composer.message([guest])
        text, html = alone.render(alone.copies[0])
        assert (mail.to, mail.text) == (guest.guest.address, text)
        assert unescape(mail.html) == unescape(html)


@pytest.mark.parametrize("language", [path.stem for path in CATALOGS.glob("*.po")])
def test_photos_that_count_as_few_have_room_in_every_language(language: str) -> None:
    """All photos are in the HTML, and at least the first ones in the plain part."""
    composer = composer_of(language=language, galleryUrl=f"https://example.com/{'g' * 600}")
    name = "\N{PARTY POPPER}ä" * 20
    for length in (0, 60, 180, 500, 1900):
        for count in range(1, 24):
            own = _recipient(_pictures(count, length), name=name, photo_count=count + 1000)
            if "0" in composer.groups({"0": own, "1": _recipient()})[0]:
                text, html = _parts(composer.message([own, _recipient()]))
                assert html.count("<img") == count
                assert min(count, MIN_TEXT_LINKS) <= text.count("-p") <= count


def test_a_message_to_guests_with_unequal_numbers_of_photos_counts_what_has_no_room() -> None:
    """Design 3.48: photos may change before an interrupted recap is continued."""
    own = _stored(0, 40)
    guests = _guests([own, _stored(1, 39)])
    text, html = _parts(composer_of().message(guests.values()))
    shown = html.count("<img") + html.count(">Photo ")
    assert 8 < shown < 40
    assert f"and {40 - shown} more" in html
    assert f"and {40 - MIN_TEXT_LINKS} more" in text


@pytest.mark.parametrize("mode", Mode)
def test_what_people_wrote_is_escaped(mode: Mode) -> None:
    """This includes names, the message, the event's name and addresses of photos."""
    nasty = "<img src=x onerror=alert(1)>\"'&"
    picture = Picture("https://example.com/?a=1&b='", "https://example.com/?a=1&b='")
    composer = composer_of(mode, name=nasty, message=nasty, subject=nasty, reel=[picture])
    message = composer.message([_recipient([picture], name=nasty)])
    text, html = _parts(message)
    assert "<img src=x" not in html
    assert "?a=1&amp;b=&#39;" in html
    assert text.count(nasty) >= 3
    assert message.subject == nasty


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("name", TEXTS)
def test_every_text_of_the_organizer_is_in_the_email(name: str, mode: Mode) -> None:
    """Spec 4.1: the subject is in the header and the title, every other text is in both parts."""
    written: Any = {name: "Thank you & bye!"}
    message = composer_of(mode, **written).message([_recipient()])
    text, html = _parts(message)
    assert "Thank you & bye!" in (message.subject if name == "subject" else text)
    assert "Thank you &amp; bye!" in html


def test_newlines_in_the_name_of_an_event_reach_no_subject() -> None:
    """Spec 4.1: a newline could add a header to the email."""
    composer = composer_of(name="Summer\nBcc: x@example.com\x0b\u2029 Party")
    subject = composer.message([_recipient()]).subject
    assert subject == "Your photos: SummerBcc: x@example.com Party"


def test_a_tag_of_one_message_is_in_no_other_and_in_no_text() -> None:
    """The email provider replaces tags anywhere, so they must be unpredictable."""
    composer = composer_of(message="%greeting% -greeting- {{greeting}}")
    first, second = (
        {tag for copy in composer.message([_recipient()]).copies for tag in copy.values}
        for _ in range(2)
    )
    assert len(first) == 7
    assert not first & second


def test_every_email_has_both_headers_of_one_click_unsubscribe() -> None:
    """RFC 8058: the headers are the link and the permission for one click."""
    (copy,) = composer_of().message([_recipient()]).copies
    assert copy.headers == {
        "Content-Language": "en",
        "List-Unsubscribe": "<https://example.com/unsubscribe?token=c.d>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


@pytest.mark.parametrize("mode", Mode)
def test_the_postal_address_ends_both_parts(mode: Mode) -> None:
    """`MAIL_ADDRESS_LINE` is escaped. The address for replies is passed on."""
    line = "Wall & Co, 1 Example Street"
    sender = MailSender(address="w@example.com", reply_to="h@example.com", address_line=line)
    message = composer_of(mode, sender=sender).message([_recipient()])
    text, html = _parts(message)
    assert text.endswith(f"{LINKS.page}\n\n{line}")
    assert "<br>\n<bdi>Wall &amp; Co, 1 Example Street</bdi>\n</td>" in html
    assert message.reply_to == "h@example.com"


@pytest.mark.parametrize("mode", Mode)
def test_without_a_postal_address_the_link_is_the_last_line(mode: Mode) -> None:
    """The email ends with the link to the preferences."""
    message = composer_of(mode).message([_recipient()])
    text, html = _parts(message)
    assert text.endswith(LINKS.page)
    assert "manage preferences</a>\n</td>" in html
    assert message.reply_to is None


def test_the_reel_is_in_the_message_once() -> None:
    """Text that is the same for all recipients does not use their limit."""
    composer = composer_of(Mode.ALL, reel=_pictures(24), photo_count=24, message="Thank you!")
    message = composer.message([_recipient()])
    assert all("Here are the highlights." in part for part in (message.text, message.html))
    assert ("-t" in message.text, "-t" in message.html) == (False, True)
    assert "-t" not in json.dumps(message.copies[0].values)


def test_an_event_without_name_and_gallery_has_an_email() -> None:
    """Every field of an event may be missing."""
    composer = composer_of(name="", galleryUrl=None)
    message = composer.message([_recipient(name="", photo_count=2)])
    text, html = _parts(message)
    assert message.subject == "Photos from the event"
    assert text.startswith("Hi there,\n\nThanks for being there!\n\n")
    assert "You shared 2 photos." in text
    assert "gallery" not in text + html.partition("<body")[2]
    assert "None" not in text + html


def test_the_first_photo_comes_before_the_organizers_words() -> None:
    """A guest sees a photo early, and the author of the paragraph."""
    composer = composer_of(
        name="Anna & Björn", message="Thank you!\nhttps://example.com/film?a=1&b=2."
    )
    text, html = _parts(composer.message([_recipient(_pictures(8))]))
    places = [html.index(part) for part in ("<img", "A note from the organizer", "/0-t")]
    assert places == sorted(places)
    assert '<a href="https://example.com/film?a=1&amp;b=2"' in html
    assert "Thanks for being there" not in html + text
    assert "A note from the organizer\n\nThank you!\n" in text
    assert html.count("View the full gallery") == 2


@pytest.mark.parametrize(
    ("paragraph", "link"),
    [
        ("https://en.example/wiki/Party_(film)", "https://en.example/wiki/Party_(film)"),
        ("(https://en.example/a_(b)).", "https://en.example/a_(b)"),
        ("(see https://en.example/a)", "https://en.example/a"),
        ("https://en.example/a[1]!", "https://en.example/a[1]"),
        ("[https://en.example/a_(b_(c))]", "https://en.example/a_(b_(c))"),
        ("https://en.example/a)b)", "https://en.example/a)b"),
    ],
)
def test_a_link_of_the_organizer_keeps_a_balanced_bracket(paragraph: str, link: str) -> None:
    """The punctuation of the sentence is not part of the link."""
    assert re.findall('href="(.*?)"', linked(paragraph, "#000000")) == [link]


@pytest.mark.parametrize("count", [*range(1, 12), 24])
def test_no_row_of_photos_has_a_hole(count: int) -> None:
    """A row has two photos, or one wide one at the end. Outlook needs the widths in pixels."""
    _, html = _parts(composer_of().message([_recipient(_pictures(count, length=0))]))
    for row in html.split('<div class="p"')[1:]:
        assert row.count("width=288") == row.count("width:48%")
        assert row.count("width=288") % 2 == 0
        assert row.count("width=592") == row.count("width:98%") == row.count("class=q")


@pytest.mark.parametrize(
    ("event", "sender", "shown"),
    [
        ("Anna, Björn", "Wall <w@example.com>", '"Anna, Björn via Wall" <w@example.com>'),
        ('"Best" one', "Wall <w@example.com>", '"\\"Best\\" one via Wall" <w@example.com>'),
        ("bank.example", "Wall <w@example.com>", "Wall <w@example.com>"),
        ("Party", "w@example.com", "w@example.com"),
    ],
)
def test_the_sender_is_the_event_by_way_of_the_operator(
    event: str, sender: str, shown: str
) -> None:
    """Design 3.56: a name that looks like an address is left out."""
    composer = composer_of(name=event, sender=sender, replyTo="a@example.com")
    message = composer.message([_recipient()])
    assert (message.sender, message.reply_to) == (shown, "a@example.com")
    assert parseaddr(message.sender)[1] == "w@example.com"


def test_the_preheader_is_how_the_organizers_words_begin() -> None:
    """Inboxes show it after the subject. It is cut at a space."""
    composer = composer_of(message="word " * 50)
    _, html = _parts(composer.message([_recipient()]))
    found = re.search(r"overflow:hidden\">(.*?)</div>", html)
    assert found
    assert found[1].endswith("word…")
