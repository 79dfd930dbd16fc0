"""What organizers and the bearers of links to a log call, from request to answer.

A handler reads all arguments, then admits the call, which is counted, and only then asks the use
case (design 3.3).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from functions.call.arguments import (
    choice_argument,
    flag_argument,
    id_argument,
    is_id,
    number_argument,
    read_event,
    refuse_unknown,
    time_argument,
)
from functions.call.caller import check_event
from functions.call.errors import refuse
from functions.gcp.callables import Call, StaffCall
from functions.links.link import DELIVERY_LOG_LINK
from functions.ports import wire_time
from functions.webhooks.deliveries.delivery import (
    FOREVER,
    UNDELIVERED,
    Cursor,
    Delivery,
    EndedWithin,
    Outcome,
)
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.events import EventType
from functions.webhooks.signing import SECRET_KEPT

if TYPE_CHECKING:
    from functions.service import Service

URL_CHARACTERS: Final = 2048
"""Characters of a URL in an argument, at most."""

LONGEST_DAYS: Final = 7
"""How long a share lasts at most, and by default."""

ANNOUNCED_MINUTES: Final = 10_080
"""How early a secret can be announced: a week."""

_RESENDS: Final = 10
"""A person has so many times the calls: each of `resendWebhook` is for a page of deliveries."""

_OF_A_PAGE: Final = ("next", "url", "event", "until", "outcome")
"""Arguments of `resendWebhook` that go with `since`."""

_OUTCOMES: Final[Mapping[str, tuple[Outcome, ...]]] = {
    "failed": UNDELIVERED,
    "success": (Outcome.SUCCESS,),
    "any": (*UNDELIVERED, Outcome.SUCCESS),
}
"""Meanings of the field `outcome`: skipped deliveries count as failed ones."""


def send_test(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `sendTestWebhook`, for admins: the result of the first attempt."""
    data, event = call.data, read_event(call.data, "url", "event")
    url = _url(data)
    event_type = choice_argument("event", data.get("event"), EventType, EventType.PHOTO_UPLOADED)
    event_id = _admitted(service, call, event)
    delivery = service.url_test.send_test(event_id, url, event_type)
    last = delivery.log[-1] if delivery.log else None
    return {
        "deliveryId": delivery.id,
        "outcome": delivery.outcome,
        "status": last.status if last else None,
        "ms": last.milliseconds if last else None,
        "error": last.error if last else delivery.reason,
        "nextAttemptAt": delivery.next_attempt_at and wire_time(delivery.next_attempt_at),
    }


