"""What the callables call: from the SDK's requests to the nouns of this package."""

from typing import Any

from firebase_functions.https_fn import CallableRequest

from functions import access
from functions.access import Caller, Role
from functions.event_arguments import EventArguments
from functions.timestamps import wire_time
from functions.webhooks import service
from functions.webhooks.arguments import ResendArguments, TestArguments


def send_test(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `sendTestWebhook`: how the first attempt went.

    Raises:
        CallError: as `Actions.send_test` says.
    """
    caller = _caller(request, access.STAFF)
    delivery = service.actions().send_test(caller, TestArguments.read(request.data))
    last = delivery.log[-1] if delivery.log else None
    return {
        "deliveryId": delivery.id,
        "outcome": delivery.outcome,
        "status": last.status if last else None,
        "ms": last.milliseconds if last else None,
        "error": last.error if last else delivery.reason,
        "nextAttemptAt": delivery.next_attempt_at and wire_time(delivery.next_attempt_at),
    }


def resend(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `resendWebhook`: how many deliveries are sent again, and whether more are left.

    Raises:
        CallError: as `Actions.resend` says.
    """
    caller = _caller(request, access.STAFF)
    done = service.actions().resend(caller, ResendArguments.read(request.data))
    return {
        "resent": done.resent,
        "leftAlone": done.left_alone,
        "more": done.next is not None,
        "next": done.next,
    }


def rotate_secret(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `rotateWebhookSecret`, for superadmins: from when on the new secret counts.

    The secret itself is in no answer: a superadmin reads it where it stands.

    Raises:
        CallError: as `Actions.rotate_secret` says.
    """
    caller = _caller(request, frozenset({Role.SUPERADMIN}))
    rotated = service.actions().rotate_secret(caller, EventArguments.read(request.data))
    until = wire_time(rotated.old_secret_used_until)
    return {
        "rotatedAt": wire_time(rotated.at),
        "oldSecretUsedUntil": until,
        "message": f"Deliveries may be signed with the old secret until {until}: accept both.",
    }


def _caller(request: CallableRequest[Any], roles: frozenset[Role]) -> Caller:
    auth = request.auth
    return access.staff(auth.uid if auth else None, auth.token if auth else None, roles)
