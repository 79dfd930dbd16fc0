"""What admins and the bearers of links call about shared logs, from request to answer."""

from typing import Any

from firebase_functions.https_fn import CallableRequest

from functions import access
from functions.signed_in import staff_call
from functions.signed_links.admission import admitted
from functions.signed_links.link import TO_A_LOG
from functions.timestamps import wire_time
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.shared_logs import wiring
from functions.webhooks.shared_logs.arguments import (
    LogArguments,
    ResendSharedArguments,
    RevokeArguments,
    ShareArguments,
)


def share_log(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `shareWebhookLog`, for admins: the link, and when it ends."""
    caller, wanted = staff_call(
        "shareWebhookLog", request, ShareArguments.read, roles=access.ADMINS
    )
    link, share = wiring.log_links().give_out(caller, wanted)
    return {"link": link, "shareId": share.id, "expiresAt": wire_time(share.expire_at)}


def revoke_log(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `revokeWebhookLog`, for admins: when the link ended."""
    caller, wanted = staff_call(
        "revokeWebhookLog", request, RevokeArguments.read, roles=access.ADMINS
    )
    revoked_at = wiring.log_links().revoke(caller, wanted)
    return {"shareId": wanted.share_id, "revokedAt": wire_time(revoked_at)}


def get_log(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `getWebhookLog`, for the bearer of a link: a page of deliveries."""
    wanted = LogArguments.read(request.data)
    event_id, share_id = admitted(
        "getWebhookLog", request.raw_request, wanted.token, TO_A_LOG, wiring.keys()
    )
    page = wiring.shared_log().read_page(event_id, share_id, wanted)
    return {
        "url": name_of(page.share.url),
        "canResend": page.share.can_resend,
        "expiresAt": wire_time(page.share.expire_at),
        "deliveries": [_on_wire(delivery) for delivery in page.deliveries],
        "next": page.next,
    }


def resend_shared(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `resendSharedWebhook`, for the bearer of a link that may resend."""
    wanted = ResendSharedArguments.read(request.data)
    event_id, share_id = admitted(
        "resendSharedWebhook", request.raw_request, wanted.token, TO_A_LOG, wiring.keys()
    )
    wiring.shared_log().send_again(event_id, share_id, wanted)
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
