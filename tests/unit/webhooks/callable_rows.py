"""Rows of calls of the webhooks' callables (spec 4.6 to 4.14, 5 and 7).

A row has the caller, the state of the event, the arguments, the answer and the writes.
`test_callables.py` runs each row in memory. `tests/suite/contract/test_calls.py` runs the rows that
don't write to the event against the deployed functions.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Final, TypeAlias

from functions.call.caller import Role
from functions.call.errors import Code
from functions.webhooks.deliveries.delivery import Outcome
from functions.webhooks.deliveries.redelivery import SkipReason
from functions.webhooks.events import EventType
from tests.unit.contract.calls import CALLS
from tests.unit.contract.promise import callables
from tests.unit.webhooks.event_states import (
    GIVEN_UP,
    OTHER,
    PLAIN,
    TENANT,
    URL,
    ArrangedEvent,
    State,
    as_arranged,
    configured,
    ended,
    failed_at_a_removed_url,
    log_of_several_ids,
    log_of_three,
    next_secret_in,
    outage,
    outage_before_an_id,
    outage_with_obstacles,
    shares_with,
    skipped_at_a_disabled_url,
    skipped_at_an_unusable_url,
    url_is_disabled,
    waiting_for_a_retry,
)


@dataclass(frozen=True, slots=True)
class Staff:
    """A caller whose ID token has this role and tenant."""

    role: str = "admin"
    tenant: str | None = TENANT


@dataclass(frozen=True, slots=True)
class Bearer:
    """A caller with the link of this share."""

    share: str


Refusal: TypeAlias = tuple[Code, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One call of a callable.

    Attributes:
        data: The arguments, without the event or the token.
        answer: Fields of the result, with deliveries by their IDs, or code and message of the
            error. In a message, `…` is the rest of the text.
        writes: The collections that the call writes to.
    """

    function: str
    caller: Staff | Bearer
    state: State
    data: Mapping[str, Any]
    answer: Mapping[str, Any] | Refusal
    writes: frozenset[str]


class Ago(timedelta):
    """An argument: the time this long before the call, in ISO 8601 with a time zone."""


ADMIN: Final = Staff()
SUPERADMIN: Final = Staff("superadmin")
WITHOUT_TENANT: Final = Staff("superadmin", None)
READ_ONLY_LINK: Final = Bearer("shows")
RESEND_LINK: Final = Bearer("resends")

NOTHING: Final[frozenset[str]] = frozenset()
COUNTED: Final = frozenset({"rateLimits"})
TRIED: Final = COUNTED | {"deliveries", "secrets"}
BEGUN: Final = COUNTED | {"deliveries"}
KEPT: Final = COUNTED | {"secrets"}
SHARED: Final = COUNTED | {"shares"}

MINUTE: Final = timedelta(minutes=1)
ZONE: Final = timezone(timedelta(hours=2))
TIME: Final = "2026-05-01T18:30:00Z"
NEXT: Final = f"{TIME}~{TIME}~d-1"


def invalid(message: str) -> Refusal:
    """Return the error for an invalid argument."""
    return Code.INVALID_ARGUMENT, message


def denied(message: str) -> Refusal:
    """Return the error for a caller without permission."""
    return Code.PERMISSION_DENIED, message


def failed_precondition(message: str) -> Refusal:
    """Return the error for a call that the settings do not allow."""
    return Code.FAILED_PRECONDITION, message


