"""The colors and the logo of the recap mail (spec 4.1)."""

import itertools
import re
from typing import Any, Final

import pytest

from emulator.provider_models.sendgrid import accepted, refused
from functions.firestore.model import Put
from functions.recap.mail.layout import MIN_CONTRAST, Colors, contrast
from tests.unit.recap.recap_fixture import EVENT, TENANT, RecapFixture

BLACK, WHITE, BLUE, LIGHT_BLUE = "#000000", "#ffffff", "#1f5fbf", "#8ab4ff"
LIGHT: Final = ("#ffffff", "#f1f5fd", "#f1f3f6", "#e7e9ee")
DARK: Final = ("#1f2329", "#2a2f37", "#14161a")
"""The backgrounds of links in the email."""


@pytest.mark.parametrize(
    ("accent", "on_accent", "link", "dark_link"),
    [
        (None, WHITE, BLUE, LIGHT_BLUE),
        ("#0b1f4d", WHITE, "#0b1f4d", "#858fa6"),
        ("#ffff00", BLACK, BLUE, "#ffff00"),
        ("#FFD60A", BLACK, BLUE, "#FFD60A"),
        ("#ffffff", BLACK, BLUE, "#ffffff"),
        ("#000000", WHITE, "#000000", "#8c8c8c"),
        # Greys: #757575 has a contrast of 4.61 with white, and of 4.56 with black.
        ("#757575", WHITE, "#757575", "#8a8a8a"),
        ("#767676", BLACK, "#767676", "#8b8b8b"),
        ("#777777", BLACK, BLUE, "#8b8b8b"),
        ("#808080", BLACK, BLUE, "#8d8d8d"),
        ("#888888", BLACK, BLUE, "#8e8e8e"),
        ("#898989", BLACK, BLUE, "#898989"),
    ],
)
def test_an_accent_colors_links_where_it_can_be_read(
    accent: str | None, on_accent: str, link: str, dark_link: str
) -> None:
    """A contrast below 4.5 leaves a link blue on a light card, and lightens it on a dark one."""
    colors = Colors.of(accent)
    assert (colors.accent, colors.on_accent) == (accent, on_accent)
    assert (colors.link(LIGHT[0]), colors.dark_link(DARK[0])) == (link, dark_link)


def test_every_text_has_the_contrast_on_every_background() -> None:
    """The figures that everybody knows, then the texts with 729 accents."""
    assert contrast(BLACK, WHITE) == contrast(WHITE, BLACK) == pytest.approx(21)
    assert contrast("#777777", WHITE) == pytest.approx(4.48, abs=0.005)
    for parts in itertools.product(range(0, 256, 31), repeat=3):
        colors = Colors.of(f"#{bytes(parts).hex()}")
        assert contrast(colors.on_accent, colors.accent or "") >= MIN_CONTRAST
        for background in LIGHT:
            assert contrast(colors.link(background), background) >= MIN_CONTRAST
        for background in DARK:
            assert contrast(colors.dark_link(background), background) >= MIN_CONTRAST


@pytest.mark.parametrize("accent", ["#0b1f4d", "#7a1230", "#123456"])
def test_a_dark_accent_keeps_its_hue_in_dark_mode(fixture: RecapFixture, accent: str) -> None:
    """Links and the note's border are a lighter shade of the accent, never the usual blue."""
    html = _html(fixture, accentColor=accent)
    dark = html[html.index("prefers-color-scheme: dark") : html.index("</style>")]
    assert f"border-color: {Colors.of(accent).dark_link('#2a2f37')} !important" in dark
    assert "#6ea3ff" not in dark
    # The frame's rule for all links comes first; the email's own rules follow it.
    assert dark.count(LIGHT_BLUE) == 2


@pytest.fixture
def fixture() -> RecapFixture:
    """Return an event with the photos of one guest. The ninth is a link."""
    fixture = RecapFixture(hosts="example.com")
    for _ in range(9):
        fixture.photo("a@example.com")
    return fixture


def _html(fixture: RecapFixture, **fields: Any) -> str:
    event = {"tenantId": TENANT, "name": "Anna & Björn", "galleryUrl": "https://example.com/g"}
    fixture.documents.commit(Put(f"events/{EVENT}", event | fields))
    return fixture.preview(message="https://example.com/film").mail.html


def test_an_email_has_the_logo_and_the_accent_of_its_event(fixture: RecapFixture) -> None:
    """The logo is above the heading. The button and the links have the accent color."""
    html = _html(fixture, logoUrl="https://example.com/a.png?a='1'&b", accentColor="#0b1f4d")
    url = "https://example.com/a.png?a=&#39;1&#39;&amp;b"
    logo = f'<img class="logo" src="{url}" height="64" alt="Anna &amp; Björn"'
    assert 0 < html.find(logo) < html.index("<h1")
    assert "background:#0b1f4d;color:#ffffff" in html
    assert ".button { background: #0b1f4d !important; color: #ffffff !important; }" in html
    assert ".logo { background: #ffffff;" in html  # in the dark
    links = re.findall("style=['\"]color:#0b1f4d", html)
    assert len(links) == 4  # film, gallery, ninth photo, preferences
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
    fixture: RecapFixture, field: str, value: object
) -> None:
    """A script, or an earlier release, may have written it: the mail is that without the field."""
    fixture.hosts = "*"
    assert _html(fixture, **{field: value}) == _html(fixture)


def test_a_logo_on_another_host_is_left_out_and_reported(fixture: RecapFixture) -> None:
    """The preview already reports it, and the email is sent without the logo."""
    assert "cdn.example" not in _html(fixture, logoUrl="https://CDN.example:8443/logo.png")
    notes = fixture.preview().notes
    assert fixture.send().notes == notes
    (note,) = notes
    assert "logo is hidden because its host, cdn.example:8443, isn't in PHOTO_HOSTS." in note
    fixture.later(hours=24)
    fixture.photo("b@example.com", photo_id="b")
    fixture.photo("c@example.com", photo_id="c")
    fixture.answers = [accepted("m"), refused(401)]
    fixture.refusal()
    assert fixture.send().notes[1:] == notes  # of the rest of an interrupted recap, too
    fixture.later(hours=24)
    fixture.photo("b@example.com", photo_id="b", status="rejected")
    fixture.photo("c@example.com", photo_id="c", status="rejected")
    fixture.photo("a@example.com", url="https://cdn.example/hidden.jpg")
    fixture.opt_out("a@example.com")
    assert fixture.send().notes == []  # where nobody gets a mail, neither logo nor photo is missed
