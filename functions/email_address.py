"""Email addresses: comparison and validation (design 3.52)."""

import functools
import hashlib
import re
import unicodedata
from typing import Final

_GUEST_UID: Final = re.compile(r"guest-[0-9a-f]{32}")

_GMAIL: Final = ("gmail.com", "googlemail.com")

_LONGEST: Final = 320
"""Maximum characters of an address in any form. Longer texts are not parsed."""

_UPPER_TO_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def trimmed(text: str) -> str:
    """Return `text` without spaces and invisible format characters at both ends.

    Apps and keyboards add such characters: a byte order mark, a zero-width space, a text direction.
    """
    start, end = 0, len(text)
    while start < end and _is_blank(text[start]):
        start += 1
    while start < end and _is_blank(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_blank(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cf"


def identity(email: str) -> str:
    """Return the form in which addresses are compared, the same for two spellings of one address.

    The domain is in ASCII by UTS #46, as in `deliverable`. ASCII letters are lowercase, and other
    characters stay as they are. An invalid address never has the identity of a valid address.
    """
    text = trimmed(email)
    if text.isascii():
        return text.lower()
    return _beyond_ascii(text) if len(text) <= _LONGEST else text.translate(_UPPER_TO_LOWER)


# A guest's photos all have the same address, and parsing the address takes longer than the photo.
@functools.lru_cache(maxsize=1024)
def _beyond_ascii(text: str) -> str:
    if address := deliverable(text):
        return address.lower()
    local, at, domain = text.rpartition("@")
    # With an ASCII local part, the result could be equal to a valid address of the domain.
    if not local.isascii() and (in_ascii := deliverable(f"a@{domain}")):
        domain = in_ascii.rpartition("@")[2]
    return f"{local}{at}{domain}".translate(_UPPER_TO_LOWER)


def spellings(email: str) -> set[str]:
    """Return the identity of an address with its domain in ASCII and in Unicode.

    Other records may have either form.
    """
    own = identity(email)
    local, at, domain = own.rpartition("@")
    if "xn--" not in domain:
        return {own}
    import idna  # noqa: PLC0415 - a cold start

    try:
        return {own, f"{local}{at}{idna.decode(domain)}"}
    except idna.IDNAError:
        return {own}


def mailbox(email: str) -> str:
    """Return the mailbox that email to the address probably reaches.

    Email to `ann+party@example.com` reaches `ann@example.com`. Gmail also ignores dots. This is a
    guess, so it only limits the emails of one recap and finds the opt-outs of earlier releases.
    """
    local, at, domain = identity(email).rpartition("@")
    local = local.partition("+")[0] or local
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), _GMAIL[0]
    return f"{local}{at}{domain}"


def guest_uid(guest_id: str) -> str:
    """Return the ID of the user record of an address, with or without an account (design 3.53)."""
    return f"guest-{guest_id}"


def is_guest_uid(uid: str) -> bool:
    """Return whether `uid` is the ID of an address record. Apps may have users like `guest-42`."""
    return bool(_GUEST_UID.fullmatch(uid))


def record_id(email: str) -> str:
    """Return the ID of the user record of the address `email`, in any spelling."""
    return guest_uid(address_hash(identity(email)))


def mailbox_record_id(email: str) -> str:
    """Return the ID of the record in which earlier releases kept the choices of the mailbox."""
    return guest_uid(address_hash(mailbox(email)))


def address_hash(address: str) -> str:
    """Return the first 32 hex digits of the SHA-256 of an identity, which identify a guest."""
    return hashlib.sha256(address.encode(errors="surrogatepass")).hexdigest()[:32]


def deliverable(email: str) -> str | None:
    """Return `email`, trimmed and with its domain in ASCII, or None if the syntax is invalid."""
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415 - a cold start

    email = trimmed(email)
    if len(email) > _LONGEST:
        return None
    try:
        # Without DNS: 5,000 lookups take longer than the emails.
        checked = validate_email(
            email, check_deliverability=False, allow_smtputf8=False, strict=True
        )
    except EmailNotValidError:
        return None
    return checked.ascii_email
