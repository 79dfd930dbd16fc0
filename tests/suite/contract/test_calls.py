"""Real calls are compared with docs/openapi.yaml, errors word for word."""

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

import pytest
from google.cloud.firestore import SERVER_TIMESTAMP

from emulator.accounts import Account, sign_in
from emulator.mailbox import PORT, Mailbox
from emulator.pictures import BUCKET
from emulator.receiver import always, fails
from functions.firestore.client import documents
from functions.links.token import Scope, TokenKeys
from tests.suite.call import ONE_CLICK, Answer, call, click
from tests.suite.contract.conftest import OTHER
from tests.suite.wall_client import TENANT, Wall, receiving
from tests.unit.contract.calls import CALLS
from tests.unit.contract.promise import (
    DOCUMENT,
    Example,
    answer_schema,
    problems,
    refusals,
    request_schema,
)
from tests.unit.webhooks.callable_rows import (
    COUNTED,
    ROWS,
    Row,
    Staff,
    arguments,
    expected,
    result_of,
)
from tests.unit.webhooks.event_states import ArrangedEvent
from tools import local_secrets

_TIME: Final = re.compile(r"[0-9-]{10}T[0-9:.]+Z|[0-9:]{5} UTC")


def called(function: str, data: object, **how: Any) -> Answer:
    """Call the function, and check the status and the whole body against the file."""
    answer = call(function, data, **how)
    assert problems(answer_schema(function, answer.status), answer.body, exactly=True) == []
    return answer


@pytest.fixture(scope="session")
def superadmin() -> Account:
    """Return a superadmin of the tenant."""
    return sign_in("superadmin", TENANT)


def of_event(function: str, event_id: str, **further: Any) -> dict[str, Any]:
    """Return arguments of an organizer's call that the file allows."""
    data = CALLS[function].valid | {"eventId": event_id} | further
    assert problems(request_schema(function), {"data": data}) == []
    return data


@pytest.fixture
def refused(  # noqa: C901 - a table of refusals
    wall: Wall, admin: Account, token: str, headers: dict[str, str]
) -> Callable[[str, str], Answer]:
    """Have a call refused with a code, as it happens to callers."""
    later = datetime.now(UTC) + timedelta(minutes=5)
    held = {"recapId": "r", "holder": "h", "leasedUntil": later, "cooldownUntil": None}

    def refuse(function: str, code: str) -> Answer:  # noqa: C901, PLR0912 - a table of refusals
        wall.configure()
        of_staff = bool(CALLS[function].roles)
        data = of_event(function, wall.id) if of_staff else CALLS[function].valid
        how: dict[str, Any] = {"id_token": admin.id_token} if of_staff else {"headers": headers}
        if function.endswith("EmailPreferences"):
            data = data | {"token": token}
        if function == "scheduleEventRecap":
            data["at"] = (datetime.now(UTC) + timedelta(minutes=2)).isoformat()
        match function, code:
            case "previewEventRecap", "invalid-argument":
                data["sendToMe"] = "yes"
            case _, "invalid-argument":
                data = {}
            case _, "unauthenticated":
                how = {}
            case _, "permission-denied" if of_staff:
                how = {"id_token": sign_in("admin", "tenant-b").id_token}
            case _, "permission-denied":
                data["token"] = token[:-2]
            case "previewEventRecap", "not-found":
                data["guest"] = "nobody@example.com"
            case _, "not-found":
                data["eventId"] = uuid.uuid4().hex
            case "previewEventRecap", "failed-precondition":
                data["sendToMe"] = True
                how = {"id_token": sign_in("admin", TENANT, verified=False).id_token}
            case "previewEventRecap", "resource-exhausted":
                data["sendToMe"] = True
                for _ in range(10):
                    assert called(function, data, **how).result["mailed"] is False
            case _, "aborted":
                wall.lock.set(held | {"unfinished": True})
            case _, "resource-exhausted" if of_staff:
                free = {"leasedUntil": None, "cooldownUntil": later, "unfinished": False}
                wall.lock.set(held | free)
            case _, "resource-exhausted":
                guess = data | {"token": "guessed"}
                for _ in range(20 if function.endswith("EmailPreferences") else 120):
                    assert called(function, guess, **how).status == 403
                if function == "updateEmailPreferences":  # its valid calls do not count
                    data = guess
        return called(function, data, **how)

    return refuse


