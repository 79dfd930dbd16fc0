"""The organizer's paragraph in HTML, with its line breaks, and its links in full."""

import re
from typing import Final

from markupsafe import Markup, escape

from functions.recap.audience.photos import web_address

_LINK: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_AFTER_A_LINK: Final = ".,;:!?…)]}'»”\u2019"


def linked(paragraph: str) -> Markup:
    """`paragraph` escaped, with `<br>` for line breaks, and its web addresses as links."""
    parts, end = [], 0
    for found in _LINK.finditer(paragraph):
        address = found[0].rstrip(_AFTER_A_LINK)
        if web_address(address) is None:
            continue
        parts += [escape(paragraph[end : found.start()]), _anchor(address)]
        end = found.start() + len(address)
    parts.append(escape(paragraph[end:]))
    return Markup("").join(parts).replace("\n", Markup("<br>\n"))


def _anchor(address: str) -> Markup:
    return Markup('<a href="%s" style="color:#1f5fbf">%s</a>') % (address, address)
