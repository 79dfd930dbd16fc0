"""The colours of the recap mail: the event's accent, where people can read it.

Contrast is that of WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
"""

import re
from dataclasses import dataclass
from typing import Final, Self

MIN_CONTRAST: Final = 4.5
"""Of text: https://www.w3.org/TR/WCAG22/#contrast-minimum"""

_COLOUR: Final = re.compile("#[0-9A-Fa-f]{6}")


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one mail.

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
        """The accent for a link on `background`; `usual` without an accent that can be read."""
        accent = self.accent
        return accent if accent and contrast(accent, background) >= MIN_CONTRAST else usual


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `#rrggbb`, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in bytes.fromhex(colour[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004
