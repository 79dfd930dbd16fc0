"""Handlers of the webhook callables, for organizers and for bearers of links to delivery logs.

A handler first parses all arguments, then admits and counts the call, and finally calls the use
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
"""Maximum characters of a URL in an argument."""

LONGEST_DAYS: Final = 7
"""Maximum and default validity of a share, in days."""

ANNOUNCED_MINUTES: Final = 10_080
"""Maximum time between the announcement and the activation of a secret: a week."""

_RESENDS: Final = 10
"""Factor of the rate limit of `resendWebhook`, because each call handles one page of deliveries."""

_OF_A_PAGE: Final = ("next", "url", "event", "until", "outcome")
"""Arguments of `resendWebhook` that require `since`."""

_OUTCOMES: Final[Mapping[str, tuple[Outcome, ...]]] = {
    "failed": UNDELIVERED,
    "success": (Outcome.SUCCESS,),
    "any": (*UNDELIVERED, Outcome.SUCCESS),
}
"""Outcomes by value of the argument `outcome`. Skipped deliveries count as failed."""


def send_test(service: "Service", call: StaffCall) -> dict[str, Any]:
    """Handle `sendTestWebhook`, for admins, and return the result of the first attempt."""
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
    """Handle `resendWebhook`, for admins.

    Return the number of resent deliveries, and whether there are more. A dry run returns the number
    of deliveries that would be resent, and the number of skipped deliveries by reason.
    """
    data, event = call.data, read_event(call.data, "deliveryId", "since", *_OF_A_PAGE, "dryRun")
    delivery_id = data.get("deliveryId")
    if (delivery_id is None) == (data.get("since") is None):
        refuse("Pass either deliveryId or since.")
    dry_run = flag_argument("dryRun", data.get("dryRun"))
    if delivery_id is None:
        return _resend_page(service, call, event, dry_run=dry_run)
    delivery_id = id_argument("deliveryId", delivery_id, "a delivery")
    of_a_page = [name for name in _OF_A_PAGE if data.get(name) is not None]
    if dry_run:
        of_a_page.append("dryRun")
    if of_a_page:
        refuse(f"{of_a_page[0]} requires since. Omit {of_a_page[0]} when you pass deliveryId.")
    service.actions.resend(_admitted(service, call, event, _RESENDS), delivery_id)
    return {"resent": 1, "leftAlone": 0, "more": False, "next": None}


def _resend_page(
    service: "Service", call: StaffCall, event: Mapping[str, Any], *, dry_run: bool
) -> dict[str, Any]:
    selected, after = _selected(call.data)
    url = None if call.data.get("url") is None else _url(call.data)
    if dry_run and after:
        refuse("dryRun counts all deliveries after since. Omit next.")
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
    """Handle `rotateWebhookSecret`, for superadmins, and return the activation time of the secret.

    A withdrawal returns no times. The response does not contain the secret, which a superadmin
    reads in Firestore.
    """
    data, event = call.data, read_event(call.data, "activeInMinutes", "withdraw")
    active_in = data.get("activeInMinutes")
    withdraw = flag_argument("withdraw", data.get("withdraw"))
    if withdraw and active_in is not None:
        refuse("withdraw creates no secret. Omit activeInMinutes.")
    minutes = number_argument("activeInMinutes", active_in, 0, ANNOUNCED_MINUTES, default=0)
    event_id = _admitted(service, call, event)
    if withdraw:
        withdrawn = service.actions.withdraw_secret(event_id, call.caller)
        result = "was withdrawn" if withdrawn else "was already withdrawn or is already active"
        times = ("rotatedAt", "activeFrom", "oldSecretUsedUntil")
        return dict.fromkeys(times) | {"message": f"The announced secret {result}."}
    signs_from = service.actions.rotate_secret(event_id, call.caller, timedelta(minutes=minutes))
    active_from, until = wire_time(signs_from), wire_time(signs_from + SECRET_KEPT)
    message = f"Accept both secrets until {until}. Deliveries may still use the old secret."
    if minutes:
        message = f"The new secret becomes active at {active_from}. {message}"
    return {
        "rotatedAt": None if minutes else active_from,
        "activeFrom": active_from,
        "oldSecretUsedUntil": until,
        "message": message,
    }


def share_log(service: "Service", call: StaffCall) -> dict[str, Any]:
    """Handle `shareWebhookLog`, for admins, and return the link and its expiration time."""
    data, event = call.data, read_event(call.data, "url", "days", "canResend")
    url = _url(data)
    days = number_argument("days", data.get("days"), 1, LONGEST_DAYS, default=LONGEST_DAYS)
    can_resend = flag_argument("canResend", data.get("canResend"))
    event_id = _admitted(service, call, event)
    link, share = service.log_links.create(
        event_id, call.caller, url, timedelta(days=days), can_resend=can_resend
    )
    return {"link": link, "shareId": share.id, "expiresAt": wire_time(share.expire_at)}


def revoke_log(service: "Service", call: StaffCall) -> dict[str, Any]:
    """Handle `revokeWebhookLog`, for admins, and return the time at which the link ended."""
    event = read_event(call.data, "shareId")
    share_id = id_argument("shareId", call.data.get("shareId"), "a share of the event")
    event_id = _admitted(service, call, event)
    revoked_at = service.log_links.revoke(event_id, call.caller, share_id)
    return {"shareId": share_id, "revokedAt": wire_time(revoked_at)}


def get_log(service: "Service", call: Call) -> dict[str, Any]:
    """Handle `getWebhookLog`, for the bearer of a link, and return a page of deliveries."""
    data = call.data
    refuse_unknown(data, "token", "outcome", "event", "after")
    token = DELIVERY_LOG_LINK.token(data)
    after = _cursor(data.get("after"))
    if after is None and data.get("after") is not None:
        refuse("after must be the value of next from the previous response.")
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
    """Handle `resendSharedWebhook`, for the bearer of a link that can resend."""
    refuse_unknown(call.data, "token", "deliveryId")
    token = DELIVERY_LOG_LINK.token(call.data)
    delivery_id = id_argument("deliveryId", call.data.get("deliveryId"), "a delivery")
    event_id, share_id = service.admission.admit(call, token, DELIVERY_LOG_LINK)
    service.shared_log.resend(event_id, share_id, delivery_id)
    return {"resent": 1}


def _admitted(service: "Service", call: StaffCall, event: Mapping[str, Any], times: int = 1) -> str:
    """Count the call, and return the event's ID if the caller may act on the event."""
    service.admission.count_staff_call(call, times)
    event_id: str = event["event_id"]
    check_event(call.caller, service.webhook_store.event(event_id), event["tenant_id"])
    return event_id


