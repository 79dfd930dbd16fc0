"""What the deployed functions call: from events, tasks and requests to this package's nouns."""

from typing import Any

from firebase_functions.https_fn import CallableRequest, FunctionsErrorCode, HttpsError

from functions import access, log
from functions.access import Role
from functions.gcp.document_events import DocumentWritten, Snapshot
from functions.gcp.run_again import run_again
from functions.signed_links.admission import admitted
from functions.signed_links.link import TO_A_LOG
from functions.signed_links.token import Scope
from functions.timestamps import wire_time
from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent
from functions.webhooks import wiring
from functions.webhooks.arguments import Page, ResendArguments, RotateArguments, TestArguments
from functions.webhooks.deliveries.attempt_task import AttemptRequest, TooEarlyError
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.endpoints.endpoint_url import heading_of
from functions.webhooks.next_round import Obstacle
from functions.webhooks.shared_logs.arguments import (
    LogArguments,
    ResendSharedArguments,
    RevokeArguments,
    ShareArguments,
)

_OWNERS = frozenset({Role.ADMIN, Role.SUPERADMIN})


def photo_written(event: DocumentWritten) -> None:
    """A write of `events/{eventId}/photos/{photoId}`."""
    photo_id = event.ids["photoId"]
    with run_again("photo.not-published"):
        wiring.publisher().photo_written(
            event.id,
            event.ids["eventId"],
            _photo(photo_id, event.before),
            _photo(photo_id, event.after),
        )


def event_written(event: DocumentWritten) -> None:
    """A write of `events/{eventId}`."""
    with run_again("event.not-published"):
        wiring.publisher().event_written(
            event.id,
            event.ids["eventId"],
            _wall_event(event.before),
            _wall_event(event.after),
        )


def attempt(task: CallableRequest[Any]) -> None:
    """A task of one of the queues of attempts.

    Raises:
        HttpsError: `aborted`, so that the queue brings the task back after its backoff, where the
            attempt is not due yet. Not `unavailable`: Cloud Tasks would throttle the queue.
            `invalid-argument` where the body is no task of ours.
    """
    try:
        request = AttemptRequest.read(task.data, dispatched_before=_dispatched_before(task))
    except ValueError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    with run_again("delivery.not-attempted"):
        try:
            wiring.worker().attempt(request)
        except TooEarlyError as early:
            raise HttpsError(FunctionsErrorCode.ABORTED, "the attempt is not due yet") from early


def _dispatched_before(task: CallableRequest[Any]) -> int:
    """How often Cloud Tasks has dispatched this task before, and got no answer or a bad one.

    https://cloud.google.com/tasks/docs/creating-http-target-tasks#handler
    """
    count = task.raw_request.headers.get("X-CloudTasks-TaskRetryCount", "")
    return int(count) if count.isdecimal() else 0


def sweep() -> None:
    """The schedule. What fails is tried by the next one."""
    try:
        wiring.sweeper().sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("deliveries.not-swept", error)
    try:
        wiring.notice_sweeper().sweep()
    except Exception as error:  # noqa: BLE001 - see `run_again`
        log.fault("notices.not-swept", error)


