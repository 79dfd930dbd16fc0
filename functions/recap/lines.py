"""The name that a mail greets a guest by."""

import re
import unicodedata
from typing import Final

from functions.mail.lines import shortened

NAME_CHARACTERS: Final = 40

# A guest chooses both the name and the address it is sent to: no name may smuggle in what a mail
# program turns into a link, or into a number to call. Looked for in the form that makes all dots,
# digits and letters of one kind the same.
_LINKS: Final = re.compile(r"[/@:\\]|www\.|\w\.\w{2,}", re.IGNORECASE)
_DOTS: Final = re.compile(r"[\u3002\uff61\u2024\u0589\u06d4\u0701\u0702]")
_DIGITS_AT_MOST: Final = 4
# Controls, formats (which are invisible or turn directions), halves of pairs, and what is no
# character; the joiners that some scripts are spelt with are of the same kind, and go with them.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # letters and a symbol without a shape
_MARKS_AT_MOST: Final = 2  # on one letter; more of them run over the lines around


def greeted_name(text: str) -> str:
    """The name to greet a guest by; empty where what was left is none.

    Short, one line, of visible characters, without a link or a number to call.
    """
    name = shortened(_visible(text), NAME_CHARACTERS)
    plain = _DOTS.sub(".", unicodedata.normalize("NFKC", name))
    digits = sum(one.isnumeric() for one in plain)
    letters = any(unicodedata.category(one)[0] == "L" for one in plain)
    return "" if _LINKS.search(plain) or digits > _DIGITS_AT_MOST or not letters else name


def _visible(text: str) -> str:
    kept, marks = [], 0
    for one in text:
        category = unicodedata.category(one)
        marks = marks + 1 if category[0] == "M" else 0
        # A tab or a line break may stand for a space; `one_line` sees to it.
        if one.isspace() or (
            category not in _INVISIBLE and one not in _BLANK and marks <= _MARKS_AT_MOST
        ):
            kept.append(one)
    return "".join(kept)