def _url(data: Mapping[str, Any]) -> str:
    """Return the argument `url`, stripped."""
    url = data.get("url")
    if not isinstance(url, str) or len(url) > URL_CHARACTERS:
        refuse(f"url must be a string of at most {URL_CHARACTERS} characters.")
    return url.strip()


def _selected(data: Mapping[str, Any]) -> tuple[EndedWithin, Cursor | None]:
    """Return the selection of deliveries to resend, and the cursor after which the page starts."""
    since, until = _time(data, "since"), _time(data, "until") or FOREVER
    if since is None:  # cannot happen: without `since` the call is about one delivery
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
            refuse("next must be the value of next from the previous response.")
        until = ended_by
    outcomes = _OUTCOMES[outcome]
    return EndedWithin(since=since, until=until, outcomes=outcomes, event_type=event_type), after


def _time(data: Mapping[str, Any], name: str) -> datetime | None:
    """Return the time in the argument `name`, or None if it is missing."""
    value = data.get(name)
    moment = time_argument(value)
    if value is not None and moment is None:
        refuse(f"{name} must be an ISO 8601 time with a time zone, such as 2026-05-01T18:30:00Z.")
    return moment


def _cursor_text(cursor: Cursor) -> str:
    """Return the text of a cursor, for the call that reads the next page."""
    return f"{cursor.at.isoformat()}~{cursor.delivery_id}"


def _cursor(value: object) -> Cursor | None:
    """Parse the text of a cursor, or return None if it is malformed."""
    at, _, delivery_id = value.partition("~") if isinstance(value, str) else ("", "", "")
    moment = time_argument(at)
    return Cursor(moment, delivery_id) if moment and is_id(delivery_id) else None


def _on_wire(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery for the bearer of a link, without the URL, which may contain keys."""
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
