"""Arguments of the calls about a recap (spec 4.1, 4.9, 4.15)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self

from functions.call.arguments import (
    EventArguments,
    choice_argument,
    flag_argument,
    is_id,
    read_event,
    time_argument,
)
from functions.call.errors import refuse
from functions.email_address import deliverable
from functions.firestore.model import Version
from functions.mail.text import clean_paragraph, one_line

SUBJECT_CHARACTERS: Final = 200
MESSAGE_CHARACTERS: Final = 4000
GUEST_CHARACTERS: Final = 320
"""Longest `guest`: no e-mail address is longer."""

SOONEST: Final = timedelta(minutes=1)
"""Earliest planned time: a call of `scheduleEventRecap` ends before it."""

LATEST: Final = timedelta(days=30)
"""Latest planned time: Cloud Tasks keeps no task for longer."""

OF_THE_MAIL: Final = ("mode", "subject", "message")
"""Arguments that decide what guests see; the record of a recap has them for a later call."""

OF_A_RECAP: Final = {**dict(zip(OF_THE_MAIL, OF_THE_MAIL, strict=True)), "onlyNew": "only_new"}
"""Attributes by argument of every call about a recap; the record of a planned recap has them."""


class Mode(StrEnum):
    """What a guest sees: their own photos, or the highlight reel of the event."""

    PERSONAL = "personal"
    ALL = "all"


class ScheduleVersion(NamedTuple):
    """The schedule by which a recap is sent: its version, and that of its record as it was read."""

    version: str
    record: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapArguments(EventArguments):
    """The valid arguments of a request.

    `subject` is one line, `message` may have several; both are None where the field is missing or
    blank. With `only_new` guests who had a recap of the event get no second one. With
    `resend_unconfirmed` the last recap's unconfirmed mails are sent again, once `again` is the id
    of that recap; `given` names the other fields of the mail that the request has. `schedule` is
    the schedule by which the recap is sent.
    """

    mode: Mode = Mode.PERSONAL
    subject: str | None = None
    message: str | None = None
    only_new: bool = False
    resend_unconfirmed: bool = False
    given: frozenset[str] = frozenset()
    again: str | None = None
    schedule: ScheduleVersion | None = None

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request; null counts as missing.

        Raises:
            CallError: `invalid-argument`, with a message that names the field and its rule.
        """
        fields = _recap(data, "resendUnconfirmed")
        again = flag_argument("resendUnconfirmed", data.get("resendUnconfirmed"))
        if again and fields["only_new"]:
            refuse("onlyNew and resendUnconfirmed are two calls: leave one of them out.")
        given = frozenset(name for name in OF_THE_MAIL if data.get(name) and fields[name])
        return cls(**fields, resend_unconfirmed=again, given=given)

    @property
    def of_the_mail(self) -> Mapping[str, Any]:
        """The arguments `OF_THE_MAIL`, by name."""
        return {name: getattr(self, name) for name in OF_THE_MAIL}

    @property
    def of_a_recap(self) -> Mapping[str, Any]:
        """The arguments `OF_A_RECAP`, by name."""
        return {name: getattr(self, attribute) for name, attribute in OF_A_RECAP.items()}

    def as_recorded(self, recap_id: str, recap: Mapping[str, Any]) -> Self:
        """These arguments for the `recap` that was sent, with its mode, subject and message.

        Raises:
            CallError: `invalid-argument`, where the request has another one.
        """
        recorded = _of_the_mail(recap)
        for name in sorted(self.given):
            if getattr(self, name) != recorded[name]:
                refuse(
                    f"{name} is another one than that of the recap whose unconfirmed mails "
                    f"resendUnconfirmed sends again; leave {name} out."
                )
        return replace(self, again=recap_id, **recorded)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleArguments(RecapArguments):
    """The valid arguments of `scheduleEventRecap` (spec 4.15); with `at` None it is taken back."""

    at: datetime | None = None

    @classmethod
    def read_at(cls, now: datetime, data: Any) -> Self:
        """See `RecapArguments.read`; `now` is the time of the call."""
        fields = _recap(data, "at")
        given = data.get("at")
        at = time_argument(given)
        if "at" not in data or (given is not None and at is None):
            refuse(
                "at must be a time in ISO 8601 with its zone, as in 2026-05-02T10:00:00+02:00, or "
                "null to take the recap back."
            )
        if at is not None and not SOONEST <= at - now <= LATEST:
            refuse("at must be from a minute to 30 days ahead.")
        return cls(**fields, at=at)


def _recap(data: Any, *others: str) -> dict[str, Any]:
    return {
        **read_event(data, *OF_A_RECAP, *others),
        **_of_the_mail(data),
        "only_new": flag_argument("onlyNew", data.get("onlyNew")),
    }


def _of_the_mail(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "mode": choice_argument("mode", data.get("mode"), Mode, Mode.PERSONAL),
        "subject": _text(data, "subject", SUBJECT_CHARACTERS, one_line),
        "message": _text(data, "message", MESSAGE_CHARACTERS, clean_paragraph),
    }


def _text(
    data: Mapping[str, Any], name: str, at_most: int, clean: Callable[[str], str]
) -> str | None:
    """Return the cleaned text, or None if it is empty. Only its remaining characters count."""
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        refuse(f"{name} must be a string.")
    text = clean(value)
    if len(text) > at_most:
        refuse(f"{name} must have at most {at_most} characters; it has {len(text)}.")
    return text or None


def verified_address(claims: Mapping[str, Any]) -> str | None:
    """The verified e-mail address in the claims of a user, if any."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    return deliverable(email)
