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

GUEST_CHARACTERS: Final = 320
"""Maximum length of the argument `guest`, the longest possible email address."""

SOONEST: Final = timedelta(minutes=1)
"""Minimum time until a scheduled recap. A call of `scheduleEventRecap` ends before it."""

LATEST: Final = timedelta(days=30)
"""Maximum time until a scheduled recap. Cloud Tasks keeps no task for longer."""


class TextRule(NamedTuple):
    """The rule of a text in the email that the organizer gives.

    Attributes:
        characters: Maximum length of the cleaned text.
        clean: Removes line breaks or other control characters.
    """

    characters: int
    clean: Callable[[str], str]


TEXTS: Final[Mapping[str, TextRule]] = {
    "subject": TextRule(200, one_line),
    "message": TextRule(4000, clean_paragraph),
}
"""The texts of every call about a recap, and attributes of `RecapArguments` with the same names.

`python3 -m emulator generate` writes them into docs/openapi.yaml and the console."""

MAIL_FIELDS: Final = ("mode", *TEXTS)
"""Arguments that decide the content of the email. The record of a recap stores them."""

RECAP_FIELDS: Final = {**dict(zip(MAIL_FIELDS, MAIL_FIELDS, strict=True)), "onlyNew": "only_new"}
"""Attributes by argument of every call about a recap. The record of a schedule stores them."""


class Mode(StrEnum):
    """The photos that a guest sees: their own, or the highlight reel of the event."""

    PERSONAL = "personal"
    ALL = "all"


class ScheduleVersion(NamedTuple):
    """The version of a schedule, and of the record that stores it.

    Attributes:
        version: Random ID of the schedule. Every call that replaces the schedule creates another.
        record: Version of the record when the schedule was read from it.
    """

    version: str
    record: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapArguments(EventArguments):
    """The valid arguments of `sendEventRecap`, and those that the other calls share with it.

    Attributes:
        mode: The photos that a guest sees.
        subject: One line, or None if the field is missing or blank.
        message: May have several lines. None if the field is missing or blank.
        only_new: Whether guests who had a recap of the event get no second one.
        resend_unconfirmed: Whether the last recap's unconfirmed emails are resent.
        explicit_fields: Names of the fields in `MAIL_FIELDS` that the request has.
        resend_of: ID of the recap with the unconfirmed emails to resend, once it is known.
        schedule: The schedule by which the recap is sent, or None.
    """

    mode: Mode = Mode.PERSONAL
    subject: str | None = None
    message: str | None = None
    only_new: bool = False
    resend_unconfirmed: bool = False
    explicit_fields: frozenset[str] = frozenset()
    resend_of: str | None = None
    schedule: ScheduleVersion | None = None

    @classmethod
    def read(cls, data: Any) -> Self:
        """Parse the `data` of the request. Null counts as missing.

        Raises:
            CallError: `invalid-argument`. The message names the field and its rule.
        """
        fields = _recap(data, "resendUnconfirmed")
        is_resend = flag_argument("resendUnconfirmed", data.get("resendUnconfirmed"))
        if is_resend and fields["only_new"]:
            refuse("onlyNew and resendUnconfirmed can't be combined. Omit one of them.")
        explicit = frozenset(name for name in MAIL_FIELDS if data.get(name) and fields[name])
        return cls(**fields, resend_unconfirmed=is_resend, explicit_fields=explicit)

    @property
    def texts(self) -> Mapping[str, str | None]:
        """The organizer's texts by name, or None if a text is missing."""
        return {name: getattr(self, name) for name in TEXTS}

    @property
    def mail_fields(self) -> Mapping[str, Any]:
        """The arguments in `MAIL_FIELDS` by name."""
        return {name: getattr(self, name) for name in MAIL_FIELDS}

    @property
    def recap_fields(self) -> Mapping[str, Any]:
        """The arguments in `RECAP_FIELDS` by name."""
        return {name: getattr(self, attribute) for name, attribute in RECAP_FIELDS.items()}

    def with_recorded(self, recap_id: str, recap: Mapping[str, Any]) -> Self:
        """Return these arguments with the mode and the texts of the sent `recap`.

        Raises:
            CallError: `invalid-argument` if the request has different ones.
        """
        recorded = _mail_fields(recap)
        for name in sorted(self.explicit_fields):
            if getattr(self, name) != recorded[name]:
                refuse(
                    f"{name} differs from the recap being resent. "
                    f"Omit {name} when you pass resendUnconfirmed."
                )
        return replace(self, resend_of=recap_id, **recorded)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewArguments(RecapArguments):
    """The valid arguments of `previewEventRecap` (spec 4.9).

    Attributes:
        guest: Address of the guest for whom the email is shown.
        recap_id: A recap that was sent, to list the guests whom it did not reach.
        send_to_me: Whether the preview is also emailed to the caller.
    """

    guest: str | None = None
    recap_id: str | None = None
    send_to_me: bool = False

    @classmethod
    def read(cls, data: Any) -> Self:
        """See `RecapArguments.read`."""
        fields = _recap(data, "guest", "recapId", "sendToMe")
        guest = data.get("guest")
        if guest is not None and (
            not isinstance(guest, str) or not 0 < len(guest) <= GUEST_CHARACTERS
        ):
            refuse("Pass the email address of a guest as guest, or omit it.")
        recap_id = data.get("recapId")
        if recap_id is not None and not is_id(recap_id):
            refuse("Pass the ID of a recap of the event as recapId, or omit it.")
        send_to_me = flag_argument("sendToMe", data.get("sendToMe"))
        return cls(**fields, guest=guest, recap_id=recap_id, send_to_me=send_to_me)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleArguments(RecapArguments):
    """The valid arguments of `scheduleEventRecap` (spec 4.15).

    Attributes:
        at: When the recap is sent, or None to cancel the scheduled recap.
    """

    at: datetime | None = None

    @classmethod
    def read_at(cls, now: datetime, data: Any) -> Self:
        """See `RecapArguments.read`. `now` is the time of the call."""
        fields = _recap(data, "at")
        value = data.get("at")
        at = time_argument(value)
        if "at" not in data or (value is not None and at is None):
            refuse(
                "at must be a time in ISO 8601 with a time zone, such as "
                "2026-05-02T10:00:00+02:00, or null to cancel the scheduled recap."
            )
        if at is not None and not SOONEST <= at - now <= LATEST:
            refuse("at must be between 1 minute and 30 days from now.")
        return cls(**fields, at=at)


def _recap(data: Any, *others: str) -> dict[str, Any]:
    return {
        **read_event(data, *RECAP_FIELDS, *others),
        **_mail_fields(data),
        "only_new": flag_argument("onlyNew", data.get("onlyNew")),
    }


def _mail_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "mode": choice_argument("mode", data.get("mode"), Mode, Mode.PERSONAL),
        **{name: _text(data, name, rule) for name, rule in TEXTS.items()},
    }


def _text(data: Mapping[str, Any], name: str, rule: TextRule) -> str | None:
    """Return the cleaned text, or None if it is empty. Only its remaining characters count."""
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        refuse(f"{name} must be a string.")
    text = rule.clean(value)
    if len(text) > rule.characters:
        refuse(f"{name} must have at most {rule.characters} characters. It has {len(text)}.")
    return text or None


def verified_address(claims: Mapping[str, Any]) -> str | None:
    """Return the verified email address in the claims of a user, or None."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    return deliverable(email)