NO_EVENT: Final = (Code.NOT_FOUND, "There is no event with that eventId.")
NOT_THEIRS: Final = (Code.NOT_FOUND, "The tenant tenantId has no event with that eventId.")
NO_DELIVERY: Final = (Code.NOT_FOUND, "The event has no delivery with that deliveryId.")
NO_SHARE: Final = (Code.NOT_FOUND, "The event has no share with that shareId.")
EVENT_RULE: Final = invalid("eventId must be an event ID: a string of 1 to 1500 bytes…")
TENANT_RULE: Final = invalid("tenantId must be a tenant ID or omitted.")
DELIVERY_RULE: Final = invalid("deliveryId must be the ID of a delivery.")
URL_RULE: Final = invalid("url must be a string of at most 2048 characters.")
TYPE_RULE: Final = invalid(f"event must be one of {', '.join(EventType)}.")
TOKEN_RULE: Final = invalid("token must be the token of a link to a delivery log.")
AFTER_RULE: Final = invalid("after must be the value of next from the previous response.")
NEXT_RULE: Final = invalid("next must be the value of next from the previous response.")
DAYS_RULE: Final = invalid("days must be a whole number from 1 to 7.")
MINUTES_RULE: Final = invalid("activeInMinutes must be a whole number from 0 to 10080.")
SINCE_RULE: Final = invalid("since must be an ISO 8601 time with a time zone, such as…")
ONE_OR_PAGE: Final = invalid("Pass either deliveryId or since.")
NO_URL: Final = invalid("url must be one of the event's webhook URLs. Add the URL first.")
NO_LINK: Final = denied("This link is invalid or has expired. Ask its sender for a new link.")
ONLY_SHOWS: Final = denied("This link is read-only. Ask the organizer for a link that can resend.")
SUPERADMINS: Final = denied("The ID token needs the custom claim role: superadmin.")
STILL_OPEN: Final = (Code.ABORTED, "The delivery is still in progress. Wait until it has ended.")
IS_REMOVED: Final = failed_precondition(
    "The delivery's URL is no longer one of the event's webhook URLs.…"
)
IS_DISABLED: Final = failed_precondition(
    "The delivery's URL is switched off. Switch it on in the event's…"
)
IS_UNUSABLE: Final = failed_precondition(
    "This delivery was skipped because its URL is invalid. Fix the URL first."
)

ARRIVED: Final = {"outcome": "success", "status": 204, "error": None, "nextAttemptAt": None}
SKIPPED: Final = {"outcome": "skipped", "error": "the URL does not start with https://"}
AGAIN: Final = {"resent": 1, "leftAlone": 0, "more": False, "next": None}
NO_TIMES: Final = {"rotatedAt": None, "activeFrom": None, "oldSecretUsedUntil": None}
WITHDRAWN: Final = NO_TIMES | {"message": "The announced secret was withdrawn."}
SIGNS: Final = NO_TIMES | {
    "message": "The announced secret was already withdrawn or is already active."
}
AT_ONCE: Final = {
    "rotatedAt": "2026-05-01T18:30:00.000Z",
    "activeFrom": "2026-05-01T18:30:00.000Z",
    "oldSecretUsedUntil": "2026-05-01T18:31:00.000Z",
    "message": "Accept both secrets until 2026-05-01T18:31:00.000Z. Deliveries may still use the"
    " old secret.",
}
SOON: Final = {
    "rotatedAt": None,
    "activeFrom": "2026-05-01T18:31:00.000Z",
    "oldSecretUsedUntil": "2026-05-01T18:32:00.000Z",
    "message": "The new secret becomes active at 2026-05-01T18:31:00.000Z. Accept both secrets"
    " until 2026-05-01T18:32:00.000Z. Deliveries may still use the old secret.",
}
A_WEEK: Final = {"expiresAt": "2026-05-08T18:30:00.000Z"}
A_DAY: Final = {"expiresAt": "2026-05-02T18:30:00.000Z"}

Rows: TypeAlias = Iterator[tuple[str, Row]]


def staff_errors() -> Rows:
    """Yield the rows of spec 5 that every call of staff rejects."""
    for function, operation in callables().items():
        call = CALLS[function]
        if "webhooks" not in operation["tags"] or not call.roles:
            continue
        caller = ADMIN if Role.ADMIN in call.roles else SUPERADMIN
        data = {name: value for name, value in call.valid.items() if name != "eventId"}
        stranger = replace(caller, tenant="t2")
        theirs = denied("The event belongs to another tenant…")
        for why, by, given, answer, writes in (
            ("a missing event", caller, {"eventId": "another"}, NO_EVENT, COUNTED),
            ("another tenant's event", stranger, {}, theirs, COUNTED),
            ("not that tenant's event", WITHOUT_TENANT, {"tenantId": "t2"}, NOT_THEIRS, COUNTED),
            ("a malformed eventId", caller, {"eventId": "a/b"}, EVENT_RULE, NOTHING),
            ("a malformed tenantId", caller, {"tenantId": ""}, TENANT_RULE, NOTHING),
        ):
            yield why, Row(function, by, as_arranged, {**data, **given}, answer, writes)


