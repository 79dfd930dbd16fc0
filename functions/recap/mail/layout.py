"""The look of an email: its colors, photos as pictures and links, and the organizer's paragraph."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from markupsafe import Markup, escape

from functions.recap.audience.photos import Picture, web_address

_LINK: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_AFTER_A_LINK: Final = ".,;:!?…)]}'»”\u2019"
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def linked(paragraph: str, color: str) -> Markup:
    """Return `paragraph` escaped, with `<br>` for line breaks, and its web addresses as links."""
    parts, end = [], 0
    for found in _LINK.finditer(paragraph):
        address = _without_punctuation(found[0])
        if web_address(address) != address:
            continue
        parts += [escape(paragraph[end : found.start()]), _anchor(address, color)]
        end = found.start() + len(address)
    parts.append(escape(paragraph[end:]))
    return Markup("").join(parts).replace("\n", Markup("<br>\n"))


def _without_punctuation(address: str) -> str:
    """Return `address` without the punctuation of the sentence, but with its balanced brackets."""
    while address and (last := address[-1]) in _AFTER_A_LINK:
        opening = _BRACKETS.get(last)
        if opening and address.count(opening) >= address.count(last):
            break
        address = address[:-1]
    return address


def _anchor(address: str, color: str) -> Markup:
    return Markup('<a href="%s" style="color:%s">%s</a>') % (address, color, address)


FULL_SIZE_PICTURES: Final = 8
"""Maximum in one email. An original, shown if no smaller picture exists, has about 4 MB."""


class Layout(NamedTuple):
    """The photos of an email in order: the pictures, and after them the links."""

    pictures: Sequence[Picture]
    links: Sequence[Picture]


class Cell(NamedTuple):
    """A picture in a row with its alternative text. A `wide` picture fills the row."""

    picture: Picture
    alt: str
    wide: bool


def layout(pictures: Sequence[Picture], *, oldest_first: bool, step: int) -> Layout:
    """Return layout number `step` of a shrinking series.

    Step 0 shows all photos, with links in place of originals after the first few. Each further step
    turns one more picture into a link. After that, each step drops one photo.

    Args:
        pictures: The pictures, best or newest first.
        oldest_first: Whether the order is reversed.
        step: Number of the step, from 0.
    """
    made_links = min(step, max(len(pictures) - FULL_SIZE_PICTURES, 0))
    kept = pictures[: len(pictures) + made_links - step]
    at_most = min(len(pictures) - made_links, len(kept))
    shown: list[Picture] = []
    links: list[Picture] = []
    originals = 0
    for picture in kept[:: -1 if oldest_first else 1]:
        originals += picture.is_shown and not picture.small
        fits = (
            picture.is_shown
            and len(shown) < at_most
            and (picture.small or originals <= FULL_SIZE_PICTURES)
        )
        (shown if fits else links).append(picture)
    return Layout(shown, links)


def steps(pictures: Sequence[Picture]) -> int:
    """Return the number of steps until no photo remains."""
    return len(pictures) + max(len(pictures) - FULL_SIZE_PICTURES, 0)


def rows(pictures: Sequence[Picture], alts: Sequence[str]) -> Sequence[Sequence[Cell]]:
    """Arrange the pictures in rows: the first picture, five more, and all others.

    A line of the email has two pictures, so the last of an odd number is wide.
    """
    cells = list(zip(pictures, alts, strict=True))
    return [
        [
            Cell(picture, alt, wide=len(row) % 2 == 1 and number == len(row))
            for number, (picture, alt) in enumerate(row, start=1)
        ]
        for row in (cells[:1], cells[1:6], cells[6:])
        if row
    ]


class Tags:
    """Tags of one message. `html` and `text` have the same names and different tags."""

    NAMES: Final = ("greeting", "first", "photos", "preferences")

    def __init__(self, word: str) -> None:
        """Create the tags from `word`, which is unguessable and unique to the message."""
        numbers = itertools.count()
        self.html = {name: f"%{word}-{next(numbers)}%" for name in self.NAMES}
        self.text = {name: f"%{word}-{next(numbers)}%" for name in self.NAMES}


MIN_CONTRAST: Final = 4.5
"""Minimum contrast of text: https://www.w3.org/TR/WCAG22/#contrast-minimum"""

_COLOR: Final = re.compile("#[0-9A-Fa-f]{6}")

_SHADES: Final = 20
"""Steps from a color to white."""


@dataclass(frozen=True, slots=True)
class Colors:
    """The colors of one email, with the event's accent if it is readable.

    Contrast is defined by WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio

    Attributes:
        accent: The event's own color for the button, or None if the event has none.
        on_accent: The color of text on it, black or white.
    """

    accent: str | None = None
    on_accent: str = "#ffffff"

    @classmethod
    def of(cls, accent: str | None) -> Self:
        """Return the colors with the event's `accent`, which is ignored if it is malformed."""
        if not accent or not _COLOR.fullmatch(accent):
            return cls()
        return cls(accent, max("#000000", "#ffffff", key=lambda text: contrast(text, accent)))

    def link(self, background: str, usual: str = "#1f5fbf") -> str:
        """Return the accent for a link on `background`, or `usual` if that is hard to read."""
        accent = self.accent
        return accent if accent and contrast(accent, background) >= MIN_CONTRAST else usual

    def dark_link(self, background: str, usual: str = "#8ab4ff") -> str:
        """Return the accent for a link on a dark `background`, lightened until it is readable.

        Without an accent, `usual` is returned.
        """
        if not self.accent:
            return usual
        shades = (_lighter(self.accent, step / _SHADES) for step in range(_SHADES + 1))
        return next(shade for shade in shades if contrast(shade, background) >= MIN_CONTRAST)


def _lighter(color: str, share: float) -> str:
    """Return `color` mixed with this `share` of white."""
    if not share:
        return color
    parts = [round(part + (255 - part) * share) for part in bytes.fromhex(color[1:])]
    return f"#{bytes(parts).hex()}"


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors `#rrggbb`, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(part / 255) for part in bytes.fromhex(color[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004
