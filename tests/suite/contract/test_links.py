"""Each kind of link opens only its own functions, with any key that signed it (spec 5)."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from functions.links.token import Scope, TokenKeys
from tests.suite.call import call, click
from tests.suite.contract.conftest import Share
from tests.unit.contract.hostile_arguments import AFTER
from tools import local_secrets

MAIL_KEY, LOG_KEY = "EMAIL_PREFS_KEY", "LOG_LINKS_KEY"
DOORS: Final = {
    "getEmailPreferences": (Scope.PREFERENCES, MAIL_KEY),
    "updateEmailPreferences": (Scope.PREFERENCES, MAIL_KEY),
    "unsubscribe": (Scope.UNSUBSCRIBE, MAIL_KEY),
    "getWebhookLog": (Scope.WEBHOOK_LOG, LOG_KEY),
    "resendSharedWebhook": (Scope.WEBHOOK_LOG, LOG_KEY),
}
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "updateEmailPreferences": {"preferences": {"recap": True}},
    "resendSharedWebhook": {"deliveryId": "none"},
}


@pytest.mark.parametrize("door", DOORS)
def test_a_link_opens_only_its_own_functions(
    door: str, share: Share, event_id: str, uid: str, headers: dict[str, str]
) -> None:
    """A function accepts one scope and one key, of all scopes and both keys."""
    given, open_to = share(canResend=True), set()
    for scope, key in itertools.product(Scope, (MAIL_KEY, LOG_KEY)):
        about = (event_id, given["shareId"]) if scope is Scope.WEBHOOK_LOG else (uid,)
        ends = datetime.now(UTC) + timedelta(hours=1)
        token = TokenKeys([local_secrets.read()[key]]).sign(about, ends, scope)
        if door == "unsubscribe":
            status, _ = click(token, headers)
        else:
            arguments = {"token": token} | ARGUMENTS.get(door, {})
            status = call(door, arguments, headers=headers).status
        if status != 403:
            open_to.add((scope, key))
    assert open_to == {DOORS[door]}


@pytest.mark.parametrize("place", AFTER)
def test_an_invalid_cursor_of_a_log_is_rejected(
    share: Share, headers: dict[str, str], place: str
) -> None:
    """Spec 7: Firestore accepts or refuses times at the ends of time, and ids that it reserves."""
    arguments = {"token": share()["token"], "after": place}
    assert call("getWebhookLog", arguments, headers=headers).status in (200, 400)
