"""E-mail addresses as guests type them, and the forms in which they are compared (design 3.52)."""

import hashlib
import re
from typing import Final

_GUEST_UID: Final = re.compile(r"guest-[0-9a-f]{32}")

_GMAIL: Final = ("gmail.com", "googlemail.com")


def normalised(email: str) -> str:
    """The form in which addresses are compared: trimmed and case-folded."""
    return email.strip().casefold()


def mailbox(email: str) -> str:
    """The mailbox of an address, by which opt-outs, limits and complaints count (design 3.52).

    Mails to `ann+party@example.com` reach `ann@example.com`; Gmail leaves out dots as well.
    """
    local, at, domain = normalised(email).rpartition("@")
    local = local.partition("+")[0] or local
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), _GMAIL[0]
    return f"{local}{at}{domain}"


def guest_uid(guest_id: str) -> str:
    """Id of the user record of an address, with or without an account (design 3.53)."""
    return f"guest-{guest_id}"


def is_guest_uid(uid: str) -> bool:
    """Whether `uid` is that of an address; an app may call its own users `guest-42`."""
    return bool(_GUEST_UID.fullmatch(uid))


def address_hash(address: str) -> str:
    """First 32 hex digits of SHA-256 of a normalised address, by which records know a guest."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]


def deliverable(email: str) -> str | None:
    """`email` with its domain in ASCII; None where the syntax is not valid."""
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415 - a cold start

    try:
        # Without DNS: 5000 look-ups take longer than the mails.
        checked = validate_email(
            email, check_deliverability=False, allow_smtputf8=False, strict=True
        )
    except EmailNotValidError:
        return None
    return checked.ascii_email