def is_in_the_table(refusal: Example) -> bool:
    """Return whether the table of the webhooks has the refusal."""
    return any(
        row.function == refusal.function and expected(row, result_of(refusal.value)) == row.answer
        for _, row in ROWS
    )


@pytest.mark.usefixtures("one_hour")
@pytest.mark.parametrize(
    "example",
    # Unit tests hold two refusals that no caller can cause here: a fault of ours, and an hour's
    # calls of a person, which the local suite does not limit.
    [
        refusal
        for refusal in refusals()
        if refusal.name != "internal"
        and not refusal.value["error"]["message"].startswith("You have reached the hourly")
        and not is_in_the_table(refusal)
    ],
    ids=lambda refusal: f"{refusal.function} {refusal.name}",
)
def test_errors_match_the_openapi_file(
    example: Example, refused: Callable[[str, str], Answer]
) -> None:
    """Spec 7: HTTP status, code and text of each example, as a caller meets them."""
    answer = refused(example.function, example.name)
    status, message = answer.error
    assert (answer.status, status) == (int(example.status), example.value["error"]["status"])
    assert _TIME.sub("…", message) == _TIME.sub("…", example.value["error"]["message"])


ONE_OF_EACH: Final = {
    (row.function, type(row.answer)): pytest.param(row, id=why)
    for why, row in ROWS
    if row.writes <= COUNTED
}
"""A result and a refusal of each call, which leave the event as it is; unit tests have all rows."""


@cache
def signed_in(role: str, tenant: str | None) -> Account:
    """Return a caller of the table."""
    return sign_in(role, tenant)


@pytest.mark.parametrize("row", ONE_OF_EACH.values())
def test_a_webhook_call_is_answered(row: Row, wall: Wall, headers: dict[str, str]) -> None:
    """Spec 4.6 to 4.14, 5 and 7: the deployed functions answer as the table says."""
    arranged = ArrangedEvent(documents(), wall.id, datetime.now(UTC))
    arranged.arrange()
    row.state(arranged)

    def token_of(share_id: str) -> str:
        keys = TokenKeys([local_secrets.read()["LOG_LINKS_KEY"]])
        return keys.sign((wall.id, share_id), arranged.now + timedelta(hours=1), Scope.WEBHOOK_LOG)

    def contents() -> list[Any]:
        collections = map(wall.event.collection, ("deliveries", "shares"))
        return [found.to_dict() for collection in collections for found in collection.stream()]

    how: dict[str, Any] = {"headers": headers}
    if isinstance(row.caller, Staff):
        how = {"id_token": signed_in(row.caller.role, row.caller.tenant).id_token}
    before = contents()
    answer = called(row.function, arguments(row, wall.id, arranged.now, token_of), **how)
    assert expected(row, result_of(answer.body)) == row.answer
    assert all(found in before for found in contents()), "nothing of the event is written"


def test_responses_of_recap_calls_match_the_openapi_file(wall: Wall, admin: Account) -> None:
    """Spec 4.1 and 4.9: a recap and its preview answer without guests, with one, and afterwards."""
    wall.configure()
    data = of_event("sendEventRecap", wall.id, mode="all", subject="Thanks", message=None)
    nobody = called("sendEventRecap", data, id_token=admin.id_token)
    assert (nobody.result["sent"], "message" in nobody.result) == (0, True)
    look = of_event("previewEventRecap", wall.id, mode="all", subject="Thanks", sendToMe=True)
    organizer = sign_in("admin", TENANT)
    assert called("previewEventRecap", look, id_token=organizer.id_token).result["html"] == ""
    photo = {"status": "approved", "uploaderEmail": "ann@example.com", "url": f"{BUCKET}1.jpg"}
    wall.event.collection("photos").document("p1").set(
        photo | {"createdAt": SERVER_TIMESTAMP, "approvedAt": SERVER_TIMESTAMP}
    )
    with Mailbox(port=PORT):
        shown = called("previewEventRecap", look, id_token=organizer.id_token)
        sent = called("sendEventRecap", data, id_token=admin.id_token)
    assert (shown.result["recipients"], shown.result["mailed"]) == (1, True)
    assert sent.result == {"sent": 1, "skipped": 0}
    planned = of_event("scheduleEventRecap", wall.id, message="Thanks")
    in_two_days = {"at": (datetime.now(UTC) + timedelta(days=2)).isoformat()}
    for at in (in_two_days, {"at": None}):
        answer = called("scheduleEventRecap", planned | at, id_token=admin.id_token).result
        assert bool(answer["scheduledFor"]) == bool(at["at"])
    after = called("previewEventRecap", look | {"sendToMe": False}, id_token=admin.id_token)
    assert after.result["blocked"]["code"] == "resource-exhausted"


