"""What the deployed function calls: from the SDK's request to the nouns of this package."""

from typing import Any

from firebase_functions.https_fn import CallableRequest

from functions import access
from functions.recap import wiring
from functions.recap.arguments import RecapArguments


def send_event_recap(request: CallableRequest[Any]) -> dict[str, Any]:
    """A call of `sendEventRecap` (spec 4.1); checked in the order of design 3.

    Raises:
        CallError: as in spec 7.1.
    """
    caller = access.staff(request.auth)
    result = wiring.sender().send(caller, RecapArguments.read(request.data))
    answer: dict[str, Any] = {"sent": result.sent, "skipped": result.skipped}
    return answer | ({"message": result.message} if result.message else {})
