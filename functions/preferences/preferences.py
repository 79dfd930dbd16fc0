"""E-mail preferences: which mails a user wants (spec 2.3), and how a user record tells.

A flag is off only where the record says `false`, nothing else: whoever never chose, and whoever has
no record at all, gets every mail (design 3).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

FIELD: Final = "emailPreferences"
"""Field of the user record that holds the flags."""


class Flag(StrEnum):
    """What can be turned off; transactional mail cannot."""

    LIFECYCLE = "lifecycle"
    RECAP = "recap"
    MARKETING = "marketing"


TRANSACTIONAL: Final = "transactional"

CHOICES_EXAMPLE: Final = '{"recap": false}'


class InvalidChoicesError(ValueError):
    """What was sent are no choices; the message says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailPreferences:
    """The flags of one user."""

    lifecycle: bool = True
    recap: bool = True
    marketing: bool = True

    @classmethod
    def read(cls, record: Mapping[str, Any] | None) -> Self:
        """The flags of the user record `record`; None stands for no record."""
        stored = (record or {}).get(FIELD)
        if not isinstance(stored, Mapping):
            return cls()
        return cls(**{flag.value: stored.get(flag.value) is not False for flag in Flag})

    def on_wire(self) -> dict[str, bool]:
        """The `preferences` of a response (spec 4.2)."""
        return {
            "lifecycle": self.lifecycle,
            TRANSACTIONAL: True,
            "recap": self.recap,
            "marketing": self.marketing,
        }


def opted_out_of_recap(record: Mapping[str, Any] | None) -> bool:
    """Whether the user of `record` gets no recap: recap or lifecycle is off (spec 4.1, rule 3)."""
    preferences = EmailPreferences.read(record)
    return not (preferences.recap and preferences.lifecycle)


def email_address(record: Mapping[str, Any] | None) -> str:
    """The address of the user record `record`; empty where there is none (spec 4.2)."""
    email = (record or {}).get("email")
    return email if isinstance(email, str) else ""


def read_choices(data: object) -> dict[Flag, bool]:
    """The flags to change and what to change them to, from `{"recap": false, …}`.

    Raises:
        InvalidChoicesError: a flag is unknown or cannot be changed, a value is no boolean, or there
            is nothing to change.
    """
    if not isinstance(data, Mapping) or not data:
        raise InvalidChoicesError(f"preferences must be an object such as {CHOICES_EXAMPLE}.")
    if TRANSACTIONAL in data:
        raise InvalidChoicesError("The flag transactional cannot be turned off; leave it out.")
    if not set(data) <= set(Flag):
        raise InvalidChoicesError(f"preferences may name only the flags {', '.join(Flag)}.")
    if not all(isinstance(value, bool) for value in data.values()):
        raise InvalidChoicesError("Every flag must be true or false.")
    return {Flag(name): value for name, value in data.items()}