def test_responses_of_preference_calls_match_the_openapi_file(
    token: str, headers: dict[str, str]
) -> None:
    """Spec 4.2 and 4.4: a look-up and a change answer as the file says."""
    assert called("getEmailPreferences", {"token": token}, headers=headers).status == 200
    choice = {"token": token, "preferences": {"recap": False}}
    changed = called("updateEmailPreferences", choice, headers=headers)
    assert changed.result["preferences"]["recap"] is False


def was_sent_again(delivery: dict[str, Any]) -> bool:
    """Return whether the receiver has acknowledged a delivery in its second round."""
    return (delivery.get("round"), delivery["outcome"]) == (1, "success")


def test_responses_of_webhook_calls_match_the_openapi_file(
    wall: Wall, admin: Account, superadmin: Account
) -> None:
    """Spec 4.6 to 4.8: tests of each outcome, a resend and a rotation answer as the file says."""
    with receiving({"/ok": always(), "/flaky": fails(1)}) as receiver:
        urls = [receiver.url("/ok"), receiver.url("/flaky"), "http://example.com/plain"]
        wall.configure(*urls)
        results = [
            called(
                "sendTestWebhook",
                of_event("sendTestWebhook", wall.id, url=url_),
                id_token=admin.id_token,
            ).result
            for url_ in urls
        ]
        wall.record(urls[0])
        since = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
        page = of_event("resendWebhook", wall.id, deliveryId=None, since=since)
        again = called("resendWebhook", page, id_token=admin.id_token)
        wall.deliveries(lambda all_: any(map(was_sent_again, all_)))
        wall.ended(4)
    assert [result["outcome"] for result in results] == ["success", "retrying", "skipped"]
    assert again.result["resent"] == 1
    rotated = called("rotateWebhookSecret", {"eventId": wall.id}, id_token=superadmin.id_token)
    assert rotated.status == 200


def test_responses_of_link_calls_match_the_openapi_file(
    wall: Wall, admin: Account, headers: dict[str, str]
) -> None:
    """Spec 4.11 to 4.14: a link to a URL shows, resends and hides only deliveries to that URL."""
    with receiving({"/ok": always()}) as receiver:
        url_ = receiver.url("/ok")
        wall.configure(url_, OTHER)
        recorded = wall.record(url_)
        wall.record(OTHER)
        wanted = of_event("shareWebhookLog", wall.id, url=url_, canResend=True, days=None)
        shared = called("shareWebhookLog", wanted, id_token=admin.id_token).result
        token = {"token": shared["link"].partition("#token=")[2]}
        page = called("getWebhookLog", token, headers=headers).result
        shown = [(delivery["id"], delivery["outcome"]) for delivery in page["deliveries"]]
        assert shown == [(recorded, "failed")]
        again = token | {"deliveryId": recorded}
        assert called("resendSharedWebhook", again, headers=headers).result == {"resent": 1}
        wall.deliveries(lambda all_: any(map(was_sent_again, all_)))
    end = of_event("revokeWebhookLog", wall.id, shareId=shared["shareId"])
    assert called("revokeWebhookLog", end, id_token=admin.id_token).status == 200
    assert called("getWebhookLog", token, headers=headers).status == 403


@pytest.mark.parametrize(
    ("body", "is_good", "status"),
    [(ONE_CLICK, True, 200), (b"anything", True, 400), (ONE_CLICK, False, 403)],
)
def test_responses_of_one_click_match_the_openapi_file(
    body: bytes, is_good: bool, status: int, one_click_token: str, headers: dict[str, str]
) -> None:
    """Spec 4.5: the button answers in plain text, word for word."""
    token = one_click_token if is_good else "none"
    documented = DOCUMENT["paths"]["/unsubscribe"]["post"]["responses"][str(status)]
    example = documented["content"]["text/plain"]["example"]
    assert click(token, headers, body) == (status, example)
