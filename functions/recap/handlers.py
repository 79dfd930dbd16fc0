"""What the deployed function calls: from the SDK's request to the nouns of this package."""

from typing import Any

from firebase_functions.https_fn import CallableRequest, FunctionsErrorCode, HttpsError

from functions import access
from functions.call_error import CallError
from functions.recap import service
from functions.recap.arguments import RecapArguments


def send_event_recap(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `sendEventRecap` (SPEC 4.1); checked in the order of DESIGN 3.

    Raises:
        HttpsError: as in SPEC 7.1.
    """
    auth = request.auth
    try:
        caller = access.staff(auth.uid if auth else None, auth.token if auth else None)
        arguments = RecapArguments.read(request.data)
        result = service.sender().send(caller, arguments)
    except CallError as refused:
        raise HttpsError(FunctionsErrorCode(refused.code), refused.message) from refused
    answer: dict[str, Any] = {"sent": result.sent, "skipped": result.skipped}
    return answer | ({"message": result.message} if result.message else {})
