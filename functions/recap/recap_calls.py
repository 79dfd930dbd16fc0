"""The handlers of the recap's callables: the SDK's requests, in the words of this package."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from firebase_functions.https_fn import CallableRequest

from functions.call_error import CallError
from functions.recap.recap_arguments import PreviewArguments, RecapArguments
from functions.signed_in import staff_call
from functions.wall.address import deliverable

if TYPE_CHECKING:
    from functions.service import Service


def send_event_recap(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `sendEventRecap` (spec 4.1); design 3.3 gives the order of the checks.

    Raises:
        CallError: as in spec 7.1.
    """
    caller, arguments = staff_call(service, "sendEventRecap", request, RecapArguments.read)
    result = service.recap_sender.send(caller, arguments)
    optional = {
        "message": result.message,
        "notes": result.notes,
        "skippedBy": result.skipped_by,
    }
    given = {name: value for name, value in optional.items() if value}
    return {"sent": result.sent, "skipped": result.skipped} | given


def preview_event_recap(service: "Service", request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `previewEventRecap` (spec 4.9), with the checks in the same order.

    Raises:
        CallError: as in spec 7.4.
    """
    caller, arguments = staff_call(service, "previewEventRecap", request, PreviewArguments.read)
    own_address = _verified_address(request.auth.token if request.auth else {})
    preview = service.recap_preview.show(caller, arguments, own_address)
    mail, blocked, unreached = preview.mail, preview.blocked, preview.unreached
    optional = {
        "skipped": preview.skipped,
        "blocked": blocked and _refusal(blocked),
        "notes": preview.notes or None,
        "mailed": preview.mailed,
        "unreached": unreached if unreached is None else [asdict(guest) for guest in unreached],
    }
    return {
        "from": mail.sender,
        "replyTo": mail.reply_to or mail.sender,
        "subject": mail.subject,
        "html": mail.html,
        "text": mail.text,
        "recipients": preview.recipients,
        "hadRecap": preview.had_recap,
        "left": preview.left,
        "hidden": preview.hidden,
    } | {name: value for name, value in optional.items() if value is not None}


def _refusal(error: CallError) -> dict[str, object]:
    return {"code": error.code, "message": error.message, **(error.details or {})}


def _verified_address(claims: Mapping[str, Any]) -> str | None:
    """The caller's verified e-mail address, if any."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    return deliverable(email)
