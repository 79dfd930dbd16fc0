"""Renders the photos of an email so that they fit into a number of bytes.

Guests with equally many photos share the rendered markup, in which only the addresses differ.
"""

import bisect
import functools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from markupsafe import escape

from functions.mail.translation import Texts, templates_in
from functions.recap.audience.photos import Picture
from functions.recap.mail.layout import Colors, Layout, layout, rows, steps

TEMPLATES: Final = templates_in(Path(__file__).parent / "templates")

MIN_TEXT_LINKS: Final = 5
"""Photos that the plain part links to, as long as the HTML has room for so many."""

_ADDRESS: Final = "\0"
"""Place of an address in the markup of photos. Guests with equally many photos share the markup."""

_MARKUPS_KEPT: Final = 200
"""Markups of photos that are kept. A usual recap has fewer, and each has at most 30 KB."""

_in_json: Final = json.JSONEncoder().encode
"""Encodes a text as `json.dumps` does, and faster."""

_SEPARATOR: Final = 2
"""Bytes between the texts of an object in JSON."""

Size: TypeAlias = Callable[[str], int]
"""Measures a text in bytes: `in_bytes` or `json_bytes`."""


class Photos(NamedTuple):
    """The photos of an email: in the plain part, and in HTML the first photo and the others."""

    text: str
    first: str
    html: str


class PhotoRenderer:
    """Renders the photos of all emails of one recap."""

    def __init__(
        self, texts: Texts, colors: Colors, *, is_personal: bool, gallery_url: str | None
    ) -> None:
        """Prepare the rendering.

        Args:
            texts: The texts in the language of the emails.
            colors: The colors of the emails.
            is_personal: Whether each guest gets their own photos, oldest first.
            gallery_url: Address of a link between the photos.
        """
        self._texts, self._colors = texts, colors
        self._is_personal, self._gallery_url = is_personal, gallery_url
        kept = functools.lru_cache(_MARKUPS_KEPT)
        self._html_markup = kept(self._rendered_html)
        self._text_markup = kept(self._rendered_text)
        self._markup_size = kept(_size_without_addresses)

    def render(
        self,
        pictures: Sequence[Picture],
        count: int,
        *,
        size: Size,
        at_most: int,
    ) -> Photos:
        """Render the pictures that fit into `at_most` bytes, and the number of the others.

        The plain part gets the room that the HTML leaves, and at least `MIN_TEXT_LINKS` links. In
        HTML, pictures that do not fit become links first, and are omitted next. If no photo fits,
        the sentence with the number remains.
        """
        photos = self._layout(pictures, 0)
        left = at_most - self._html_size(photos, count, size)
        urls = _urls(photos)
        if self._text_size(urls, count, size) > left:
            if not self._has_text_links(photos, count, size, left):
                # The first layouts are the largest: look for the first that fits.
                step = bisect.bisect(
                    range(steps(pictures)),
                    0,
                    lo=1,
                    key=lambda step: self.fits(
                        pictures, count, size=size, at_most=at_most, step=step
                    ),
                )
                photos = self._layout(pictures, step)
                left = at_most - self._html_size(photos, count, size)
                urls = _urls(photos)
            fitting = bisect.bisect(
                range(len(urls) + 1),
                left,
                key=lambda links: self._text_size(urls[:links], count, size),
            )
            urls = urls[: max(fitting - 1, 0)]
        first, others = self._html_markup(len(photos.pictures), len(photos.links), count)
        in_html = iter(str(escape(_ADDRESS.join(_html_addresses(photos)))).split(_ADDRESS))
        return Photos(
            _filled(self._text_markup(len(urls), count), iter(urls)),
            _filled(first, in_html),
            _filled(others, in_html),
        )

    def fits(
        self, pictures: Sequence[Picture], count: int, *, size: Size, at_most: int, step: int = 0
    ) -> bool:
        """Return whether a layout fits with the fewest links in the plain part."""
        photos = self._layout(pictures, step)
        left = at_most - self._html_size(photos, count, size)
        return self._has_text_links(photos, count, size, left)

    def _has_text_links(self, photos: Layout, count: int, size: Size, at_most: int) -> bool:
        """Return whether `at_most` bytes are enough for the fewest links in the plain part."""
        return self._text_size(_urls(photos)[:MIN_TEXT_LINKS], count, size) <= at_most

    def _layout(self, pictures: Sequence[Picture], step: int) -> Layout:
        return layout(pictures, oldest_first=self._is_personal, step=step)

    def _html_size(self, photos: Layout, count: int, size: Size) -> int:
        """Return the size of the HTML without rendering it. Addresses are ASCII."""
        pictures, links = photos
        markup = self._html_markup(len(pictures), len(links), count)
        addresses = escape("".join(_html_addresses(photos)))
        return len(addresses) + sum(self._markup_size(part, size) for part in markup)

    def _text_size(self, urls: Sequence[str], count: int, size: Size) -> int:
        markup = self._text_markup(len(urls), count)
        return len("".join(urls)) + self._markup_size(markup, size)

    def _rendered_html(self, pictures: int, links: int, count: int) -> tuple[str, str]:
        """Render the first photo, and the others, with `_ADDRESS` in place of each address."""
        number, text = self._texts.number, self._texts.text
        names = [
            text("Photo %(number)s", number=number(index))
            for index in range(1, pictures + links + 1)
        ]
        photo = Picture(_ADDRESS, _ADDRESS)
        html = self._rendered(
            "photos.html",
            self._texts.html,
            count,
            rows=rows([photo] * pictures, names[:pictures]),
            links=[(photo, name) for name in names[pictures:]],
            shown=len(names),
        )
        first, _, others = html.partition("\f")
        return first.rstrip(), others.lstrip()

    def _rendered_text(self, links: int, count: int) -> str:
        """Render the plain part with `_ADDRESS` in place of each link."""
        return self._rendered("photos.txt", self._texts, count, urls=[_ADDRESS] * links)

    def _rendered(self, name: str, texts: Texts, count: int, **values: Any) -> str:
        return TEMPLATES.get_template(name).render(
            values,
            count=count,
            own=self._is_personal,
            colors=self._colors,
            gallery_url=self._gallery_url,
            text=texts.text,
            plural=texts.plural,
        )


def _urls(photos: Layout) -> list[str]:
    return [picture.url for picture in (*photos.pictures, *photos.links)]


def _html_addresses(photos: Layout) -> list[str]:
    """Return the addresses in their order in HTML. A picture's link precedes its own address."""
    pictures = [address for picture in photos.pictures for address in (picture.url, picture.thumb)]
    return pictures + [picture.url for picture in photos.links]


def _size_without_addresses(markup: str, size: Size) -> int:
    return size(markup.replace(_ADDRESS, ""))


def _filled(markup: str, addresses: Iterator[str]) -> str:
    """Return `markup` with the next `addresses` in place of `_ADDRESS`."""
    first, *others = markup.split(_ADDRESS)
    return first + "".join(next(addresses) + part for part in others)


def in_bytes(text: str) -> int:
    """Return the size of `text` in a message."""
    return len(text.encode())


def json_bytes(text: str) -> int:
    """Return the size of `text` as a key or value of a JSON object."""
    return len(_in_json(text)) + _SEPARATOR
