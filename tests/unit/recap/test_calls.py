"""The recap's two callables through their handlers: caller, state, request ▸ answer, writes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import pytest
from flask import Request

from emulator.neighbours.sendgrid import Answer, accepted, refused
from functions.call_rules import CallError, Code, staff
from functions.gcp.callables import StaffCall
from functions.recap import recap_calls
from functions.recap.limits import Slot, Slots
from tests.in_memory.through import Crash
from tests.unit.recap.parts import EVENT, TENANT, At, House, guest

ADMIN: Final = {
    "role": "admin",
    "tenantId": TENANT,
    "email": "me@example.org",
    "email_verified": True,
}
BUSY: Final = "A recap of this event is being sent right now; wait until it is done."
COOLING: Final = (
    "A recap of this event was sent within the last 24 hours; the next one is possible from "
    "2026-05-02T12:00:00.000Z on."
)
NO_PHOTOS: Final = "There are no approved photos, so there is nobody to send to."
COUNTED: Final = {"rateLimits"}
LOCKED: Final = COUNTED | {"locks", "recaps"}
SENT: Final = LOCKED | {"recapMails", "batches"}

State = Callable[[House], object]


def _crash() -> None:
    raise Crash


def _nothing(_: House) -> None: ...


def _guests(house: House) -> None:
    house.guests(2)


def _one_of_each(house: House) -> None:
    """A guest who wants the mail, two without, and photos that are nobody's or not approved."""
    house.photo("anna@example.com")
    house.photo(" Anna@Example.com ")
    house.photo("ben@example.com")
    house.opt_out("ben@example.com")
    house.photo("dora@example.com")
    house.opt_out("dora@example.com", "lifecycle")
    house.photo("emil@example.com")
    house.opt_out("emil@example.com", "marketing")
    house.photo("carla@example.com", status="pending")
    house.photo("dario@example.com", status="rejected")
    house.photo("no address")
    house.photo(None)


def _nobody(house: House) -> None:
    house.photo("nobody")
    house.photo(guest(0))
    house.opt_out(guest(0))


def _no_address(house: House) -> None:
    house.photo(None)


def _sent(house: House) -> None:
    house.guests(2)
    house.send()


def _sent_a_day_ago(house: House) -> None:
    _sent(house)
    house.later(hours=24)


def _almost_a_day_ago(house: House) -> None:
    _sent(house)
    house.later(hours=23, minutes=59, seconds=59)


def _being_sent(house: House) -> None:
    house.guests(2)
    with suppress(Crash):
        house.send(At("recaps.settle", _crash))


def _interrupted(house: House) -> None:
    house.guests(5)
    house.answers = [accepted("made-up"), refused(413), refused(413)]
    with suppress(CallError):
        house.send()


def _unconfirmed(house: House) -> None:
    house.guests(2)
    house.answers = [Answer(502, {}, b"<html>")]
    with suppress(CallError):
        house.send()


def _refused(house: House) -> None:
    house.guests(2)
    house.answers = [refused(413)]


def _many_calls(house: House) -> None:
    house.parameters["staff_calls_an_hour"] = 0


def _all_slots(house: House) -> None:
    house.guests(2)
    house.slots = Slots(seconds=0, _taken=[Slot(TENANT), Slot(TENANT)])


def _ten_mailed(house: House) -> None:
    house.guests(2)
    for _ in range(10):
        house.preview(sendToMe=True, address="me@example.org")


def _error(code: Code, message: str, **details: Any) -> tuple[Code, str, dict[str, Any]]:
    return code, message, details


def _call(
    house: House, handler: Callable[..., object], claims: Mapping[str, object], data: object
) -> tuple[object, set[str]]:
    """The answer, or an error as `_error` gives it; and the collections that were written."""
    written: set[str] = set()
    process = house.process()
    house.firestore.watches.append(lambda path, *_: written.add(path.split("/")[-2]))
    try:
        caller = staff("organizer", claims)
        call = StaffCall(
            function="anyRecap", data=data, request=Request({}), caller=caller, claims=claims
        )
        answer = handler(process, call)
    except CallError as error:
        answer = _error(error.code, error.message, **(error.details or {}))
    return answer, written


