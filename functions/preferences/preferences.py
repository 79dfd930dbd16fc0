"""E-mail preferences: the mails that a user wants (spec 2.3), as stored in the user record.

A flag is off only where the record has the value `false`. A user without a choice or without a
record gets every mail (design 3.53).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from functions.event_arguments import refuse, refuse_unknown

FIELD: Final = "emailPreferences"
"""The field of the user record with the flags."""

CHOSEN_AT: Final = "chosenAt"
"""The field with the time at which the service wrote flags last, for a link or a complaint."""


class Flag(StrEnum):
    """The kinds of mail that can be turned off; transactional mail cannot."""

    LIFECYCLE = "lifecycle"
    RECAP = "recap"
    MARKETING = "marketing"


TRANSACTIONAL: Final = "transactional"


def chosen(record: Mapping[str, Any] | None, flag: Flag) -> bool | None:
    """The choice in the user `record`, which may be missing; None without one."""
    stored = (record or {}).get(FIELD)
    value = stored.get(flag) if isinstance(stored, Mapping) else None
    return value if isinstance(value, bool) else None


def flags(record: Mapping[str, Any] | None) -> dict[Flag, bool]:
    """Whether the user of `record`, which may be missing, wants each kind of mail."""
    return {flag: chosen(record, flag) is not False for flag in Flag}


def on_wire(wanted: Mapping[Flag, bool]) -> dict[str, bool]:
    """The `preferences` of a response (spec 4.2)."""
    return {flag.value: value for flag, value in wanted.items()} | {TRANSACTIONAL: True}


def opted_out_of_recap(wanted: Mapping[Flag, bool]) -> bool:
    """Whether recap or lifecycle mail is off (spec 4.1, rule 3)."""
    return not (wanted[Flag.RECAP] and wanted[Flag.LIFECYCLE])


def email_address(record: Mapping[str, Any] | None) -> str:
    """The address in the user record `record`; empty where it is missing (spec 4.2)."""
    email = (record or {}).get("email")
    return email if isinstance(email, str) else ""


def read_choices(data: object) -> dict[Flag, bool]:
    """The new values of flags, from `{"recap": false, …}`.

    Raises:
        CallError: `invalid-argument`, where a flag is unknown or cannot be changed, a value is not
            a boolean, or `data` is empty.
    """
    if not isinstance(data, Mapping) or not data:
        refuse('preferences must be an object such as {"recap": false}.')
    if TRANSACTIONAL in data:
        refuse("The flag transactional cannot be turned off; leave it out.")
    refuse_unknown(data, *Flag, within="preferences")
    if not all(isinstance(value, bool) for value in data.values()):
        refuse("Every flag must be true or false.")
    return {Flag(name): value for name, value in data.items()}
