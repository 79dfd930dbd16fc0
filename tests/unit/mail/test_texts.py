"""The texts for guests in each language: none is missing, unused or left in English."""

import re
import unicodedata
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import jinja2.ext
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po

from functions.mail.translation import CATALOGS, LANGUAGES, Texts
from functions.recap.recap_arguments import Mode
from tests.unit.mail.pseudo import pseudo_mail

ROOT: Final = Path(__file__).parents[3]
MAIL: Final = ROOT / "functions/recap/mail"
KEYWORDS: Final[dict[str, Any]] = dict.fromkeys(("text", "plain", "plural"))
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")


def _in_mails() -> set[str | tuple[str, ...]]:
    found: list[Any] = []
    for path in sorted((MAIL / "templates").iterdir()):
        found += jinja2.ext.babel_extract(BytesIO(path.read_bytes()), list(KEYWORDS), [], {})
    for path in sorted(MAIL.glob("*.py")):
        # Babel 2.19 reads `text["photos"]`, which is a tag, as a call.
        source = path.read_bytes().replace(b"text[", b"tag[")
        found += extract_python(BytesIO(source), KEYWORDS, [], {})
    return {key for _, function, texts, _ in found if (key := _key(function, texts))}


def _key(function: str, texts: Any) -> str | tuple[str, ...] | None:
    """Return the key of a call's texts in a catalog, or None if the first is not a literal."""
    if function == "plural":
        return tuple(texts[:2])
    text: str | None = texts[0] if isinstance(texts, tuple) else texts
    return text


def _on_the_page() -> set[str | tuple[str, ...]]:
    page = (ROOT / "public/preferences.html").read_text(encoding="utf-8")
    script = (ROOT / "public/preferences.js").read_text(encoding="utf-8")
    marked = re.findall(r"data-text[^>]*>([^<]+)<", page)
    said = re.findall(r"\btext\(\s*\"([^\"]+)\"", script)
    return {" ".join(name.split()) for name in [*marked, *said]}


def _catalog(language: str) -> Catalog:
    with (CATALOGS / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def _messages(language: str) -> list[Message]:
    return [message for message in _catalog(language) if message.id]


TRANSLATED: Final = [language for language in LANGUAGES if language != "en"]


def test_every_language_but_english_has_a_catalog() -> None:
    """There is no other catalog."""
    assert {path.stem for path in CATALOGS.glob("*.po")} == set(TRANSLATED)


def test_the_page_has_the_languages_of_the_emails() -> None:
    """Their directions are the same, too."""
    script = (ROOT / "public/preferences.js").read_text(encoding="utf-8")
    for name, languages in (
        ("LANGUAGES", LANGUAGES),
        (
            "RIGHT_TO_LEFT",
            [language for language in LANGUAGES if Texts.of(language).direction == "rtl"],
        ),
    ):
        [listed] = re.findall(rf"const {name} = \[(.*)\];", script)
        assert re.findall(r'"(\w+)"', listed) == list(languages)


def test_without_scripts_the_page_shows_every_language() -> None:
    """Each has its direction."""
    page = (ROOT / "public/preferences.html").read_text(encoding="utf-8")
    [without] = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)
    found = re.findall(r'<p class="notice" lang="(\w+)"(?: dir="(\w+)")?>[^<]+</p>', without)
    directions = [(language, Texts.of(language).direction) for language in LANGUAGES]
    assert [(language, direction or "ltr") for language, direction in found] == directions


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_text_is_missing_or_unused(language: str) -> None:
    """Compare with the texts of emails and the page."""
    assert {message.id for message in _messages(language)} == _in_mails() | _on_the_page()


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_translation_has_all_forms_and_placeholders(language: str) -> None:
    """No plural form is empty."""
    catalog = _catalog(language)
    for message in _messages(language):
        told = message.string or ""
        forms = [told] if isinstance(told, str) else list(told)
        assert len(forms) == (catalog.num_plurals if message.pluralizable else 1)
        english = message.id if isinstance(message.id, str) else message.id[1]
        for form in forms:
            assert form.strip()
            missing = set(_PLACEHOLDER.findall(english)) ^ set(_PLACEHOLDER.findall(form))
            assert missing <= ({"count"} if message.pluralizable else set())
        assert "%(count)s" in forms[-1] or not message.pluralizable


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_name_of_an_event_needs_no_declension(language: str) -> None:
    """A name such as "Hochzeit von Ann" follows a colon or a quotation mark, or starts a text."""
    for message in _messages(language):
        told = message.string or ""
        for text in [told] if isinstance(told, str) else told:
            for before in text.split("%(event)s")[:-1]:
                last = before.strip()[-1:]
                assert not last or last == ":" or unicodedata.category(last) in {"Pi", "Ps", "Pf"}


@pytest.mark.parametrize(
    ("tag", "language", "direction"),
    [
        (None, "en", "ltr"),
        ("de-AT", "de", "ltr"),
        ("pt_BR", "pt", "ltr"),
        ("AR-eg", "ar", "rtl"),
        ("xx", "en", "ltr"),
        ("../../x", "en", "ltr"),
        ("", "en", "ltr"),
    ],
)
def test_a_language_tag_selects_the_language(
    tag: str | None, language: str, direction: str
) -> None:
    """Design 3.55: English is the default."""
    texts = Texts.of(tag)
    assert (texts.language, texts.direction) == (language, direction)


@pytest.mark.parametrize(
    ("language", "count", "text"),
    [
        ("en", 9000, "You shared 9,000 photos."),
        ("de", 9000, "Du hast 9.000 Fotos geteilt."),
        ("pl", 3, "Udostępniono 3 Twoje zdjęcia."),
        ("pl", 5, "Udostępniono 5 Twoich zdjęć."),
        ("ar", 2, "شاركت صورتين."),
        ("ar", 11, "شاركت 11 صورة."),
    ],
)
def test_plurals_and_numbers_follow_the_language(language: str, count: int, text: str) -> None:
    """Babel formats numbers, and gettext selects the plural form."""
    one, many = "You shared one photo.", "You shared %(count)s photos."
    assert Texts.of(language).plural(one, many, count) == text


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("message", [None, "@words@"])
def test_no_text_of_an_email_is_left_in_english(mode: Mode, message: str | None) -> None:
    """Every text of the service is in the brackets of the pseudo-language."""
    mail = pseudo_mail(mode, message)
    text, html = mail.render(mail.copies[0])
    shown = re.sub(r"<style>.*?</style>|<!--.*?-->", "", html, flags=re.DOTALL)
    alt = " ".join(re.findall(r'alt="([^"]*)"', shown))
    for part in (mail.sender, mail.subject, text, re.sub(r"<[^>]+>", "", shown), alt):
        rest = re.sub(r"⟦.*?⟧|@\w+@|<w@example.com>|https://\S+", "", part, flags=re.DOTALL)
        assert not re.search(r"[A-Za-z]", rest), rest
