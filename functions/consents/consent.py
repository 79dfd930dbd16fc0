"""Whether an address takes a tenant's notices of failing webhooks (design 3.28).

    (nothing) ──▶ asked ──▶ confirmed ──▶ ended
                    └───────────────────────▲

The owner of the address confirms, by the link of the mail that asks. The owner ends notices by the
link of any of these mails, or by a complaint; an address that sends a mail back ends them as well.
Nobody is asked again after the end.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from functions.wall.address import normalised

LABEL: Final = "wall_notice"
"""Label of a notice at the mail service; its value is the id of the consent."""

ASKED_AGAIN_AFTER: Final = timedelta(days=7)
"""The link of the question is good for so long."""


class State(StrEnum):
    """What the owner of an address has said."""

    ASKED = "asked"
    CONFIRMED = "confirmed"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Consent:
    """The record `noticeConsents/{id}`: the state, and since when."""

    state: State
    at: datetime

    def may_be_asked(self, now: datetime) -> bool:
        """Whether the last question has had no answer for long enough."""
        return self.state is State.ASKED and now - self.at >= ASKED_AGAIN_AFTER


@dataclass(frozen=True, slots=True)
class StoredConsent:
    """A consent as it was read, in that version."""

    consent: Consent
    version: Any


def consent_id(tenant_id: str, address: str) -> str:
    """Id of the consent of an address to one tenant's notices; it tells neither of them."""
    # A hash of the tenant is of one length, so that no two pairs make the same text.
    tenant = hashlib.sha256(tenant_id.encode()).hexdigest()
    return hashlib.sha256(f"{tenant} {normalised(address)}".encode()).hexdigest()[:32]
