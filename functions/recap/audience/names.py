"""The name by which a mail greets a guest."""

import re
import unicodedata
from typing import Final

from functions.mail.lines import plain, shortened

NAME_CHARACTERS: Final = 40

# A guest chooses the name and the address that the mail goes to. So a name must contain no text
# that a mail program turns into a link or a telephone number. The patterns match the `plain` name.
_LINKS: Final = re.compile(r"[/@:\\]|www\.|\w\.\w{2,}", re.IGNORECASE)
_DIGITS_AT_MOST: Final = 4

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, format characters, halves of pairs, unassigned; the joiners of some scripts as well."""

_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and a symbol without a visible shape."""

_MARKS_AT_MOST: Final = 2
"""On one letter; more marks overlap the lines around."""


def greeted_name(text: str) -> str:
    """`text` as a name: one short visible line without a link or a telephone number.

    Empty where nothing of that kind is left.
    """
    name = shortened(_visible(text), NAME_CHARACTERS)
    read = plain(name)
    digits = sum(character.isnumeric() for character in read)
    letters = any(unicodedata.category(character)[0] == "L" for character in read)
    return "" if _LINKS.search(read) or digits > _DIGITS_AT_MOST or not letters else name


def _visible(text: str) -> str:
    kept, marks = [], 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category[0] == "M" else 0
        # `shortened` turns tabs and line breaks into spaces.
        if character.isspace() or (
            category not in _INVISIBLE and character not in _BLANK and marks <= _MARKS_AT_MOST
        ):
            kept.append(character)
    return "".join(kept)
