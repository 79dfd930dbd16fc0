"""Arguments of `sendEventRecap` and `previewEventRecap` (spec 4.1, 4.9)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from functions.event_arguments import EventArguments, flag_argument, is_id, read_event, refuse
from functions.mail.lines import one_line, paragraph

SUBJECT_CHARACTERS: Final = 200
MESSAGE_CHARACTERS: Final = 4000
GUEST_CHARACTERS: Final = 320
"""No address is longer."""


class Mode(StrEnum):
    """What a guest sees: their own photos, or the highlight reel of the event."""

    PERSONAL = "personal"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapArguments(EventArguments):
    """The valid arguments of a request.

    `subject` is one line, `message` may have several; both are None where the field is missing or
    blank. With `only_new` guests who had a recap of the event get no second one.
    """

    mode: Mode = Mode.PERSONAL
    subject: str | None = None
    message: str | None = None
    only_new: bool = False

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request; null counts as missing.

        Raises:
            CallError: `invalid-argument`, with a message that names the field and its rule.
        """
        return cls(**_recap(data))


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewArguments(RecapArguments):
    """The valid arguments of `previewEventRecap` (spec 4.9).

    `guest` is the guest whose mail is shown, `recap_id` the sent recap that is looked at again.
    """

    guest: str | None = None
    recap_id: str | None = None
    send_to_me: bool = False

    @classmethod
    def read(cls, data: Any) -> Self:
        """See `RecapArguments`."""
        fields = _recap(data, "guest", "recapId", "sendToMe")
        guest = data.get("guest")
        if guest is not None and (
            not isinstance(guest, str) or not 0 < len(guest) <= GUEST_CHARACTERS
        ):
            refuse("guest must be the e-mail address of a guest, or left out.")
        recap_id = data.get("recapId")
        if recap_id is not None and not is_id(recap_id):
            refuse("recapId must be the id of a recap of the event, or left out.")
        send_to_me = flag_argument("sendToMe", data.get("sendToMe"))
        return cls(**fields, guest=guest, recap_id=recap_id, send_to_me=send_to_me)


def _recap(data: Any, *others: str) -> dict[str, Any]:
    event = read_event(data, "mode", "subject", "message", "onlyNew", *others)
    mode = data.get("mode")
    if mode is not None and (not isinstance(mode, str) or mode not in list(Mode)):
        refuse("mode must be personal or all.")
    return {
        **event,
        "mode": Mode.PERSONAL if mode is None else Mode(mode),
        "subject": one_line(_text(data, "subject", SUBJECT_CHARACTERS)) or None,
        "message": paragraph(_text(data, "message", MESSAGE_CHARACTERS)) or None,
        "only_new": flag_argument("onlyNew", data.get("onlyNew")),
    }


def _text(data: dict[Any, Any], name: str, at_most: int) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse(f"{name} must be a string.")
    if len(value) > at_most:
        refuse(f"{name} must have at most {at_most} characters; it has {len(value)}.")
    return value
