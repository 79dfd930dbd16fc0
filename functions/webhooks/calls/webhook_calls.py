"""What organizers and the bearers of links to a log call, from request to answer."""

from typing import TYPE_CHECKING, Any

from functions.gcp.callables import Call, StaffCall, count_call
from functions.links.link import TO_A_LOG, admitted
from functions.outside import wire_time
from functions.webhooks.calls.webhook_arguments import (
    LogArguments,
    Page,
    ResendArguments,
    ResendSharedArguments,
    RevokeArguments,
    RotateArguments,
    ShareArguments,
    TestArguments,
)
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.signing import SECRET_KEPT

if TYPE_CHECKING:
    from functions.service import Service


def send_test(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `sendTestWebhook`, for admins: the result of the first attempt."""
    arguments = TestArguments.read(call.data)
    count_call(service, call)
    delivery = service.url_test.send_test(call.caller, arguments)
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
    arguments = ResendArguments.read(call.data)
    count_call(service, call, times=10)  # a page of deliveries each
    if isinstance(arguments.what, Page) and arguments.what.dry_run:
        counted = service.actions.make_dry_run(call.caller, arguments, arguments.what)
        return {"matching": counted.matching, "leftAlone": counted.left_alone}
    done = service.actions.resend(call.caller, arguments)
    return {
        "resent": done.resent,
        "leftAlone": done.left_alone,
        "more": done.next is not None,
        "next": done.next,
    }


def rotate_secret(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `rotateWebhookSecret`, for superadmins: when the new secret begins to sign.

    A withdrawal has no such times. The answer does not hold the secret: a superadmin reads it in
    Firestore.
    """
    arguments = RotateArguments.read(call.data)
    count_call(service, call)
    if arguments.withdraw:
        withdrawn = service.actions.withdraw_secret(call.caller, arguments)
        words = "never signs" if withdrawn else "was withdrawn before, or signs already"
        times = ("rotatedAt", "activeFrom", "oldSecretUsedUntil")
        return dict.fromkeys(times) | {"message": f"The announced secret {words}."}
    signs_from = service.actions.rotate_secret(call.caller, arguments)
    active_from, until = wire_time(signs_from), wire_time(signs_from + SECRET_KEPT)
    message = f"Deliveries may be signed with the old secret until {until}: accept both."
    if arguments.active_in:
        message = f"The new secret signs from {active_from} on. {message}"
    return {
        "rotatedAt": None if arguments.active_in else active_from,
        "activeFrom": active_from,
        "oldSecretUsedUntil": until,
        "message": message,
    }


def share_log(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `shareWebhookLog`, for admins: the link, and when it ends."""
    arguments = ShareArguments.read(call.data)
    count_call(service, call)
    link, share = service.log_links.give_out(call.caller, arguments)
    return {"link": link, "shareId": share.id, "expiresAt": wire_time(share.expire_at)}


def revoke_log(service: "Service", call: StaffCall) -> dict[str, Any]:
    """A call of `revokeWebhookLog`, for admins: when the link ended."""
    arguments = RevokeArguments.read(call.data)
    count_call(service, call)
    revoked_at = service.log_links.revoke(call.caller, arguments)
    return {"shareId": arguments.share_id, "revokedAt": wire_time(revoked_at)}


def get_log(service: "Service", call: Call) -> dict[str, Any]:
    """A call of `getWebhookLog`, for the bearer of a link: a page of deliveries."""
    arguments = LogArguments.read(call.data)
    event_id, share_id = admitted(service, call, arguments.token, TO_A_LOG)
    page = service.shared_log.read_page(event_id, share_id, arguments)
    return {
        "url": name_of(page.share.url),
        "canResend": page.share.can_resend,
        "expiresAt": wire_time(page.share.expire_at),
        "deliveries": [_on_wire(delivery) for delivery in page.deliveries],
        "next": page.next,
    }


def resend_shared(service: "Service", call: Call) -> dict[str, Any]:
    """A call of `resendSharedWebhook`, for the bearer of a link that may resend."""
    arguments = ResendSharedArguments.read(call.data)
    event_id, share_id = admitted(service, call, arguments.token, TO_A_LOG)
    service.shared_log.send_again(event_id, share_id, arguments)
    return {"resent": 1}


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