def resend(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `resendWebhook`, for admins: how many are sent again, and whether more are left.

    In a dry run: how many would be sent again, and how many would be left alone, by the reason.
    """
    data, event = call.data, read_event(call.data, "deliveryId", "since", *_OF_A_PAGE, "dryRun")
    delivery_id = data.get("deliveryId")
    if (delivery_id is None) == (data.get("since") is None):
        refuse("Give either deliveryId or since.")
    dry_run = flag_argument("dryRun", data.get("dryRun"))
    if delivery_id is None:
        return _resend_page(service, call, event, dry_run=dry_run)
    delivery_id = id_argument("deliveryId", delivery_id, "a delivery")
    of_a_page = [name for name in _OF_A_PAGE if data.get(name) is not None]
    if dry_run:
        of_a_page.append("dryRun")
    if of_a_page:
        refuse(f"{of_a_page[0]} goes with since; leave it out where deliveryId is given.")
    service.actions.resend(_admitted(service, call, event, _RESENDS), delivery_id)
    return {"resent": 1, "leftAlone": 0, "more": False, "next": None}


def _resend_page(
    service: "Service", call: StaffCall, event: Mapping[str, Any], *, dry_run: bool
) -> dict[str, Any]:
    selected, after = _selected(call.data)
    url = None if call.data.get("url") is None else _url(call.data)
    if dry_run and after:
        refuse("dryRun counts everything from since on; leave next out.")
    event_id = _admitted(service, call, event, _RESENDS)
    if dry_run:
        matching, left_alone = service.actions.make_dry_run(event_id, selected, url)
        return {"matching": matching, "leftAlone": left_alone}
    done = service.actions.resend_page(event_id, selected, url, after)
    return {
        "resent": done.resent,
        "leftAlone": done.left_alone,
        "more": done.next is not None,
        "next": done.next and f"{done.until.isoformat()}~{_cursor_text(done.next)}",
    }


def rotate_secret(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `rotateWebhookSecret`, for superadmins: when the new secret begins to sign.

    A withdrawal has no such times. The answer does not hold the secret: a superadmin reads it in
    Firestore.
    """
    data, event = call.data, read_event(call.data, "activeInMinutes", "withdraw")
    given = data.get("activeInMinutes")
    withdraw = flag_argument("withdraw", data.get("withdraw"))
    if withdraw and given is not None:
        refuse("withdraw makes no new secret; leave activeInMinutes out.")
    minutes = number_argument("activeInMinutes", given, 0, ANNOUNCED_MINUTES, default=0)
    event_id = _admitted(service, call, event)
    if withdraw:
        withdrawn = service.actions.withdraw_secret(event_id, call.caller)
        words = "never signs" if withdrawn else "was withdrawn before, or signs already"
        times = ("rotatedAt", "activeFrom", "oldSecretUsedUntil")
        return dict.fromkeys(times) | {"message": f"The announced secret {words}."}
    signs_from = service.actions.rotate_secret(event_id, call.caller, timedelta(minutes=minutes))
    active_from, until = wire_time(signs_from), wire_time(signs_from + SECRET_KEPT)
    message = f"Deliveries may be signed with the old secret until {until}: accept both."
    if minutes:
        message = f"The new secret signs from {active_from} on. {message}"
    return {
        "rotatedAt": None if minutes else active_from,
        "activeFrom": active_from,
        "oldSecretUsedUntil": until,
        "message": message,
    }


def share_log(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `shareWebhookLog`, for admins: the link, and when it ends."""
    data, event = call.data, read_event(call.data, "url", "days", "canResend")
    url = _url(data)
    days = number_argument("days", data.get("days"), 1, LONGEST_DAYS, default=LONGEST_DAYS)
    can_resend = flag_argument("canResend", data.get("canResend"))
    event_id = _admitted(service, call, event)
    link, share = service.log_links.give_out(
        event_id, call.caller, url, timedelta(days=days), can_resend=can_resend
    )
    return {"link": link, "shareId": share.id, "expiresAt": wire_time(share.expire_at)}


def revoke_log(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `revokeWebhookLog`, for admins: when the link ended."""
    event = read_event(call.data, "shareId")
    share_id = id_argument("shareId", call.data.get("shareId"), "a share of the event")
    event_id = _admitted(service, call, event)
    revoked_at = service.log_links.revoke(event_id, call.caller, share_id)
    return {"shareId": share_id, "revokedAt": wire_time(revoked_at)}


def get_log(service: "Service", call: Call) -> dict[str, Any]:
    """A call of `getWebhookLog`, for the bearer of a link: a page of deliveries."""
    data = call.data
    refuse_unknown(data, "token", "outcome", "event", "after")
    token = DELIVERY_LOG_LINK.token(data)
    after = _cursor(data.get("after"))
    if after is None and data.get("after") is not None:
        refuse("after must be what the answer before had as next.")
    outcome = choice_argument("outcome", data.get("outcome"), Outcome, None)
    event_type = choice_argument("event", data.get("event"), EventType, None)
    event_id, share_id = service.admission.admit(call, token, DELIVERY_LOG_LINK)
    page = service.shared_log.read_page(event_id, share_id, outcome, event_type, after)
    return {
        "url": name_of(page.share.url),
        "canResend": page.share.can_resend,
        "expiresAt": wire_time(page.share.expire_at),
        "deliveries": [_on_wire(delivery) for delivery in page.deliveries],
        "next": page.next and _cursor_text(page.next),
    }


def resend_shared(service: "Service", call: Call) -> dict[str, Any]:
    """A call of `resendSharedWebhook`, for the bearer of a link that may resend."""
    refuse_unknown(call.data, "token", "deliveryId")
    token = DELIVERY_LOG_LINK.token(call.data)
    delivery_id = id_argument("deliveryId", call.data.get("deliveryId"), "a delivery")
    event_id, share_id = service.admission.admit(call, token, DELIVERY_LOG_LINK)
    service.shared_log.send_again(event_id, share_id, delivery_id)
    return {"resent": 1}


def _admitted(service: "Service", call: StaffCall, event: Mapping[str, Any], times: int = 1) -> str:
    """The id of the event that the call is about, if the caller may act on it; counts the call."""
    service.admission.count_staff_call(call, times)
    event_id: str = event["event_id"]
    check_event(call.caller, service.webhook_store.event(event_id), event["tenant_id"])
    return event_id


def _url(data: Mapping[str, Any]) -> str:
    """The URL as it may stand in the settings, without blanks around it."""
    given = data.get("url")
    if not isinstance(given, str) or len(given) > URL_CHARACTERS:
        refuse(f"url must be a string of at most {URL_CHARACTERS} characters.")
    return given.strip()


def _selected(data: Mapping[str, Any]) -> tuple[EndedWithin, Cursor | None]:
    """The deliveries to send again, and behind which of them the page begins."""
    since, until = _time(data, "since"), _time(data, "until") or FOREVER
    if since is None:  # it was given: this is no call for one delivery
        refuse("since must be a time.")
    if until < since:
        refuse("until must not be before since.")
    outcome = choice_argument("outcome", data.get("outcome"), _OUTCOMES, "failed")
    event_type = choice_argument("event", data.get("event"), EventType, None)
    next_, after = data.get("next"), None
    if next_ is not None:
        first_until, _, cursor = next_.partition("~") if isinstance(next_, str) else ("", "", "")
        ended_by, after = time_argument(first_until), _cursor(cursor)
        if ended_by is None or after is None:
            refuse("next must be what the answer before had as next.")
        until = ended_by
    outcomes = _OUTCOMES[outcome]
    return EndedWithin(since=since, until=until, outcomes=outcomes, event_type=event_type), after


def _time(data: Mapping[str, Any], name: str) -> datetime | None:
    """The time in the field of that name, or None."""
    given = data.get(name)
    moment = time_argument(given)
    if given is not None and moment is None:
        refuse(f"{name} must be a time in ISO 8601 with its zone, as in 2026-05-01T18:30:00Z.")
    return moment


def _cursor_text(cursor: Cursor) -> str:
    """Where a page stopped, for the call that goes on."""
    return f"{cursor.at.isoformat()}~{cursor.delivery_id}"


def _cursor(given: object) -> Cursor | None:
    """The cursor in such a text; None where the text holds none."""
    at, _, delivery_id = given.partition("~") if isinstance(given, str) else ("", "", "")
    moment = time_argument(at)
    return Cursor(moment, delivery_id) if moment and is_id(delivery_id) else None


def _on_wire(delivery: Delivery) -> dict[str, Any]:
    """A delivery as the bearer of a link sees it: without the URL, which may hold keys."""
    return {
        "id": delivery.id,
        "event": delivery.event_type,
        "createdAt": wire_time(delivery.created_at),
        "outcome": delivery.outcome,
        "attempts": delivery.attempts,
        "nextAttemptAt": delivery.next_attempt_at and wire_time(delivery.next_attempt_at),
        "endedAt": delivery.ended_at and wire_time(delivery.ended_at),
        "round": delivery.round,
        "reason": delivery.reason,
        "test": delivery.test,
        "body": delivery.body,
        "log": [
            {
                "attempt": attempt.number,
                "round": attempt.round,
                "at": wire_time(attempt.at),
                "status": attempt.status,
                "ms": attempt.milliseconds,
                "error": attempt.error,
                "answer": attempt.answer,
            }
            for attempt in delivery.log
        ],
    }
