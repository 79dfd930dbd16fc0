"""The links in a mail to the preferences of its recipient."""

import functools
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from functions.clock import Clock
from functions.links.link import IN_A_MAIL
from functions.links.token import MAX_LENGTH, Scope, TokenKeys

if TYPE_CHECKING:
    from functions.adapters import SecretReader

_TOKEN: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_LENGTH}}}")
"""The characters of a token; no other text is copied into a link."""


@dataclass(frozen=True, slots=True)
class PreferencesLinks:
    """The two links for one recipient.

    `page` is for people. Its token stands in the fragment, which a browser does not send.
    `one_click` is for the header `List-Unsubscribe`: mail programs POST to it (RFC 8058), and
    a person who opens it is asked on the page.
    """

    page: str
    one_click: str

    @classmethod
    def to(cls, base_url: str, keys: TokenKeys, uid: str, box: str, now: datetime) -> Self:
        """The links on the site `base_url` in a mail sent `now`.

        `uid` is the account that has the address, or the record of the address; `box` is the record
        of the mailbox (design 3.54).
        """
        one_click = keys.issue(uid, now, Scope.UNSUBSCRIBE, box=box)
        return cls(
            page=page_link(base_url, keys.issue(uid, now, box=box)),
            one_click=one_click_link(base_url, one_click),
        )

    @classmethod
    def of_nobody(cls, base_url: str) -> Self:
        """Links without a token, for a mail that is shown to another person than its recipient."""
        return cls(page=page_link(base_url, ""), one_click=one_click_link(base_url, ""))


@dataclass(frozen=True, slots=True)
class LinkSigner:
    """Signs the links in mails with the newest key (design 3.57).

    Attributes:
        secrets: Has the versions of `EMAIL_PREFS_KEY`.
        base_url: The site that the links lead to.
    """

    secrets: "SecretReader"
    base_url: str
    clock: Clock

    def check(self) -> TokenKeys:
        """The keys.

        Raises:
            WeakKeyError: a version of the key is too short.
            Exception: the key is missing, or Secret Manager could not be reached.
        """
        return _token_keys(self.secrets.versions(IN_A_MAIL.key))

    def sign(self, uid: str, box: str) -> PreferencesLinks:
        """The links in a mail of this moment; see `PreferencesLinks.to`, and `check` for errors."""
        return PreferencesLinks.to(self.base_url, self.check(), uid, box, self.clock.now())

    def of_nobody(self) -> PreferencesLinks:
        """Links without a token."""
        return PreferencesLinks.of_nobody(self.base_url)


_token_keys = functools.lru_cache(maxsize=1)(TokenKeys)


def page_link(base_url: str, token: str) -> str:
    """Link to the preferences page for `token`."""
    return _page(base_url, "token", token)


def one_click_link(base_url: str, token: str) -> str:
    """The value of `List-Unsubscribe`; `token` has the scope `UNSUBSCRIBE`."""
    return f"{base_url.rstrip('/')}/unsubscribe?token={token}"


def confirmation_link(base_url: str, token: str) -> str:
    """Link to the page that asks a person who opened a one-click link with `token`."""
    return _page(base_url, "unsubscribe", token)


def _page(base_url: str, name: str, token: str) -> str:
    """The page's address, without a fragment where `token` cannot be a token."""
    address = f"{base_url.rstrip('/')}/preferences"
    return f"{address}#{name}={token}" if _TOKEN.fullmatch(token) else address
