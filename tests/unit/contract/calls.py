"""Each callable: valid arguments, a misspelled argument, and the roles of its callers."""

from dataclasses import dataclass, field
from typing import Any, Final

from functions.call.caller import ADMINS, Role

HOOK: Final = "https://example.com/hook"


@dataclass(frozen=True, slots=True)
class Call:
    """One callable.

    Attributes:
        valid: Arguments that the call accepts.
        misspelt: An unknown argument.
        meant: The argument that the error for `misspelt` suggests.
        roles: The roles that may call it (spec 4 and 5). Empty if the caller needs only a link.
    """

    valid: dict[str, Any]
    misspelt: str = ""
    meant: str = ""
    roles: frozenset[Role] = field(default=frozenset())


STAFF: Final = frozenset(Role)
CALLS: Final = {
    "sendEventRecap": Call({"eventId": "e"}, "mesage", "message", STAFF),
    "previewEventRecap": Call({"eventId": "e"}, "send_to_me", "sendToMe", STAFF),
    "scheduleEventRecap": Call({"eventId": "e", "at": None}, "only_new", "onlyNew", STAFF),
    "sendTestWebhook": Call({"eventId": "e", "url": HOOK}, "events", "event", ADMINS),
    "resendWebhook": Call({"eventId": "e", "deliveryId": "none"}, "dryrun", "dryRun", ADMINS),
    "rotateWebhookSecret": Call(
        {"eventId": "e"}, "event_id", "eventId", frozenset({Role.SUPERADMIN})
    ),
    "shareWebhookLog": Call({"eventId": "e", "url": HOOK}, "can_resend", "canResend", ADMINS),
    "revokeWebhookLog": Call({"eventId": "e", "shareId": "none"}, "tenant", "tenantId", ADMINS),
    "getWebhookLog": Call({"token": "t"}, "outcomes", "outcome"),
    "resendSharedWebhook": Call({"token": "t", "deliveryId": "none"}, "deliveryID", "deliveryId"),
    # It accepts any other argument, as spec 7.2 has all its errors.
    "getEmailPreferences": Call({"token": "t"}),
    "updateEmailPreferences": Call(
        {"token": "t", "preferences": {"recap": False}}, "preference", "preferences"
    ),
}
