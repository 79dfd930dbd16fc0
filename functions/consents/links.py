"""The links in a notice, and in the mail that asks whether notices are wanted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from functions.signed_links.token import Scope, TokenKeys


@dataclass(frozen=True, slots=True)
class Links:
    """Two addresses about one consent.

    `confirm` is a page; browsers send its fragment to nobody. `end` is for `List-Unsubscribe`: mail
    programs POST to it (RFC 8058), and a person who opens it is asked on the page.
    """

    confirm: str
    end: str

    @classmethod
    def to(cls, base_url: str, keys: TokenKeys, consent_id: str, now: datetime) -> Self:
        """The links on the site `base_url`, in a mail that leaves `now`."""
        site = base_url.rstrip("/")
        confirm, end = (
            keys.sign((consent_id,), now + scope.lifetime, scope)
            for scope in (Scope.NOTICES, Scope.END_NOTICES)
        )
        return cls(
            confirm=f"{site}/notices#confirm={confirm}",
            end=f"{site}/unsubscribe?of=notices&token={end}",
        )
