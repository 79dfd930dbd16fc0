"""Kinds of signed links, and the links in an email."""

import functools
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from urllib.parse import parse_qs, unquote

from functions.call.errors import CallError, Code
from functions.links.token import MAX_LENGTH, InvalidTokenError, Scope, TokenKeys
from functions.ports import Clock, SecretReader
from functions.rate_limit import MAX_CALLS


@dataclass(frozen=True, slots=True)
class Link:
    """A kind of link.

    All errors about invalid links have the same text, so that they do not reveal the reason
    (spec 5).

    Attributes:
        name: Name of the link in error messages.
        instead: Instruction for the bearer of an invalid link.
        scope: Scope of the tokens.
        key: Name of the secret with the keys. Every enabled version verifies tokens.
        calls_an_hour: Rate limit per client IP address and function.
    """

    name: str
    instead: str
    scope: Scope
    key: str
    calls_an_hour: int = MAX_CALLS

    @property
    def not_valid(self) -> CallError:
        """Error for an invalid token."""
        message = f"This link is invalid or has expired. {self.instead}."
        return CallError(Code.PERMISSION_DENIED, message)

    def token(self, data: object) -> str:
        """Return the token in the arguments of a call, without verifying it.

        Raises:
            CallError: `invalid-argument` if the token is missing or too long (spec 7.2).
        """
        token = data.get("token") if isinstance(data, Mapping) else None
        if not isinstance(token, str) or not token:
            raise CallError(Code.INVALID_ARGUMENT, f"token must be the token of {self.name}.")
        if len(token) > MAX_LENGTH:
            raise CallError(
                Code.INVALID_ARGUMENT, f"token must have at most {MAX_LENGTH} characters."
            )
        return token

    def sign(self, secrets: SecretReader, ids: Sequence[str], expires: datetime) -> str:
        """Return a token about `ids` that is valid until `expires`. See `TokenKeys` for errors."""
        return TokenKeys(secrets.versions(self.key)).sign(ids, expires, self.scope)

    def verify(self, secrets: SecretReader, token: str, now: datetime) -> tuple[str, ...]:
        """Return the IDs in `token` (see `TokenKeys.verify`).

        Raises:
            CallError: The token is not valid.
            WeakKeyError: A version of the key is too short.
            Exception: Secret Manager is unavailable.
        """
        # After a rotation, another process may sign with a version that this process has not read.
        for fresh in (False, True):
            keys = token_keys(secrets.versions(self.key, fresh=fresh))
            with suppress(InvalidTokenError):
                return keys.verify(token, now, self.scope)
        raise self.not_valid


PREFERENCES_LINK: Final = Link(
    "a link in an email",
    "Use the link in a more recent email",
    Scope.PREFERENCES,
    "EMAIL_PREFS_KEY",
)
UNSUBSCRIBE_LINK: Final = replace(PREFERENCES_LINK, scope=Scope.UNSUBSCRIBE)
DELIVERY_LOG_LINK: Final = Link(
    "a link to a delivery log",
    "Ask its sender for a new link",
    Scope.WEBHOOK_LOG,
    "LOG_LINKS_KEY",
    calls_an_hour=120,  # developers of receivers reload the log after each change
)


@dataclass(frozen=True, slots=True)
class PreferencesLinks:
    """The two links of an email to its recipient's preferences.

    `page` opens the preferences page. Its token is in the fragment, which browsers do not send.
    `one_click` is the URL in the header `List-Unsubscribe`. Email clients POST to it (RFC 8058). If
    a person opens the URL, the page asks for confirmation.
    """

    page: str
    one_click: str


@dataclass(frozen=True, slots=True)
class LinkSigner:
    """Signer of the links in emails to pages of the site `base_url` (design 3.57).

    `secrets` reads the versions of the key `EMAIL_PREFS_KEY`. The newest version signs.
    """

    secrets: SecretReader
    base_url: str
    clock: Clock

    def check(self) -> TokenKeys:
        """Check that the service can sign links, and return the keys.

        Raises:
            WeakKeyError: A version of the key is too short.
            Exception: The key is missing, or Secret Manager is unavailable.
        """
        return token_keys(self.secrets.versions(PREFERENCES_LINK.key))

    def sign(self, uid: str, account: str | None = None) -> PreferencesLinks:
        """Return links for an email that is sent now. See `check` for errors.

        Args:
            uid: ID of the user record of the recipient's address.
            account: ID of an account with the address, if there is one (design 3.54).
        """
        keys, now = self.check(), self.clock.now()
        one_click = keys.issue(uid, now, Scope.UNSUBSCRIBE, account=account)
        return PreferencesLinks(
            page=page_link(self.base_url, keys.issue(uid, now, account=account)),
            one_click=one_click_link(self.base_url, one_click),
        )

    def unsigned(self) -> PreferencesLinks:
        """Return links without a token, for an email that is shown to someone else."""
        return PreferencesLinks(page_link(self.base_url, ""), one_click_link(self.base_url, ""))


token_keys = functools.lru_cache(maxsize=1)(TokenKeys)

_TOKEN: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_LENGTH}}}")
"""Pattern of a token. No other text is copied into a link."""


def page_link(base_url: str, token: str) -> str:
    """Return the link to the preferences page for `token`."""
    return _page(base_url, "token", token)


def one_click_link(base_url: str, token: str) -> str:
    """Return the URL in `List-Unsubscribe`. `token` has the scope `UNSUBSCRIBE`."""
    return f"{base_url.rstrip('/')}/unsubscribe?token={token}"


def confirmation_link(base_url: str, token: str) -> str:
    """Return the link to the page that asks for confirmation of a one-click link."""
    return _page(base_url, "unsubscribe", token)


def token_in_query(query: str) -> str:
    """Return the token in the query of a one-click link, or "" if it has none.

    Email gateways rewrite links, so `token%3D…` and `%3Ftoken=…` are read, too. Decoding does not
    change a token, because none of its characters needs an encoding.
    """
    while query != (decoded := unquote(query)):
        query = decoded
    return parse_qs(query.lstrip("?#")).get("token", [""])[0]


def _page(base_url: str, name: str, token: str) -> str:
    """Return the URL of the page, without a fragment if `token` is malformed."""
    address = f"{base_url.rstrip('/')}/preferences"
    return f"{address}#{name}={token}" if _TOKEN.fullmatch(token) else address
