"""The look of a mail: its colours, photos as pictures and links, and the organizer's paragraph."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from markupsafe import Markup, escape

from functions.recap.audience.photos import Picture, web_address

_LINK: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_AFTER_A_LINK: Final = ".,;:!?…)]}'»”\u2019"
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def linked(paragraph: str, colour: str) -> Markup:
    """`paragraph` escaped, with `<br>` for line breaks, and its web addresses as links."""
    parts, end = [], 0
    for found in _LINK.finditer(paragraph):
        address = _without_punctuation(found[0])
        if web_address(address) != address:
            continue
        parts += [escape(paragraph[end : found.start()]), _anchor(address, colour)]
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


def _anchor(address: str, colour: str) -> Markup:
    return Markup('<a href="%s" style="color:%s">%s</a>') % (address, colour, address)


FULL_SIZE_PICTURES: Final = 8
"""In one mail; an original, shown where no smaller picture exists, has some 4 MB."""


class Layout(NamedTuple):
    """The photos of a mail, in order: those shown as pictures, and the links behind them."""

    pictures: Sequence[Picture]
    links: Sequence[Picture]


class Cell(NamedTuple):
    """A picture in a row, with its alternative text; `wide` where it takes the whole row."""

    picture: Picture
    alt: str
    wide: bool


def layout(pictures: Sequence[Picture], *, oldest_first: bool, step: int = 0) -> Layout:
    """Layout number `step` of a series that shrinks.

    Step 0 shows all photos, with links in place of originals after the first few. Each further step
    turns one more picture into a link; then each step drops one photo.

    Args:
        pictures: The best or newest first.
        oldest_first: Whether the order is turned round.
        step: From 0 on.
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
    """Number of steps after which no photo is left."""
    return len(pictures) + max(len(pictures) - FULL_SIZE_PICTURES, 0)


def rows(pictures: Sequence[Picture], alts: Sequence[str]) -> Sequence[Sequence[Cell]]:
    """The first picture, five more, and all others.

    Two pictures stand side by side, so the last of an odd number is wide.
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
    """Tags of one message; `html` and `text` have the same names and never the same tag."""

    NAMES: Final = ("greeting", "first", "photos", "preferences")

    def __init__(self, word: str) -> None:
        """`word` is unguessable, and in no other message."""
        self._word = word
        self._numbers = itertools.count()
        self.html = {name: self.new() for name in self.NAMES}
        self.text = {name: self.new() for name in self.NAMES}

    def new(self) -> str:
        """A further tag."""
        return f"%{self._word}-{next(self._numbers)}%"


@dataclass(frozen=True, slots=True)
class SharedLayout:
    """The layout of several mails with equally many pictures and links.

    An address consists of the beginning that all have, and an end for which a tag stands. One tag
    serves the HTML and the plain part.

    Attributes:
        photos: The layout with tags.
        tags: The tags, in order.
        thumbs: Length of the beginning of all shown pictures' addresses.
        urls: Length of the beginning of all links.
    """

    photos: Layout
    tags: Sequence[str]
    thumbs: int
    urls: int

    @classmethod
    def of(cls, layouts: Sequence[Layout], tags: Tags) -> Self:
        """The common layout of at least one mail."""
        thumb = _beginning(shown.thumb for photos in layouts for shown in photos.pictures)
        url = _beginning(shown.url for photos in layouts for part in photos for shown in part)
        pictures, links = layouts[0]
        slots = Layout(
            [Picture(thumb + tags.new(), url + tags.new()) for _ in pictures],
            [Picture("", url + tags.new()) for _ in links],
        )
        return cls(slots, _ends(slots, len(thumb), len(url)), len(thumb), len(url))

    def values(self, photos: Layout) -> dict[str, str]:
        """The ends of the addresses, by tag."""
        return dict(zip(self.tags, _ends(photos, self.thumbs, self.urls), strict=True))


def _ends(photos: Layout, thumbs: int, urls: int) -> list[str]:
    pictures, links = photos
    shown = [end for picture in pictures for end in (picture.thumb[thumbs:], picture.url[urls:])]
    return shown + [link.url[urls:] for link in links]


def _beginning(addresses: Iterable[str]) -> str:
    """The longest beginning that all addresses have."""
    addresses = list(addresses)
    # The first and the last in order have the shortest common beginning.
    first, last = min(addresses, default=""), max(addresses, default="")
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return first[: len(list(same))]


MIN_CONTRAST: Final = 4.5
"""Of text: https://www.w3.org/TR/WCAG22/#contrast-minimum"""

_COLOUR: Final = re.compile("#[0-9A-Fa-f]{6}")

_SHADES: Final = 20
"""Steps from a color to white."""


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one mail: the event's accent, where people can read it.

    Contrast is that of WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio

    Attributes:
        accent: The event's own colour, for the button; None where the event has none.
        on_accent: The text on it, black or white.
    """

    accent: str | None = None
    on_accent: str = "#ffffff"

    @classmethod
    def of(cls, accent: str | None) -> Self:
        """The colours with `accent`, as the event has it; a text of another form counts as none."""
        if not accent or not _COLOUR.fullmatch(accent):
            return cls()
        return cls(accent, max("#000000", "#ffffff", key=lambda text: contrast(text, accent)))

    def link(self, background: str, usual: str = "#1f5fbf") -> str:
        """Return the accent for a link on `background`, or `usual` if that is hard to read."""
        accent = self.accent
        return accent if accent and contrast(accent, background) >= MIN_CONTRAST else usual

    def dark_link(self, background: str, usual: str = "#8ab4ff") -> str:
        """Return the accent for a link on a dark `background`, as much lighter as a reader needs.

        Without an accent, `usual` is returned.
        """
        if not self.accent:
            return usual
        shades = (_lighter(self.accent, step / _SHADES) for step in range(_SHADES + 1))
        return next(shade for shade in shades if contrast(shade, background) >= MIN_CONTRAST)


def _lighter(colour: str, share: float) -> str:
    """Return `colour` mixed with this `share` of white."""
    if not share:
        return colour
    parts = [round(part + (255 - part) * share) for part in bytes.fromhex(colour[1:])]
    return f"#{bytes(parts).hex()}"


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `#rrggbb`, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in bytes.fromhex(colour[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004
