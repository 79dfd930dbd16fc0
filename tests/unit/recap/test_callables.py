"""The callables of the recap with their handlers: answers and writes in each state."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pytest
from flask import Request

from emulator.provider_models.sendgrid import Answer, accepted, refused
from functions.call.caller import staff
from functions.call.errors import CallError, Code
from functions.gcp.callables import StaffCall
from functions.handlers import recap_calls
from functions.recap.recap_arguments import RecapArguments
from functions.recap.slots import Slots
from tests.unit.recap.recap_fixture import EVENT, TENANT, RecapFixture, guest

ADMIN: Final = {
    "role": "admin",
    "tenantId": TENANT,
    "email": "me@example.org",
    "email_verified": True,
}
BUSY: Final = "A recap of this event is being sent. Wait until it is finished."
COOLING: Final = (
    "A recap of this event was sent within the last 24 hours. The next recap is possible from "
    "2026-05-02T12:00:00.000Z."
)
NO_PHOTOS: Final = "There are no approved photos yet, so there's nobody to send to."
COUNTED: Final = {"rateLimits"}
LOCKED: Final = COUNTED | {"locks", "recaps"}
SENT: Final = LOCKED | {"recapMails", "batches"}

Handler = Callable[..., object]
State = Callable[[RecapFixture], Any]
"""Brings a fixture into a state; may give further claims of the caller."""


def _nothing(_: RecapFixture) -> None: ...


def _guests(fixture: RecapFixture) -> None:
    fixture.guests(2)


def _one_of_each(fixture: RecapFixture) -> None:
    """Add a guest, two opted-out or invalid ones, and photos without a guest or approval."""
    fixture.photo("anna@example.com")
    fixture.photo(" Anna@Example.com ")
    fixture.photo("ben@example.com")
    fixture.opt_out("ben@example.com")
    fixture.photo("dora@example.com")
    fixture.opt_out("dora@example.com", "lifecycle")
    fixture.photo("emil@example.com")
    fixture.opt_out("emil@example.com", "marketing")
    fixture.photo("carla@example.com", status="pending")
    fixture.photo("dario@example.com", status="rejected")
    fixture.photo("no address")
    fixture.photo(None)


def _nobody(fixture: RecapFixture) -> None:
    fixture.photo("nobody")
    fixture.photo(guest(0))
    fixture.opt_out(guest(0))


def _no_address(fixture: RecapFixture) -> None:
    fixture.photo(None)


def _sent(fixture: RecapFixture) -> None:
    fixture.guests(2)
    fixture.send()


def _sent_a_day_ago(fixture: RecapFixture) -> None:
    _sent(fixture)
    fixture.later(hours=24)


def _cooling(fixture: RecapFixture) -> None:
    """Go to the last second of the cooldown, without a free slot."""
    _sent(fixture)
    fixture.later(hours=23, minutes=59, seconds=59)
    _all_slots(fixture)


def _being_sent(fixture: RecapFixture) -> None:
    fixture.guests(2)
    fixture.crash("update batches")


def _busy(fixture: RecapFixture) -> None:
    """Leave a recap in progress, without a free slot."""
    _being_sent(fixture)
    _all_slots(fixture)


def _planned(fixture: RecapFixture) -> None:
    _call(fixture, recap_calls.schedule_event_recap, ADMIN, {"eventId": EVENT, "at": MORNING})


def _unverified(fixture: RecapFixture) -> dict[str, object]:
    _guests(fixture)
    return {"email_verified": False}


def _interrupted(fixture: RecapFixture) -> None:
    fixture.guests(5)
    fixture.answers = [accepted("made-up"), refused(413), refused(413)]
    fixture.refusal()


def _unconfirmed(fixture: RecapFixture) -> None:
    fixture.guests(2)
    fixture.answers = [Answer(502, {}, b"<html>")]
    fixture.refusal()


def _refused(fixture: RecapFixture) -> None:
    fixture.guests(2)
    fixture.answers = [refused(413)]


def _many_calls(fixture: RecapFixture) -> None:
    fixture.parameters["staff_calls_an_hour"] = 0


def _all_slots(fixture: RecapFixture) -> None:
    fixture.guests(2)
    fixture.slots = Slots(wait_seconds=0, _held=Counter({TENANT: 2}))


def _ten_mailed(fixture: RecapFixture) -> None:
    fixture.guests(2)
    for _ in range(10):
        fixture.preview(sendToMe=True, address="me@example.org")


def _error(code: Code, message: str, **details: Any) -> tuple[Code, str, dict[str, Any]]:
    return code, message, details


def _call(
    fixture: RecapFixture, handler: Handler, claims: Mapping[str, object], data: object
) -> tuple[object, set[str]]:
    """Return the answer, or an error as from `_error`, and the collections that were written.

    A preview's answer is without the mail itself.
    """
    written: set[str] = set()
    process = fixture.process()
    fixture.firestore.watches.append(lambda path, *_: written.add(path.split("/")[-2]))
    try:
        caller = staff("organizer", claims)
        call = StaffCall(
            function="anyRecap", data=data, request=Request({}), caller=caller, claims=claims
        )
        answer = handler(process, call)
    except CallError as error:
        answer = _error(error.code, error.message, **(error.details or {}))
    if isinstance(answer, dict):
        answer = {name: part for name, part in answer.items() if name not in ("html", "text")}
    return answer, written


send, preview, schedule = (
    recap_calls.send_event_recap,
    recap_calls.preview_event_recap,
    recap_calls.schedule_event_recap,
)
MORNING: Final = "2026-05-02T10:00:00.000Z"
VALID: Final[Mapping[Handler, dict[str, Any]]] = {send: {}, preview: {}, schedule: {"at": MORNING}}
NO_TENANT: Final = {"role": "superadmin"}


@pytest.mark.parametrize("handler", VALID)
@pytest.mark.parametrize(
    ("claims", "data", "code", "is_counted"),
    [
        ({}, {}, Code.PERMISSION_DENIED, False),
        ({"role": "guest", "tenantId": TENANT}, {}, Code.PERMISSION_DENIED, False),
        ({"role": "admin", "tenantId": "t2"}, {}, Code.PERMISSION_DENIED, True),
        ({"role": "admin"}, {}, Code.PERMISSION_DENIED, True),
        (ADMIN, {"tenantId": "t2"}, Code.PERMISSION_DENIED, True),
        (ADMIN, {"eventId": "e2"}, Code.NOT_FOUND, True),
        (ADMIN, {"tenantId": TENANT}, None, True),
        (ADMIN | {"role": "moderator"}, {}, None, True),
        (NO_TENANT, {}, None, True),
        (NO_TENANT | {"tenantId": "t2"}, {}, Code.PERMISSION_DENIED, True),
        (NO_TENANT | {"tenantId": "t2"}, {"tenantId": TENANT}, None, True),
        (NO_TENANT, {"tenantId": "t2"}, Code.NOT_FOUND, True),
    ],
)
def test_only_staff_of_the_events_tenant_may_call(
    handler: Handler,
    claims: dict[str, Any],
    data: dict[str, Any],
    code: Code | None,
    *,
    is_counted: bool,
) -> None:
    """Spec 5: a rejected call writes at most its own count."""
    fixture = RecapFixture()
    _guests(fixture)
    answer, writes = _call(fixture, handler, claims, {"eventId": EVENT} | VALID[handler] | data)
    if code is None:
        assert isinstance(answer, dict)
    else:
        assert isinstance(answer, tuple)
        assert (answer[0], writes) == (code, COUNTED if is_counted else set())


ID_RULE: Final = "eventId must be an event ID: a string of 1 to 1500 bytes without a slash."
GUEST_RULE: Final = "Pass the email address of a guest as guest, or omit it."
AT_RULE: Final = (
    "at must be a time in ISO 8601 with a time zone, such as 2026-05-02T10:00:00+02:00, or null to "
    "cancel the scheduled recap."
)
RECAP_RULE: Final = "Pass the ID of a recap of the event as recapId, or omit it."
TWO_CALLS: Final = "onlyNew and resendUnconfirmed can't be combined. Omit one of them."
AHEAD: Final = "at must be between 1 minute and 30 days from now."
LINES: Final = ["\n" * 900, "a\r\nb" * 66, "\u2028" * 201 + "x" * 200, "x" * 200 + "\n"]


@pytest.mark.parametrize("subject", LINES)
def test_removed_newlines_do_not_count(subject: str) -> None:
    """Spec 4.1: the limit of 200 characters applies after newlines are removed."""
    arguments = RecapArguments.read({"eventId": EVENT, "subject": subject})
    assert len(arguments.subject or "") <= 200


BAD_IDS: Final = (None, 7, "", ".", "..", "a/b", "__a__", "x" * 1501, "ä" * 751, "\ud800")


@pytest.mark.parametrize(
    ("handlers", "data", "message"),
    [
        *((VALID, {"eventId": bad}, ID_RULE) for bad in BAD_IDS),
        (VALID, {"subject": ["x"]}, "subject must be a string."),
        (VALID, {"subject": "🎉" * 201}, "subject must have at most 200 characters. It has 201."),
        (VALID, {"message": 1}, "message must be a string."),
        (VALID, {"message": "x" * 4001}, "message must have at most 4000 characters. It has 4001."),
        (VALID, {"mode": "some"}, "mode must be one of personal, all."),
        (VALID, {"mode": ["all"]}, "mode must be one of personal, all."),
        (VALID, {"tenantId": ""}, "tenantId must be a tenant ID or omitted."),
        (VALID, {"onlyNew": 1}, "onlyNew must be true or false."),
        (VALID, {"onlynew": True}, 'Unknown argument "onlynew". Did you mean onlyNew?'),
        ([send], {"onlyNew": True, "resendUnconfirmed": True}, TWO_CALLS),
        ([preview], {"guest": ""}, GUEST_RULE),
        ([preview], {"guest": "x" * 321}, GUEST_RULE),
        ([preview], {"recapId": "a/b"}, RECAP_RULE),
        ([preview], {"sendToMe": "yes"}, "sendToMe must be true or false."),
        ([schedule], {"at": "2026-05-02T10:00:00"}, AT_RULE),
        ([schedule], {"at": 7}, AT_RULE),
        ([schedule], {"at": "2026-05-01T14:00:59+02:00"}, AHEAD),
        ([schedule], {"at": "2026-05-31T12:00:01Z"}, AHEAD),
    ],
)
def test_invalid_arguments_are_rejected_before_the_call_is_counted(
    handlers: Iterable[Handler], data: dict[str, Any], message: str
) -> None:
    """Spec 7.1 and 7.4, invalid-argument: the message names the rule."""
    for handler in handlers:
        refused = _error(Code.INVALID_ARGUMENT, message)
        given = {"eventId": EVENT} | VALID[handler] | data
        assert _call(RecapFixture(), handler, ADMIN, given) == (refused, set())


NO_SLOT: Final = "2 other calls for your events are running. Try again in a minute."
LAST: Final = {"lastRecap": {"sent": 2, "skipped": 0, "unconfirmed": 0}}
AGAIN: Final = {"resendUnconfirmed": True}
NO_RECAP: Final = "No recap of this event was sent."
CONFIRMED: Final = "Every email of the last recap is confirmed."
TWO: Final = {"sent": 2, "skipped": 0}
NO_ADDRESS: Final = "No approved photo has an email address."
ALL_OUT: Final = (
    "No guests can be reached: all have opted out, or their addresses are invalid or have bounced."
)
CONTINUED: Final = "This continues an interrupted recap: 5 emails in total."
REFUSED: Final = "The email provider rejected every email. Nothing was sent. Try again."
COOLDOWN: Final = {"reason": "cooldown", "possibleFrom": "2026-05-02T12:00:00.000Z"}


@pytest.mark.parametrize(
    ("state", "data", "answer", "writes"),
    [
        # Spec 4.1: null is not given; 200 and 4000 characters are accepted.
        (_guests, dict.fromkeys(("subject", "message", "mode", "tenantId")), TWO, SENT),
        (_guests, {"subject": "🎉" * 199 + "\n", "message": "x" * 4000}, TWO, SENT),
        (_guests, {"mode": "all"}, TWO, SENT),
        # Spec 8, 7.1.
        (_many_calls, {}, Code.RESOURCE_EXHAUSTED, set()),
        (_all_slots, {}, _error(Code.RESOURCE_EXHAUSTED, NO_SLOT, reason="busy"), COUNTED),
        # Spec 3.3, 4.1: who is mailed, and nobody.
        (_one_of_each, {}, {"sent": 2, "skipped": 3}, SENT),
        (_nothing, {}, {"sent": 0, "skipped": 0, "message": NO_PHOTOS}, LOCKED),
        (_no_address, {}, {"sent": 0, "skipped": 0, "message": NO_ADDRESS}, LOCKED),
        (_nobody, {}, {"sent": 0, "skipped": 2, "message": ALL_OUT}, LOCKED),
        # Spec 3.3: in progress, cooldown, and after it; the first two wait for no slot.
        (_busy, {}, _error(Code.ABORTED, BUSY, **LAST), COUNTED),
        (_cooling, {}, _error(Code.RESOURCE_EXHAUSTED, COOLING, **COOLDOWN, **LAST), COUNTED),
        (_sent_a_day_ago, {}, TWO, SENT),
        (_interrupted, {}, {"sent": 3, "skipped": 0, "notes": [CONTINUED]}, SENT),
        # Spec 7.1, internal: nothing was accepted.
        (_refused, {}, _error(Code.INTERNAL, REFUSED), SENT),
        # Unconfirmed mails.
        (_unconfirmed, AGAIN, TWO, SENT),
        (_unconfirmed, AGAIN | {"mode": "personal"}, TWO, SENT),
        (_unconfirmed, AGAIN | {"mode": "all"}, Code.INVALID_ARGUMENT, COUNTED),
        (_unconfirmed, AGAIN | {"subject": "Another"}, Code.INVALID_ARGUMENT, COUNTED),
        (_unconfirmed, AGAIN | {"message": "Another"}, Code.INVALID_ARGUMENT, COUNTED),
        (_sent, AGAIN, {"sent": 0, "skipped": 0, "message": CONFIRMED}, LOCKED),
        (_guests, AGAIN, {"sent": 0, "skipped": 0, "message": NO_RECAP}, COUNTED),
    ],
)
def test_send_event_recap(
    state: State, data: dict[str, Any], answer: object, writes: set[str]
) -> None:
    """Check every kind of answer of spec 4.1 and 7.1, and its writes."""
    assert _answered(send, state, data, answer) == (answer, writes)


SENDER: Final = '"Summer Party via Wall" <photos@example.com>'
SHOWN: Final = {
    "from": SENDER,
    "replyTo": SENDER,
    "subject": "Your photos: Summer Party",
    "recipients": 2,
    "hadRecap": 0,
    "left": 0,
    "hidden": 0,
}
EMPTY: Final = SHOWN | {"recipients": 0, "notes": [NO_PHOTOS]}
ME: Final = {"sendToMe": True}
NO_GUEST: Final = (
    "No approved photo of this event has that email address. Pass another guest, or omit guest."
)
UNVERIFIED: Final = (
    "Previews are emailed only to a verified address. Verify your email address and sign in "
    "again, or omit sendToMe."
)
TEN: Final = (
    "You have reached the limit of 10 emailed previews per hour. Try again in an hour, or omit "
    "sendToMe."
)
IS_SENT: Final = {"code": "aborted", "message": BUSY}
IN_COOLDOWN: Final = {"code": "resource-exhausted", "message": COOLING, **COOLDOWN}


@pytest.mark.parametrize(
    ("state", "data", "answer"),
    [
        (_all_slots, ME, _error(Code.RESOURCE_EXHAUSTED, NO_SLOT, reason="busy")),
        (_guests, {"guest": "nobody@example.com"}, _error(Code.NOT_FOUND, NO_GUEST)),
        # Spec 4.9: fewer than ten guests, and so no word of who is skipped.
        (_guests, {"subject": "Thanks"}, SHOWN | {"subject": "Thanks"}),
        (_nothing, {}, EMPTY),
        (_sent_a_day_ago, {}, SHOWN | {"hadRecap": 2}),
        (_sent, {}, SHOWN | {"hadRecap": 2, "blocked": IN_COOLDOWN}),
        (_being_sent, {}, SHOWN | {"hadRecap": 2, "blocked": IS_SENT}),
        # Spec 4.9, 7.4, 8: by mail.
        (_guests, ME, SHOWN | {"mailed": True}),
        (_nothing, ME, EMPTY | {"mailed": False}),
        (_unverified, ME, _error(Code.FAILED_PRECONDITION, UNVERIFIED)),
        (_ten_mailed, ME, _error(Code.RESOURCE_EXHAUSTED, TEN, reason="calls")),
        (_ten_mailed, {}, SHOWN),
    ],
)
def test_preview_event_recap(state: State, data: dict[str, Any], answer: object) -> None:
    """Check every kind of answer of spec 4.9 and 7.4. Only the count of calls is written."""
    assert _answered(preview, state, data, answer) == (answer, COUNTED)


PLANNED: Final = COUNTED | {"schedules"}


def _due(at: str | None) -> dict[str, str | None]:
    return {"scheduledFor": at}


@pytest.mark.parametrize(
    ("state", "at", "answer", "writes"),
    [
        (_guests, MORNING, _due(MORNING), PLANNED),
        (_guests, "2026-05-01T14:01:00+02:00", _due("2026-05-01T12:01:00.000Z"), PLANNED),
        (_guests, "2026-05-31T12:00:00Z", _due("2026-05-31T12:00:00.000Z"), PLANNED),
        (_guests, None, _due(None), COUNTED),
        (_planned, None, _due(None), PLANNED),
        (_sent, MORNING, _error(Code.RESOURCE_EXHAUSTED, COOLING, **COOLDOWN, **LAST), COUNTED),
        (_sent, None, _due(None), COUNTED),
        (_sent, "2026-05-02T12:00:00Z", _due("2026-05-02T12:00:00.000Z"), PLANNED),
    ],
)
def test_schedule_event_recap(
    state: State, at: str | None, answer: object, writes: set[str]
) -> None:
    """Check spec 4.15: from a minute to 30 days ahead, with the errors of a call at that time."""
    assert _answered(schedule, state, {"at": at}, answer) == (answer, writes)


def _answered(
    handler: Handler, state: State, data: dict[str, Any], answer: object
) -> tuple[object, set[str]]:
    """Call in a new fixture. Return only the code of an error if the row has only the code."""
    fixture = RecapFixture()
    claims = ADMIN | (state(fixture) or {})
    answered, written = _call(fixture, handler, claims, {"eventId": EVENT, **data})
    if isinstance(answer, Code) and isinstance(answered, tuple):
        answered = answered[0]
    return answered, written
