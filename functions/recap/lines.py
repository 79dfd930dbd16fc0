"""Texts of people on their way into a mail: a header line, a paragraph, a name."""

import re
import unicodedata
from typing import Final

NAME_CHARACTERS: Final = 40
EVENT_NAME_CHARACTERS: Final = 150

# Everything that some program somewhere takes for the end of a line, and every other control.
_BREAKS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_LINE_END: Final = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Turn the direction of whatever follows; text in right-to-left scripts does without them.
_OVERRIDES: Final = re.compile(r"[\u202d\u202e]")
_SPACES: Final = re.compile(r"\s+")
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


def one_line(text: str) -> str:
    """`text` without line breaks of any kind, controls, and spaces at its ends (spec 4.1)."""
    return _SPACES.sub(" ", _OVERRIDES.sub("", _BREAKS.sub("", _encodable(text)))).strip()


def paragraph(text: str) -> str:
    r"""`text` with `\n` as its only line break, and no other controls."""
    lines = _LINE_END.sub("\n", _encodable(text)).replace("\t", " ")
    return _OVERRIDES.sub("", _CONTROLS.sub("", lines)).strip()


def shortened(text: str, at_most: int) -> str:
    """`text` as one line, cut with an ellipsis where it has more than `at_most` characters."""
    line = one_line(text)
    return line if len(line) <= at_most else line[: at_most - 1].rstrip() + "…"


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


def _encodable(text: str) -> str:
    # JSON can carry half of a surrogate pair, which no mail can.
    return text.encode("utf-8", "replace").decode()