def tests_of_urls() -> Rows:
    """Yield the rows of spec 4.6."""
    at_url = {"url": f" {URL}\n"}
    for why, caller, state, data, answer, writes in (
        ("a URL", ADMIN, as_arranged, at_url, ARRIVED, TRIED),
        ("by a superadmin", WITHOUT_TENANT, as_arranged, at_url, ARRIVED, TRIED),
        ("a disabled URL", ADMIN, url_is_disabled, at_url, ARRIVED, TRIED),
        ("no such type", ADMIN, configured({"url": URL, "events": []}), at_url, ARRIVED, TRIED),
        ("without HTTPS", ADMIN, configured(PLAIN), {"url": PLAIN}, SKIPPED, BEGUN),
        ("not the event's", ADMIN, as_arranged, {"url": f"{URL}/"}, NO_URL, COUNTED),
        ("a long URL", ADMIN, as_arranged, {"url": "u" * 2049}, URL_RULE, NOTHING),
        ("a type", ADMIN, as_arranged, {"url": URL, "event": "photo"}, TYPE_RULE, NOTHING),
    ):
        yield why, Row("sendTestWebhook", caller, state, data, answer, writes)


def redeliveries() -> Rows:
    """Yield the rows of spec 4.7 for one delivery: by an admin, and through a link (4.14)."""
    for why, state, answer, writes in (
        ("failed", ended(Outcome.FAILED), AGAIN, BEGUN),
        ("acknowledged", ended(Outcome.SUCCESS), AGAIN, BEGUN),
        ("skipped before", ended(Outcome.SKIPPED, reason="it was disabled"), AGAIN, BEGUN),
        ("waiting for a retry", waiting_for_a_retry, STILL_OPEN, COUNTED),
        ("missing", as_arranged, NO_DELIVERY, COUNTED),
        ("removed URL", failed_at_a_removed_url, IS_REMOVED, COUNTED),
        ("disabled URL", skipped_at_a_disabled_url, IS_DISABLED, COUNTED),
    ):
        row = Row("resendWebhook", ADMIN, state, {"deliveryId": "d1"}, answer, writes)
        yield why, row
        shared = {"resent": 1} if answer is AGAIN else answer
        yield why, replace(row, function="resendSharedWebhook", caller=RESEND_LINK, answer=shared)
    for why, caller, state, delivery_id, answer, writes in (
        ("unusable URL", ADMIN, skipped_at_an_unusable_url, "d1", IS_UNUSABLE, COUNTED),
        ("no id", ADMIN, as_arranged, "__d__", DELIVERY_RULE, NOTHING),
        ("no id", RESEND_LINK, as_arranged, "no/id", DELIVERY_RULE, NOTHING),
        ("only shows", READ_ONLY_LINK, ended(Outcome.FAILED), "d1", ONLY_SHOWS, COUNTED),
        ("another URL", RESEND_LINK, ended(Outcome.FAILED, url=OTHER), "d1", NO_DELIVERY, COUNTED),
        ("former URL", RESEND_LINK, log_of_several_ids, "elsewhere", NO_DELIVERY, COUNTED),
    ):
        function = "resendWebhook" if caller is ADMIN else "resendSharedWebhook"
        yield why, Row(function, caller, state, {"deliveryId": delivery_id}, answer, writes)


