"""The handlers of the recap's callables: the SDK's requests, in the words of this package."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from firebase_functions.https_fn import CallableRequest

from functions.mail.address import deliverable
from functions.recap import wiring
from functions.recap.arguments import PreviewArguments, RecapArguments
from functions.signed_in import staff_call


def send_event_recap(request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `sendEventRecap` (spec 4.1); design 3.3 gives the order of the checks.

    Raises:
        CallError: as in spec 7.1.
    """
    caller, wanted = staff_call("sendEventRecap", request, RecapArguments.read)
    result = wiring.sender().send(caller, wanted)
    answer: dict[str, Any] = {"sent": result.sent, "skipped": result.skipped}
    return answer | ({"message": result.message} if result.message else {})


def preview_event_recap(request: CallableRequest[Any]) -> dict[str, Any]:
    """Answer a call of `previewEventRecap` (spec 4.9), with the checks in the same order.

    Raises:
        CallError: as in spec 7.4.
    """
    caller, wanted = staff_call("previewEventRecap", request, PreviewArguments.read)
    own_address = _verified_address(request.auth.token if request.auth else {})
    preview = wiring.previewer().show(caller, wanted, own_address)
    answer: dict[str, Any] = {
        "from": preview.sender,
        "replyTo": preview.reply_to,
        "subject": preview.subject,
        "html": preview.html,
        "text": preview.text,
        "recipients": preview.recipients,
        "hadRecap": preview.had_recap,
        "left": preview.left,
        "hidden": preview.hidden,
    }
    if preview.skipped is not None:
        answer["skipped"] = preview.skipped
    if preview.blocked:
        answer["blocked"] = {
            "code": preview.blocked.code,
            "message": preview.blocked.message,
            **(preview.blocked.details or {}),
        }
    if preview.message:
        answer["message"] = preview.message
    if preview.mailed is not None:
        answer["mailed"] = preview.mailed
    if preview.unreached is not None:
        answer["unreached"] = [asdict(guest) for guest in preview.unreached]
    return answer


def _verified_address(claims: Mapping[str, Any]) -> str | None:
    """The caller's verified e-mail address, if any."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    return deliverable(email)
