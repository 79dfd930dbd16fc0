"""Texts of emails in the event's language, with gettext's catalogs and Babel's numbers.

The English texts are in the code and are the keys of `catalogues/*.po`. Babel is imported for the
first email in another language, so that English emails need no Babel.
"""

import functools
import gettext
import io
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "ar", "da", "de", "es", "fr", "it", "nl", "pl", "pt", "sv")
_RIGHT_TO_LEFT: Final = frozenset({"ar"})

CATALOGS: Final = Path(__file__).parent / "catalogues"


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language.

    Attributes:
        language: The BCP 47 tag, for `lang` and `Content-Language`.
        catalog: The translations.
        markup: Whether texts are HTML, with escaped values in `bdi` elements.
    """

    language: str
    catalog: gettext.NullTranslations = field(default_factory=gettext.NullTranslations)
    markup: bool = False

    @classmethod
    def of(cls, tag: str | None) -> Self:
        """Return the texts for the language tag `tag`. English is the fallback."""
        language = (tag or "").replace("_", "-").partition("-")[0].lower()
        if language == ENGLISH or language not in LANGUAGES:
            return cls(ENGLISH)
        return cls(language, _catalog(language))

    @property
    def html(self) -> Self:
        """The same texts as HTML."""
        return replace(self, markup=True)

    @property
    def direction(self) -> str:
        """Value of the attribute `dir`."""
        return "rtl" if self.language in _RIGHT_TO_LEFT else "ltr"

    def text(self, english: str, /, **values: str) -> str:
        """Return the translation of `english`, with the `values` of its placeholders."""
        if self.markup:
            values = {name: Markup("<bdi>%s</bdi>") % value for name, value in values.items()}
        return self._with(self.catalog.gettext(english), values)

    def plural(self, one: str, many: str, count: int, /) -> str:
        """Return the translation of `one` or `many` for `count`, the value of `%(count)s`."""
        text = self.catalog.ngettext(one, many, count)
        return self._with(text, {"count": self.number(count)})

    def number(self, count: int) -> str:
        """Format `count` in the language."""
        return f"{count:,}" if self.language == ENGLISH else _number(self.language, count)

    def _with(self, text: str, values: dict[str, str]) -> str:
        return (escape(text) if self.markup else text) % values


@functools.cache
def _catalog(language: str) -> gettext.NullTranslations:
    from babel.messages import mofile, pofile  # noqa: PLC0415 - see above

    compiled = io.BytesIO()
    with (CATALOGS / f"{language}.po").open("rb") as file:
        mofile.write_mo(compiled, pofile.read_po(file, locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def _number(language: str, count: int) -> str:
    from babel.numbers import format_decimal  # noqa: PLC0415 - see above

    return format_decimal(count, locale=language)


def templates_in(folder: Path) -> Environment:
    """Return the templates in `folder`, and `frame.html`. `*.html` templates escape values."""
    return Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        auto_reload=False,  # no check of the files for each email
        trim_blocks=True,
        lstrip_blocks=True,
    )
