"""Text of emails: line breaks, controls, length, and characters that would make links."""

import re
import unicodedata
from typing import Final

_BREAKS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that some program reads as the end of a line, and all other controls."""

_LINE_END: Final = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_OVERRIDES: Final = re.compile(r"[\u202d\u202e]")
"""Characters that reverse the text after them. Right-to-left scripts do not need them."""

_DOTS: Final = re.compile(r"[\u3002\uff61\u2024\u0589\u06d4\u0701\u0702]")
"""Characters that some program reads as a dot, and that NFKC does not replace."""

_IN_A_LINK: Final = re.compile(r"(?<=\w)\.+(?=\w)|[/@:\\]+(?=\S)")
_SPACES: Final = re.compile(r"\s+")


def one_line(text: str) -> str:
    """Return `text` without line breaks, controls, and spaces at its ends (spec 4.1)."""
    return _SPACES.sub(" ", _OVERRIDES.sub("", _BREAKS.sub("", _encodable(text)))).strip()


def clean_paragraph(text: str) -> str:
    r"""Return `text` with `\n` as its only line break and without other controls."""
    lines = _LINE_END.sub("\n", _encodable(text)).replace("\t", " ")
    return _OVERRIDES.sub("", _CONTROLS.sub("", lines)).strip()


def shortened(text: str, at_most: int) -> str:
    """Return `text` as one line of `at_most` characters, cut at a space near the end if any."""
    line = one_line(text)
    if len(line) <= at_most:
        return line
    kept = line[: at_most - 1]
    words, space, _ = line[:at_most].rpartition(" ")
    return (words if space and len(words) > at_most // 2 else kept).rstrip() + "…"


def without_links(text: str, at_most: int) -> str:
    """Return `text` shortened, with spaces for characters that form links: dots, `/`, `:`, `@`.

    A dot at the end of a word forms no link, and is kept.
    """
    return shortened(_IN_A_LINK.sub(" ", normalized(_encodable(text))), at_most)


def normalized(text: str) -> str:
    """Return `text` with one form for all variants of dots, digits and letters."""
    return _DOTS.sub(".", unicodedata.normalize("NFKC", text))


def _encodable(text: str) -> str:
    # JSON may contain half of a surrogate pair. An email cannot.
    return text.encode("utf-8", "replace").decode()


def quantity(count: int, one: str, many: str) -> str:
    """Return `count` with the noun in the right number, such as `1 email` or `2,000 emails`."""
    return f"{count:,} {one if count == 1 else many}"
