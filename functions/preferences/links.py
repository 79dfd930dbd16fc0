"""The links in a mail that lead to the preferences of its recipient."""

import re
from dataclasses import dataclass
from typing import Final, Self

from functions.preferences.token import MAX_LENGTH

# What a token is made of; nothing else is ever copied into an address.
_TOKEN: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class PreferencesLinks:
    """Two addresses for one recipient.

    `page` is for people. Its token stands in the fragment, which a browser sends to nobody.
    `one_click` is for the header `List-Unsubscribe`; mail programs POST to it (RFC 8058), and
    whoever opens it is led to the page.
    """

    page: str
    one_click: str

    @classmethod
    def to(cls, base_url: str, token: str) -> Self:
        """The links on the site `base_url` for the user that `token` stands for."""
        return cls(
            page=page_link(base_url, token),
            one_click=f"{base_url.rstrip('/')}/unsubscribe?token={token}",
        )


def page_link(base_url: str, token: str) -> str:
    """Address of the page on the site `base_url`; without what can be no token."""
    page = f"{base_url.rstrip('/')}/preferences"
    return f"{page}#token={token}" if _TOKEN.fullmatch(token) else page