def pages() -> Rows:
    """Yield the rows of spec 4.7: a page resends as many deliveries as its dry run counts."""
    every = {"removedUrl": 2, "disabledUrl": 3, "unusableUrl": 1, "tests": 1}
    for why, state, data, matching, left_alone in (
        ("everything", outage, {}, 10, {}),
        ("a URL", outage, {"url": f" {URL}\n"}, 5, {}),
        ("a type", outage, {"event": "photo.uploaded"}, 6, {}),
        ("a URL and a type", outage, {"url": OTHER, "event": "photo.approved"}, 2, {}),
        ("a type of none", outage, {"event": "guest.joined"}, 0, {}),
        ("acknowledged ones", outage, {"outcome": "success"}, 1, {}),
        ("ended ones", outage, {"outcome": "any"}, 11, {}),
        ("until a time", outage, {"until": Ago(minutes=30)}, 6, {}),
        ("until a time to come", outage, {"until": Ago(days=-1)}, 10, {}),
        ("since a later time", outage, {"since": Ago(minutes=30)}, 6, {}),
        ("obstacles", outage_with_obstacles, {}, 10, every),
        ("a disabled URL", outage_with_obstacles, {"url": GIVEN_UP}, 0, {"disabledUrl": 3}),
        ("a test", outage_with_obstacles, {"url": URL}, 5, {"tests": 1}),
        ("before an id", outage_before_an_id, {}, 10, {}),
        ("a URL before an id", outage_before_an_id, {"url": URL}, 5, {}),
    ):
        asked: dict[str, Any] = {"since": Ago(hours=1), **data}
        sent = {"resent": matching, "leftAlone": sum(left_alone.values()), "next": None}
        writes = BEGUN if matching else COUNTED
        yield f"page: {why}", Row("resendWebhook", ADMIN, state, asked, sent, writes)
        none = dict.fromkeys((*SkipReason, "tests"), 0)
        counted = {"matching": matching, "leftAlone": none | left_alone}
        dry = asked | {"dryRun": True}
        yield f"dry run: {why}", Row("resendWebhook", ADMIN, state, dry, counted, COUNTED)
    refused: list[tuple[dict[str, Any], Refusal]] = [
        ({}, ONE_OR_PAGE),
        ({"deliveryId": "d", "since": TIME}, ONE_OR_PAGE),
        ({"deliveryId": "d", "next": "x"}, invalid("next requires since. Omit next…")),
        ({"deliveryId": "d", "url": URL}, invalid("url requires since. Omit url…")),
        ({"deliveryId": "d", "dryRun": True}, invalid("dryRun requires since. Omit…")),
        *(
            ({"since": since}, SINCE_RULE)
            for since in (
                *("yesterday", "2026-05-01", "2026-05-01T18:30:00", 1777660200),
                *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
            )
        ),
        *(
            ({"since": TIME, "next": next_}, NEXT_RULE)
            for next_ in ("", "a~b~c", f"{TIME}~{TIME}~a/b", 7)
        ),
        ({"since": TIME, "until": "2026-05-01"}, invalid("until must be an ISO 8601 time…")),
        ({"since": TIME, "until": "2026-05-01T18:29:59Z"}, invalid("until must not be before…")),
        ({"since": TIME, "dryRun": 1}, invalid("dryRun must be true or false.")),
        ({"since": TIME, "dryRun": True, "next": NEXT}, invalid("dryRun counts all deliveries…")),
    ]
    for given, rule in refused:
        yield f"{given}", Row("resendWebhook", ADMIN, as_arranged, given, rule, NOTHING)
    for dry_run in (False, True):
        given = {"since": TIME, "url": f"{URL}/", "dryRun": dry_run}
        yield f"{given}", Row("resendWebhook", ADMIN, as_arranged, given, NO_URL, COUNTED)


def secrets() -> Rows:
    """Yield the rows of spec 4.8."""
    both = {"activeInMinutes": 5, "withdraw": True}
    announced, due = next_secret_in(MINUTE), next_secret_in(timedelta(0))
    week = {"rotatedAt": None, "activeFrom": "2026-05-08T18:30:00.000Z"}
    for caller, state, data, answer, writes in (
        (SUPERADMIN, as_arranged, {}, AT_ONCE, KEPT),
        (SUPERADMIN, announced, {"activeInMinutes": 0}, AT_ONCE, KEPT),
        (SUPERADMIN, announced, {"activeInMinutes": None, "withdraw": False}, AT_ONCE, KEPT),
        (SUPERADMIN, announced, {"activeInMinutes": 1}, SOON, KEPT),
        (SUPERADMIN, as_arranged, {"activeInMinutes": 10_080}, week, KEPT),
        (SUPERADMIN, announced, {"withdraw": True}, WITHDRAWN, KEPT),
        (SUPERADMIN, due, {"withdraw": True}, SIGNS, KEPT),
        (SUPERADMIN, as_arranged, {"activeInMinutes": True}, MINUTES_RULE, NOTHING),
        (SUPERADMIN, as_arranged, {"activeInMinutes": 10_081}, MINUTES_RULE, NOTHING),
        (SUPERADMIN, as_arranged, both, invalid("withdraw creates no secret. Omit…"), NOTHING),
        (ADMIN, as_arranged, {}, SUPERADMINS, NOTHING),
    ):
        yield f"{data}", Row("rotateWebhookSecret", caller, state, data, answer, writes)


def links() -> Rows:
    """Yield the rows of spec 4.11 and 4.12."""
    rows: list[tuple[State, dict[str, Any], Mapping[str, Any] | Refusal, frozenset[str]]] = [
        (as_arranged, {"url": URL}, A_WEEK, SHARED),
        (url_is_disabled, {"url": URL}, A_WEEK, SHARED),
        (as_arranged, {"url": URL, "days": 1}, A_DAY, SHARED),
        *((as_arranged, {"url": url}, NO_URL, COUNTED) for url in ("", f"{URL}/")),
        *((as_arranged, {"url": URL, "days": n}, DAYS_RULE, NOTHING) for n in (0, 8, "2")),
    ]
    for state, data, answer, writes in rows:
        yield f"{data}", Row("shareWebhookLog", ADMIN, state, data, answer, writes)
    now = {"shareId": "shows", "revokedAt": "2026-05-01T18:30:00.000Z"}
    for state, name, answer, writes in (
        (as_arranged, "shows", now, SHARED),
        (shares_with(revokedAt=MINUTE), "shows", {"shareId": "shows"}, COUNTED),
        (as_arranged, "none", NO_SHARE, COUNTED),
    ):
        yield name, Row("revokeWebhookLog", ADMIN, state, {"shareId": name}, answer, writes)


