"""Kinds of links, and the links in an email."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qs, unquote

from functions.call.errors import CallError, Code
from functions.links.token import MAX_LENGTH, Scope, TokenKeys
from functions.ports import Clock, SecretReader
from functions.rate_limit import MAX_CALLS


@dataclass(frozen=True, slots=True)
class Link:
    """A kind of link: its name, how to get a valid one, the scope of its tokens and their key.

    `key` is the name of a secret, each enabled version of which verifies.

    An address has `calls_an_hour` of each function of the link.

    All refusals have the same text, so that it does not reveal the reason (spec 5).
    """

    name: str
    instead: str
    scope: Scope
    key: str
    calls_an_hour: int = MAX_CALLS

    @property
    def not_valid(self) -> CallError:
        """The error for an invalid token."""
        message = f"The link is not valid (any more); {self.instead}."
        return CallError(Code.PERMISSION_DENIED, message)

    def token(self, data: object) -> str:
        """The token in the parameters; it is not verified here.

        Raises:
            CallError: `invalid-argument`, where it is missing or too long (spec 7.2).
        """
        token = data.get("token") if isinstance(data, Mapping) else None
        if not isinstance(token, str) or not token:
            raise CallError(Code.INVALID_ARGUMENT, f"token must be the token of {self.name}.")
        if len(token) > MAX_LENGTH:
            raise CallError(
                Code.INVALID_ARGUMENT, f"token must have at most {MAX_LENGTH} characters."
            )
        return token


IN_A_MAIL: Final = Link(
    "a link in a mail", "use the one in a newer mail", Scope.PREFERENCES, "EMAIL_PREFS_KEY"
)
ONE_CLICK: Final = replace(IN_A_MAIL, scope=Scope.UNSUBSCRIBE)
TO_A_LOG: Final = Link(
    "a link to a delivery log",
    "ask the sender of the link for a new one",
    Scope.WEBHOOK_LOG,
    "LOG_LINKS_KEY",
    calls_an_hour=120,  # the developer of a receiver looks again after each change
)


@dataclass(frozen=True, slots=True)
class PreferencesLinks:
    """The two links in a mail to the preferences of its recipient.

    `page` is for people. Its token stands in the fragment, which a browser does not send.
    `one_click` is for the header `List-Unsubscribe`: mail programs POST to it (RFC 8058), and
    a person who opens it is asked on the page.
    """

    page: str
    one_click: str


@dataclass(frozen=True, slots=True)
class LinkSigner:
    """Signs the links in mails to pages of the site `base_url`, with the newest key (design 3.57).

    `secrets` has the versions of the key.
    """

    secrets: SecretReader
    base_url: str
    clock: Clock

    def check(self) -> TokenKeys:
        """The keys.

        Raises:
            WeakKeyError: a version of the key is too short.
            Exception: the key is missing, or Secret Manager could not be reached.
        """
        return token_keys(self.secrets.versions(IN_A_MAIL.key))

    def sign(self, uid: str, account: str | None = None) -> PreferencesLinks:
        """Return the links in an email of this moment; see `check` for errors.

        `uid` is the record of the address that gets the email, and `account` an account with the
        address (design 3.54).
        """
        keys, now = self.check(), self.clock.now()
        one_click = keys.issue(uid, now, Scope.UNSUBSCRIBE, account=account)
        return PreferencesLinks(
            page=page_link(self.base_url, keys.issue(uid, now, account=account)),
            one_click=one_click_link(self.base_url, one_click),
        )

    def of_nobody(self) -> PreferencesLinks:
        """Links without a token, for a mail that is shown to another person than its recipient."""
        return PreferencesLinks(page_link(self.base_url, ""), one_click_link(self.base_url, ""))


token_keys = functools.lru_cache(maxsize=1)(TokenKeys)

_TOKEN: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_LENGTH}}}")
"""The characters of a token; no other text is copied into a link."""


def page_link(base_url: str, token: str) -> str:
    """Link to the preferences page for `token`."""
    return _page(base_url, "token", token)


def one_click_link(base_url: str, token: str) -> str:
    """The value of `List-Unsubscribe`; `token` has the scope `UNSUBSCRIBE`."""
    return f"{base_url.rstrip('/')}/unsubscribe?token={token}"


def confirmation_link(base_url: str, token: str) -> str:
    """Link to the page that asks a person who opened a one-click link with `token`."""
    return _page(base_url, "unsubscribe", token)


def token_in_query(query: str) -> str:
    """Return the token in the query of a one-click link, or the empty text if it has none.

    Email gateways rewrite links: `token%3D…` and `%3Ftoken=…` are read, too. No character of a
    token needs an encoding, so decoding leaves it as it is.
    """
    while query != (decoded := unquote(query)):
        query = decoded
    return parse_qs(query.lstrip("?#")).get("token", [""])[0]


def _page(base_url: str, name: str, token: str) -> str:
    """The page's address, without a fragment where `token` cannot be a token."""
    address = f"{base_url.rstrip('/')}/preferences"
    return f"{address}#{name}={token}" if _TOKEN.fullmatch(token) else address
