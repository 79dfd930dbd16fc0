"""The colours and the logo of the recap mail (spec 4.1)."""

import itertools
from typing import Any, Final

import pytest

from emulator.provider_models.sendgrid import accepted, refused
from functions.firestore.model import Put
from functions.recap.mail.layout import MIN_CONTRAST, Colours, contrast
from tests.unit.recap.parts import EVENT, TENANT, House

BLACK, WHITE, BLUE, LIGHT_BLUE = "#000000", "#ffffff", "#1f5fbf", "#8ab4ff"
USUAL: Final = {
    **dict.fromkeys(("#ffffff", "#f1f5fd", "#f1f3f6", "#e7e9ee"), BLUE),
    **dict.fromkeys(("#1f2329", "#2a2f37"), LIGHT_BLUE),
}
"""The colour of links on each background of the mail, without an accent."""


@pytest.mark.parametrize(
    ("accent", "on_accent", "link", "dark_link"),
    [
        ("#0b1f4d", WHITE, "#0b1f4d", LIGHT_BLUE),
        ("#ffff00", BLACK, BLUE, "#ffff00"),
        ("#FFD60A", BLACK, BLUE, "#FFD60A"),
        ("#ffffff", BLACK, BLUE, "#ffffff"),
        ("#000000", WHITE, "#000000", LIGHT_BLUE),
        # Greys: #757575 has a contrast of 4.61 with white, and of 4.56 with black.
        ("#757575", WHITE, "#757575", LIGHT_BLUE),
        ("#767676", BLACK, "#767676", LIGHT_BLUE),
        ("#777777", BLACK, BLUE, LIGHT_BLUE),
        ("#808080", BLACK, BLUE, LIGHT_BLUE),
        ("#888888", BLACK, BLUE, LIGHT_BLUE),
        ("#898989", BLACK, BLUE, "#898989"),
    ],
)
def test_an_accent_colours_links_where_it_can_be_read(
    accent: str, on_accent: str, link: str, dark_link: str
) -> None:
    """A link keeps the usual colour where the accent's contrast with the card is below 4.5."""
    colours = Colours.of(accent)
    assert (colours.accent, colours.on_accent) == (accent, on_accent)
    assert (colours.link("#ffffff", BLUE), colours.link("#1f2329", LIGHT_BLUE)) == (link, dark_link)


def test_every_text_has_the_contrast_on_every_background() -> None:
    """The figures that everybody knows, then the texts with 729 accents."""
    assert contrast(BLACK, WHITE) == contrast(WHITE, BLACK) == pytest.approx(21)
    assert contrast("#777777", WHITE) == pytest.approx(4.48, abs=0.005)
    for parts in itertools.product(range(0, 256, 31), repeat=3):
        colours = Colours.of(f"#{bytes(parts).hex()}")
        assert contrast(colours.on_accent, colours.accent or "") >= MIN_CONTRAST
        for background, usual in USUAL.items():
            assert contrast(colours.link(background, usual), background) >= MIN_CONTRAST


@pytest.fixture
def house() -> House:
    """An event with the photos of one guest, of which the ninth is a link."""
    house = House(hosts="example.com")
    for _ in range(9):
        house.photo("a@example.com")
    return house


def _html(house: House, **fields: Any) -> str:
    event = {"tenantId": TENANT, "name": "Anna & Björn", "galleryUrl": "https://example.com/g"}
    house.documents.commit(Put(f"events/{EVENT}", event | fields))
    return house.preview(message="https://example.com/film").mail.html


def test_a_mail_has_the_logo_of_its_event_and_the_accent(house: House) -> None:
    """The logo stands above the heading; the button and the links have the accent."""
    html = _html(house, logoUrl="https://example.com/a.png?a='1'&b", accentColor="#0b1f4d")
    url = "https://example.com/a.png?a=&#39;1&#39;&amp;b"
    logo = f'<img class="logo" src="{url}" height="64" alt="Anna &amp; Björn"'
    assert 0 < html.find(logo) < html.index("<h1")
    assert "background:#0b1f4d;color:#ffffff" in html
    assert ".button { background: #0b1f4d !important; color: #ffffff !important; }" in html
    assert ".logo { background: #ffffff;" in html  # in the dark
    assert html.count('style="color:#0b1f4d') == 4  # film, gallery, ninth photo, preferences
    assert "#1f5fbf" not in html


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *itertools.product(("logoUrl", "accentColor"), [None, 1, ["#ffffff"], {"a": 1}, ""]),
        ("logoUrl", "http://example.com/logo.png"),
        ("logoUrl", "javascript:alert(1)"),
        ("logoUrl", 'https://example.com/"onerror="alert(1)'),
        ("logoUrl", f"https://example.com/{'x' * 1981}"),
        ("logoUrl", "https://example.com/" * 50_000),
        ("accentColor", "red"),
        ("accentColor", "#ffffff\n"),
        ("accentColor", "#ffffff;background:url(https://evil.example)"),
        ("accentColor", "#" + "f" * 900_000),
        ("accentColor", "#\N{FULLWIDTH DIGIT ONE}12345"),
    ],
)
def test_a_value_that_the_rules_would_refuse_counts_as_none(
    house: House, field: str, value: object
) -> None:
    """A script, or an earlier release, may have written it: the mail is that without the field."""
    house.hosts = "*"
    assert _html(house, **{field: value}) == _html(house)


def test_a_logo_on_another_host_is_in_no_mail_and_the_answer_says_so(house: House) -> None:
    """As with photos, the preview says it first, and the mail goes out all the same."""
    assert "cdn.example" not in _html(house, logoUrl="https://CDN.example:8443/logo.png")
    notes = house.preview().notes
    assert house.send().notes == notes
    (note,) = notes
    assert "logo is not shown, as its host is none of PHOTO_HOSTS: cdn.example:8443." in note
    house.later(hours=24)
    house.photo("b@example.com", photo_id="b")
    house.photo("c@example.com", photo_id="c")
    house.answers = [accepted("m"), refused(401)]
    house.refusal()
    assert house.send().notes[1:] == notes  # of the rest of an interrupted recap, too
    house.later(hours=24)
    house.photo("b@example.com", photo_id="b", status="rejected")
    house.photo("c@example.com", photo_id="c", status="rejected")
    house.photo("a@example.com", url="https://cdn.example/hidden.jpg")
    house.opt_out("a@example.com")
    assert house.send().notes == []  # where nobody gets a mail, neither logo nor photo is missed