def send_test(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `sendTestWebhook`, for admins: how the first attempt went.

    Raises:
        CallError: as `Actions.send_test` says.
    """
    caller = access.staff(request.auth, _OWNERS)
    delivery = wiring.actions().send_test(caller, TestArguments.read(request.data))
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
    """A call of `resendWebhook`, for admins: how many are sent again, and whether more are left.

    In a dry run: how many would be sent again, and how many would be left alone, by the reason.

    Raises:
        CallError: as `Actions.resend` says.
    """
    caller = access.staff(request.auth, _OWNERS)
    wanted = ResendArguments.read(request.data)
    if isinstance(wanted.what, Page) and wanted.what.dry_run:
        foreseen = wiring.actions().foresee(caller, wanted, wanted.what)
        barred = {str(obstacle): foreseen.barred.get(obstacle, 0) for obstacle in Obstacle}
        return {"matching": foreseen.matching, "leftAlone": barred | {"tests": foreseen.tests}}
    done = wiring.actions().resend(caller, wanted)
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
    caller = access.staff(request.auth, frozenset({Role.SUPERADMIN}))
    rotated = wiring.actions().rotate_secret(caller, RotateArguments.read(request.data))
    active_from = wire_time(rotated.active_from)
    until = wire_time(rotated.old_secret_used_until)
    message = f"Deliveries may be signed with the old secret until {until}: accept both."
    if rotated.announced:
        message = f"The new secret signs from {active_from} on. {message}"
    return {
        "rotatedAt": None if rotated.announced else active_from,
        "activeFrom": active_from,
        "oldSecretUsedUntil": until,
        "message": message,
    }


def share_log(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `shareWebhookLog`, for admins: the link, and when it ends.

    Raises:
        CallError: as `LogLinks.give_out` says.
    """
    caller = access.staff(request.auth, _OWNERS)
    shared = wiring.log_links().give_out(caller, ShareArguments.read(request.data))
    return {
        "link": shared.link,
        "shareId": shared.share.id,
        "expiresAt": wire_time(shared.share.expire_at),
    }


def revoke_log(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `revokeWebhookLog`, for admins: when the link ended.

    Raises:
        CallError: as `LogLinks.revoke` says.
    """
    caller = access.staff(request.auth, _OWNERS)
    wanted = RevokeArguments.read(request.data)
    revoked_at = wiring.log_links().revoke(caller, wanted)
    return {"shareId": wanted.share_id, "revokedAt": wire_time(revoked_at)}


def get_log(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `getWebhookLog`, for whoever has a link: a page of deliveries.

    Raises:
        CallError: as `admitted` and `SharedLog.read_page` say.
    """
    wanted = LogArguments.read(request.data)
    event_id, share_id = _admitted("getWebhookLog", request, wanted.token)
    page = wiring.shared_log().read_page(event_id, share_id, wanted)
    return {
        "url": heading_of(page.share.url),
        "canResend": page.share.can_resend,
        "expiresAt": wire_time(page.share.expire_at),
        "deliveries": [_on_wire(one) for one in page.deliveries],
        "next": page.next,
    }


def resend_shared(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `resendSharedWebhook`, for whoever has a link that may.

    Raises:
        CallError: as `admitted` and `SharedLog.send_again` say.
    """
    wanted = ResendSharedArguments.read(request.data)
    event_id, share_id = _admitted("resendSharedWebhook", request, wanted.token)
    wiring.shared_log().send_again(event_id, share_id, wanted)
    return {"resent": 1}


def _admitted(function: str, request: CallableRequest[Any], token: str) -> tuple[str, str]:
    """Event and share that `token` names, if the client may call at all."""
    event_id, share_id = admitted(
        function, request.raw_request, token, scope=Scope.WEBHOOK_LOG, link=TO_A_LOG
    )
    return event_id, share_id


def _on_wire(delivery: Delivery) -> dict[str, Any]:
    """What the bearer of a link sees of a delivery: all of it but the URL, which may hold keys."""
    return {
        "id": delivery.id,
        "event": delivery.event,
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
                "attempt": one.number,
                "round": one.round,
                "at": wire_time(one.at),
                "status": one.status,
                "ms": one.milliseconds,
                "error": one.error,
                "answer": one.answer,
            }
            for one in delivery.log
        ],
    }


def _photo(photo_id: str, snapshot: Snapshot | None) -> Photo | None:
    if snapshot is None:
        return None
    return Photo.read(photo_id, snapshot.fields, created=snapshot.created, updated=snapshot.updated)


def _wall_event(snapshot: Snapshot | None) -> WallEvent | None:
    if snapshot is None:
        return None
    return WallEvent.read(snapshot.fields, updated=snapshot.updated)
