"""What an organizer calls, from request to answer."""

from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest

from functions import access
from functions.access import Role
from functions.clock import wire_time
from functions.gcp.callables import staff_call
from functions.webhooks.calls.webhook_arguments import (
    Page,
    ResendArguments,
    RotateArguments,
    TestArguments,
)
from functions.webhooks.signing import SECRET_KEPT

if TYPE_CHECKING:
    from functions.service import Service


def send_test(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `sendTestWebhook`, for admins: the result of the first attempt."""
    caller, arguments = staff_call(
        service, "sendTestWebhook", request, TestArguments.read, roles=access.ADMINS
    )
    delivery = service.url_test.send_test(caller, arguments)
    last = delivery.log[-1] if delivery.log else None
    return {
        "deliveryId": delivery.id,
        "outcome": delivery.outcome,
        "status": last.status if last else None,
        "ms": last.milliseconds if last else None,
        "error": last.error if last else delivery.reason,
        "nextAttemptAt": delivery.next_attempt_at and wire_time(delivery.next_attempt_at),
    }


def resend(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `resendWebhook`, for admins: how many are sent again, and whether more are left.

    In a dry run: how many would be sent again, and how many would be left alone, by the reason.
    """
    caller, arguments = staff_call(
        service,
        "resendWebhook",
        request,
        ResendArguments.read,
        roles=access.ADMINS,
        times=10,  # a page of deliveries each
    )
    if isinstance(arguments.what, Page) and arguments.what.dry_run:
        counted = service.actions.make_dry_run(caller, arguments, arguments.what)
        return {"matching": counted.matching, "leftAlone": counted.left_alone}
    done = service.actions.resend(caller, arguments)
    return {
        "resent": done.resent,
        "leftAlone": done.left_alone,
        "more": done.next is not None,
        "next": done.next,
    }


def rotate_secret(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `rotateWebhookSecret`, for superadmins: when the new secret begins to sign.

    A withdrawal has no such times. The answer does not hold the secret: a superadmin reads it in
    Firestore.
    """
    superadmin = frozenset({Role.SUPERADMIN})
    caller, arguments = staff_call(
        service, "rotateWebhookSecret", request, RotateArguments.read, roles=superadmin
    )
    if arguments.withdraw:
        withdrawn = service.actions.withdraw_secret(caller, arguments)
        words = "never signs" if withdrawn else "was withdrawn before, or signs already"
        times = ("rotatedAt", "activeFrom", "oldSecretUsedUntil")
        return dict.fromkeys(times) | {"message": f"The announced secret {words}."}
    signs_from = service.actions.rotate_secret(caller, arguments)
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