def bearers() -> Rows:
    """Yield the rows of spec 4.13 and 4.14: one error for every link that is no longer valid."""
    for function, data in (("getWebhookLog", {}), ("resendSharedWebhook", {"deliveryId": "d1"})):
        for why, caller, state, given, answer, writes in (
            ("revoked", RESEND_LINK, shares_with(revokedAt=MINUTE), {}, NO_LINK, COUNTED),
            ("expired", RESEND_LINK, shares_with(expireAt=timedelta(0)), {}, NO_LINK, COUNTED),
            ("deleted with its event", RESEND_LINK, ArrangedEvent.delete, {}, NO_LINK, COUNTED),
            ("never created", Bearer("none"), as_arranged, {}, NO_LINK, COUNTED),
            ("a guess", RESEND_LINK, as_arranged, {"token": "guessed"}, NO_LINK, COUNTED),
            ("no token", RESEND_LINK, as_arranged, {"token": None}, TOKEN_RULE, NOTHING),
        ):
            yield why, Row(function, caller, state, {**data, **given}, answer, writes)


def logs() -> Rows:
    """Yield the rows of spec 4.13."""
    joined = {"event": "guest.joined"}
    everything = {
        "url": "example.com~19f1",
        "canResend": False,
        "deliveries": ["joined", "pending", "failed"],
        "next": None,
    }
    for state, data, answer in (
        (log_of_three, {}, everything),
        (log_of_three, {"outcome": None, "event": None}, everything),
        (log_of_three, {"outcome": "failed"}, {"deliveries": ["failed"]}),
        (log_of_three, {"outcome": "pending"}, {"deliveries": ["joined", "pending"]}),
        (log_of_three, joined, {"deliveries": ["joined"]}),
        (log_of_three, joined | {"outcome": "failed"}, {"deliveries": []}),
        (log_of_several_ids, {}, {"deliveries": ["again", "since", "before the id"]}),
        (failed_at_a_removed_url, {}, {"deliveries": ["d1"]}),
        (shares_with(expireAt=-MINUTE), {}, {"deliveries": [], "canResend": True}),
    ):
        yield f"{data}", Row("getWebhookLog", READ_ONLY_LINK, state, data, answer, COUNTED)
    for after in ("~", "2026-05-01~d1", f"{TIME}~a/b", f"{TIME}~d1~d2", 7):
        where = {"after": after}
        yield (
            f"{where}",
            Row("getWebhookLog", READ_ONLY_LINK, as_arranged, where, AFTER_RULE, NOTHING),
        )


ROWS: Final[list[tuple[str, Row]]] = [
    (f"{row.function}: {why}", row)
    for table in (staff_errors, tests_of_urls, redeliveries, pages, secrets, links, bearers, logs)
    for why, row in table()
]


def arguments(row: Row, event_id: str, now: datetime, token_of: Callable[[str], str]) -> Any:
    """Return the `data` of the row's call. `token_of` signs the token of a share."""
    given = {
        name: (now - value).astimezone(ZONE).isoformat() if isinstance(value, Ago) else value
        for name, value in row.data.items()
    }
    if isinstance(row.caller, Bearer):
        return {"token": token_of(row.caller.share)} | given
    return {"eventId": event_id} | given


def result_of(body: Mapping[str, Any]) -> Mapping[str, Any] | Refusal:
    """Return the result in a response body, or the code and message of its error."""
    if "result" in body:
        result: Mapping[str, Any] = body["result"]
        return result
    return Code(body["error"]["status"].lower().replace("_", "-")), body["error"]["message"]


def expected(row: Row, answer: Mapping[str, Any] | Refusal) -> object:
    """Return the part of `answer` that the row specifies. It must equal the row's own answer."""
    if isinstance(answer, tuple):
        code, message = answer
        expected_message = row.answer[1] if isinstance(row.answer, tuple) else ""
        beginning = expected_message.removesuffix("…")
        begins = beginning != expected_message and message.startswith(beginning)
        return code, expected_message if begins else message
    names = row.answer.keys() if isinstance(row.answer, Mapping) else answer.keys()
    return {
        name: [delivery["id"] for delivery in value] if name == "deliveries" else value
        for name, value in answer.items()
        if name in names
    }