NO_SLOT: Final = "2 calls for your events are at work right now; call again in a minute."
LAST: Final = {"lastRecap": {"sent": 2, "skipped": 0, "unconfirmed": 0}}
AGAIN: Final = {"resendUnconfirmed": True}
CONFIRMED: Final = "No mail of the last recap is unconfirmed."
RESENT: Final = LOCKED | {"batches"}
TWO: Final = {"sent": 2, "skipped": 0}
NO_TENANT: Final = {"role": "superadmin"}
BAD_IDS: Final = (None, 7, "", ".", "..", "a/b", "__a__", "x" * 1501, "ä" * 751, "\ud800")
ID_RULE: Final = "eventId must be the id of an event: a text of 1 to 1500 bytes without a slash."


@pytest.mark.parametrize(
    ("claims", "state", "data", "answer", "writes"),
    [
        # Spec 5: who may call.
        ({}, _guests, {}, Code.PERMISSION_DENIED, set()),
        ({"role": "guest", "tenantId": TENANT}, _guests, {}, Code.PERMISSION_DENIED, set()),
        ({"role": "admin", "tenantId": "t2"}, _guests, {}, Code.PERMISSION_DENIED, COUNTED),
        ({"role": "admin"}, _guests, {}, Code.PERMISSION_DENIED, COUNTED),
        (ADMIN, _guests, {"tenantId": "t2"}, Code.PERMISSION_DENIED, COUNTED),
        (ADMIN, _guests, {"tenantId": TENANT}, TWO, SENT),
        (ADMIN | {"role": "moderator"}, _guests, {}, TWO, SENT),
        (NO_TENANT, _guests, {}, TWO, SENT),
        (NO_TENANT | {"tenantId": "t2"}, _guests, {}, Code.PERMISSION_DENIED, COUNTED),
        (NO_TENANT | {"tenantId": "t2"}, _guests, {"tenantId": TENANT}, TWO, SENT),
        (NO_TENANT, _guests, {"tenantId": "t2"}, Code.NOT_FOUND, COUNTED),
        # Spec 7.1, invalid-argument: nothing is counted.
        *(
            (ADMIN, _guests, {"eventId": bad}, _error(Code.INVALID_ARGUMENT, ID_RULE), set())
            for bad in BAD_IDS
        ),
        *(
            (ADMIN, _guests, data, _error(Code.INVALID_ARGUMENT, message), set())
            for data, message in (
                ({"subject": ["x"]}, "subject must be a string."),
                (
                    {"subject": "🎉" * 201},
                    "subject must have at most 200 characters; it has 201.",
                ),
                ({"message": 1}, "message must be a string."),
                (
                    {"message": "x" * 4001},
                    "message must have at most 4000 characters; it has 4001.",
                ),
                ({"mode": "some"}, "mode must be personal or all."),
                ({"mode": ["all"]}, "mode must be personal or all."),
                ({"tenantId": ""}, "tenantId must be the id of a tenant, or left out."),
                ({"onlyNew": 1}, "onlyNew must be true or false."),
                ({"onlynew": True}, "Unknown argument onlynew: write onlyNew."),
                (
                    {"onlyNew": True, "resendUnconfirmed": True},
                    "onlyNew and resendUnconfirmed are two calls: leave one of them out.",
                ),
            )
        ),
        # Spec 4.1: null is not given; 200 and 4000 characters are accepted.
        (ADMIN, _guests, dict.fromkeys(("subject", "message", "mode", "tenantId")), TWO, SENT),
        (ADMIN, _guests, {"subject": "🎉" * 199 + "\n", "message": "x" * 4000}, TWO, SENT),
        (ADMIN, _guests, {"mode": "all"}, TWO, SENT),
        # Spec 8, 7.1.
        (ADMIN, _many_calls, {}, Code.RESOURCE_EXHAUSTED, set()),
        (ADMIN, _all_slots, {}, _error(Code.RESOURCE_EXHAUSTED, NO_SLOT, reason="busy"), COUNTED),
        (
            ADMIN,
            _guests,
            {"eventId": "e2"},
            _error(Code.NOT_FOUND, "There is no event with that eventId."),
            COUNTED,
        ),
        # Spec 3.3, 4.1: who is mailed, and nobody.
        (ADMIN, _one_of_each, {}, {"sent": 2, "skipped": 3}, SENT),
        (
            ADMIN,
            _nothing,
            {},
            {"sent": 0, "skipped": 0, "message": NO_PHOTOS},
            LOCKED | {"recapMails"},
        ),
        (
            ADMIN,
            _no_address,
            {},
            {
                "sent": 0,
                "skipped": 0,
                "message": "No guest has left an e-mail address with an approved photo.",
            },
            LOCKED | {"recapMails"},
        ),
        (
            ADMIN,
            _nobody,
            {},
            {
                "sent": 0,
                "skipped": 2,
                "message": "Every guest has opted out, or has left an address that is invalid or"
                " has bounced.",
            },
            LOCKED | {"recapMails"},
        ),
        # Spec 3.3: in progress, cooldown, and after it.
        (
            ADMIN,
            _being_sent,
            {},
            _error(Code.ABORTED, BUSY, lastRecap={"sent": 2, "skipped": 0, "unconfirmed": 0}),
            COUNTED,
        ),
        (
            ADMIN,
            _almost_a_day_ago,
            {},
            _error(
                Code.RESOURCE_EXHAUSTED,
                COOLING,
                reason="cooldown",
                possibleFrom="2026-05-02T12:00:00.000Z",
                **LAST,
            ),
            COUNTED,
        ),
        (ADMIN, _sent_a_day_ago, {}, TWO, SENT),
        (
            ADMIN,
            _interrupted,
            {},
            {
                "sent": 3,
                "skipped": 0,
                "notes": ["This continued an interrupted recap, which has now 5 mails in all."],
            },
            LOCKED | {"batches"},
        ),
        # Spec 7.1, internal: nothing was accepted.
        (
            ADMIN,
            _refused,
            {},
            _error(
                Code.INTERNAL,
                "The mail service took none of the mails; nothing was sent, try again.",
            ),
            SENT,
        ),
        # Unconfirmed mails.
        (ADMIN, _unconfirmed, AGAIN, TWO, RESENT),
        (ADMIN, _unconfirmed, AGAIN | {"mode": "personal"}, TWO, RESENT),
        (ADMIN, _unconfirmed, AGAIN | {"mode": "all"}, Code.INVALID_ARGUMENT, COUNTED),
        (ADMIN, _unconfirmed, AGAIN | {"subject": "Another"}, Code.INVALID_ARGUMENT, COUNTED),
        (ADMIN, _unconfirmed, AGAIN | {"message": "Another"}, Code.INVALID_ARGUMENT, COUNTED),
        (ADMIN, _sent, AGAIN, {"sent": 0, "skipped": 0, "message": CONFIRMED}, LOCKED),
        (
            ADMIN,
            _guests,
            AGAIN,
            {"sent": 0, "skipped": 0, "message": "No recap of this event was sent."},
            COUNTED,
        ),
    ],
)
def test_send_event_recap(
    claims: dict[str, Any],
    state: State,
    data: dict[str, Any],
    answer: object,
    writes: set[str],
) -> None:
    """Spec 4.1, 5 and 7.1: every kind of answer, and what it leaves in the database."""
    assert _answered(recap_calls.send_event_recap, claims, state, data, answer) == (answer, writes)


