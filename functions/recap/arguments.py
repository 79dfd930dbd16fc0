"""Arguments of `sendEventRecap` (SPEC 4.1)."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NoReturn, Self

from functions.call_error import CallError, Code
from functions.recap.lines import one_line, paragraph

SUBJECT_CHARACTERS: Final = 200
MESSAGE_CHARACTERS: Final = 4000

_EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Mode(StrEnum):
    """What a guest sees: their own photos, or the highlight reel of the event."""

    PERSONAL = "personal"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapArguments:
    """A request whose every field is as the specification wants it.

    `subject` is one line, `message` may have several; both are None where nothing was given, or
    nothing but blanks.
    """

    event_id: str
    mode: Mode = Mode.PERSONAL
    subject: str | None = None
    message: str | None = None
    tenant_id: str | None = None

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request; a field that is null counts as not given.

        Raises:
            CallError: `invalid-argument`, with a message that names the field and its rule.
        """
        if not isinstance(data, dict):
            _refuse("data must be an object with the field eventId.")
        event_id = data.get("eventId")
        if not isinstance(event_id, str) or not _EVENT_ID.fullmatch(event_id):
            _refuse("eventId must be 1 to 128 letters, digits, hyphens or underscores.")
        mode = data.get("mode")
        if mode is not None and (not isinstance(mode, str) or mode not in list(Mode)):
            _refuse("mode must be personal or all.")
        tenant_id = data.get("tenantId")
        if tenant_id is not None and (not isinstance(tenant_id, str) or not tenant_id):
            _refuse("tenantId must be the id of a tenant, or left out.")
        return cls(
            event_id=event_id,
            mode=Mode.PERSONAL if mode is None else Mode(mode),
            subject=one_line(_text(data, "subject", SUBJECT_CHARACTERS)) or None,
            message=paragraph(_text(data, "message", MESSAGE_CHARACTERS)) or None,
            tenant_id=tenant_id,
        )


def _text(data: dict[Any, Any], name: str, at_most: int) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        _refuse(f"{name} must be a string.")
    if len(value) > at_most:
        _refuse(f"{name} must have at most {at_most} characters; it has {len(value)}.")
    return value


def _refuse(message: str) -> NoReturn:
    raise CallError(Code.INVALID_ARGUMENT, message)
