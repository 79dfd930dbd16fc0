"""What admins and the bearers of links call about shared logs, from request to answer."""

from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest

from functions import access
from functions.clock import wire_time
from functions.gcp.callables import staff_call
from functions.links.link import TO_A_LOG, admitted
from functions.webhooks.calls.webhook_arguments import (
    LogArguments,
    ResendSharedArguments,
    RevokeArguments,
    ShareArguments,
)
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.endpoint_url import name_of

if TYPE_CHECKING:
    from functions.service import Service


def share_log(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `shareWebhookLog`, for admins: the link, and when it ends."""
    caller, arguments = staff_call(
        service, "shareWebhookLog", request, ShareArguments.read, roles=access.ADMINS
    )
    link, share = service.log_links.give_out(caller, arguments)
    return {"link": link, "shareId": share.id, "expiresAt": wire_time(share.expire_at)}


def revoke_log(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `revokeWebhookLog`, for admins: when the link ended."""
    caller, arguments = staff_call(
        service, "revokeWebhookLog", request, RevokeArguments.read, roles=access.ADMINS
    )
    revoked_at = service.log_links.revoke(caller, arguments)
    return {"shareId": arguments.share_id, "revokedAt": wire_time(revoked_at)}


def get_log(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `getWebhookLog`, for the bearer of a link: a page of deliveries."""
    arguments = LogArguments.read(request.data)
    event_id, share_id = admitted(
        service, "getWebhookLog", request.raw_request, arguments.token, TO_A_LOG
    )
    page = service.shared_log.read_page(event_id, share_id, arguments)
    return {
        "url": name_of(page.share.url),
        "canResend": page.share.can_resend,
        "expiresAt": wire_time(page.share.expire_at),
        "deliveries": [_on_wire(delivery) for delivery in page.deliveries],
        "next": page.next,
    }


def resend_shared(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `resendSharedWebhook`, for the bearer of a link that may resend."""
    arguments = ResendSharedArguments.read(request.data)
    event_id, share_id = admitted(
        service, "resendSharedWebhook", request.raw_request, arguments.token, TO_A_LOG
    )
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