SENDER: Final = '"Summer Party via Wall" <photos@example.com>'
SHOWN: Final = {
    "from": SENDER,
    "replyTo": SENDER,
    "subject": "Your photos from Summer Party",
    "recipients": 2,
    "hadRecap": 0,
    "left": 0,
    "hidden": 0,
}
ME: Final = {"sendToMe": True}


@pytest.mark.parametrize(
    ("claims", "state", "data", "answer", "writes"),
    [
        ({"role": "guest", "tenantId": TENANT}, _guests, {}, Code.PERMISSION_DENIED, set()),
        (ADMIN | {"tenantId": "t2"}, _guests, ME, Code.PERMISSION_DENIED, COUNTED),
        (ADMIN | {"role": "moderator"}, _guests, {}, SHOWN, COUNTED),
        *(
            (ADMIN, _guests, data, _error(Code.INVALID_ARGUMENT, message), set())
            for data, message in (
                ({"eventId": "a/b"}, ID_RULE),
                ({"guest": ""}, "guest must be the e-mail address of a guest, or left out."),
                ({"guest": "x" * 321}, "guest must be the e-mail address of a guest, or left out."),
                (
                    {"recapId": "a/b"},
                    "recapId must be the id of a recap of the event, or left out.",
                ),
                ({"sendToMe": "yes"}, "sendToMe must be true or false."),
            )
        ),
        (ADMIN, _many_calls, {}, Code.RESOURCE_EXHAUSTED, set()),
        (ADMIN, _all_slots, ME, _error(Code.RESOURCE_EXHAUSTED, NO_SLOT, reason="busy"), COUNTED),
        (ADMIN, _guests, {"eventId": "e2"}, Code.NOT_FOUND, COUNTED),
        (
            ADMIN,
            _guests,
            {"guest": "nobody@example.com"},
            _error(
                Code.NOT_FOUND,
                "No guest has left that address with an approved photo of this event; give another "
                "one as guest, or leave it out.",
            ),
            COUNTED,
        ),
        # Spec 4.9: fewer than ten guests, and so no word of who is skipped.
        (ADMIN, _guests, {"subject": "Thanks"}, SHOWN | {"subject": "Thanks"}, COUNTED),
        (ADMIN, _nothing, {}, SHOWN | {"recipients": 0, "notes": [NO_PHOTOS]}, COUNTED),
        (ADMIN, _sent_a_day_ago, {}, SHOWN | {"hadRecap": 2}, COUNTED),
        (
            ADMIN,
            _sent,
            {},
            SHOWN
            | {
                "hadRecap": 2,
                "blocked": {
                    "code": "resource-exhausted",
                    "message": COOLING,
                    "reason": "cooldown",
                    "possibleFrom": "2026-05-02T12:00:00.000Z",
                },
            },
            COUNTED,
        ),
        (
            ADMIN,
            _being_sent,
            {},
            SHOWN | {"hadRecap": 2, "blocked": {"code": "aborted", "message": BUSY}},
            COUNTED,
        ),
        # Spec 4.9, 7.4, 8: by mail.
        (ADMIN, _guests, ME, SHOWN | {"mailed": True}, COUNTED),
        (
            ADMIN | {"email_verified": False},
            _guests,
            ME,
            _error(
                Code.FAILED_PRECONDITION,
                "Only a verified address gets a preview: verify that of your account and sign in "
                "again, or leave sendToMe out.",
            ),
            COUNTED,
        ),
        (
            ADMIN,
            _ten_mailed,
            ME,
            _error(
                Code.RESOURCE_EXHAUSTED,
                "You have had 10 previews mailed within this hour; wait for the next one, or leave "
                "sendToMe out.",
                reason="calls",
            ),
            COUNTED,
        ),
        (ADMIN, _ten_mailed, {}, SHOWN, COUNTED),
    ],
)
def test_preview_event_recap(
    claims: dict[str, Any],
    state: State,
    data: dict[str, Any],
    answer: object,
    writes: set[str],
) -> None:
    """Spec 4.9, 5 and 7.4: every kind of answer without the mail itself; calls are counted."""
    seen = _answered(recap_calls.preview_event_recap, claims, state, data, answer)
    assert seen == (answer, writes)


def _answered(
    handler: Callable[..., object],
    claims: dict[str, Any],
    state: State,
    data: dict[str, Any],
    answer: object,
) -> tuple[object, set[str]]:
    house = House()
    state(house)
    answered, written = _call(house, handler, claims, {"eventId": EVENT, **data})
    if isinstance(answered, dict):
        answered = {name: part for name, part in answered.items() if name not in ("html", "text")}
    if isinstance(answer, Code) and isinstance(answered, tuple):
        return answered[0], written
    return answered, written
