"""E-mail addresses as guests type them, and the forms in which they are compared (design 3.52)."""

import hashlib


def normalised(email: str) -> str:
    """The form in which addresses are compared: trimmed and case-folded."""
    return email.strip().casefold()


def guest_uid(guest_id: str) -> str:
    """Id of the user record of an address, with or without an account (design 3.53)."""
    return f"guest-{guest_id}"


def address_hash(address: str) -> str:
    """First 32 hex digits of SHA-256 of a normalised address, by which records know a guest."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]
