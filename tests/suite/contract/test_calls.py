"""docs/openapi.yaml and real calls: what comes back is what the file says, errors word for word."""

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.mailbox import PORT, Mailbox
from emulator.people import Person, sign_in
from emulator.pictures import BUCKET
from emulator.receiver import always, fails
from tests.suite.call import ONE_CLICK, Answer, call, click
from tests.suite.contract.conftest import OTHER, TENANT, Configure, Named, Record
from tests.unit.contract.calls import CALLS
from tests.unit.contract.promise import (
    DOCUMENT,
    Example,
    answer_schema,
    problems,
    refusals,
    request_schema,
)

_TIME: Final = re.compile(r"[0-9-]{10}T[0-9:.]+Z|[0-9:]{5} UTC")


def called(function: str, data: object, **how: Any) -> Answer:
    """Call, and hold the answer against the file: its status and all of its body are told."""
    answer = call(function, data, **how)
    assert problems(answer_schema(function, answer.status), answer.body, exactly=True) == []
    return answer


@pytest.fixture(scope="session")
def superadmin() -> Person:
    """A superadmin of the tenant."""
    return sign_in("superadmin", TENANT)


@pytest.fixture(scope="session")
def stranger() -> Person:
    """An admin of another tenant."""
    return sign_in("admin", "tenant-b")


def of_event(function: str, event_id: str, **further: Any) -> dict[str, Any]:
    """Arguments of an organizer's call that the file allows."""
    data = CALLS[function].valid | {"eventId": event_id} | further
    assert problems(request_schema(function), {"data": data}) == []
    return data


@pytest.fixture
def log_token(event: firestore.DocumentReference, configure: Configure, admin: Person) -> str:
    """The token of a link to the log of the event's URL."""
    configure("https://example.com/hook")
    wanted = of_event("shareWebhookLog", event.id, canResend=True)
    link: str = called("shareWebhookLog", wanted, id_token=admin.id_token).result["link"]
    return link.partition("#token=")[2]


@pytest.fixture
def refused(  # noqa: C901, PLR0915 - a table of refusals
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    named: Named,
    admin: Person,
    superadmin: Person,
    stranger: Person,
    token: str,
    log_token: str,
    headers: dict[str, str],
) -> Callable[[str, str], Answer]:
    """Have a call refused with a code, as it happens to callers."""
    anybodys: dict[str, Any] = {"token": token, "preferences": {"marketing": False}}
    bearers: dict[str, Any] = {"token": log_token}
    lock = event.collection("locks").document("recap")
    later = datetime.now(UTC) + timedelta(minutes=5)
    held = {"recapId": "r", "holder": "h", "leasedUntil": later, "cooldownUntil": None}

    def organizer(function: str) -> Person:
        return superadmin if function == "rotateWebhookSecret" else admin

    def refuse(function: str, code: str) -> Answer:  # noqa: C901, PLR0912, PLR0915 - a table of refusals
        configure("https://example.com/hook")
        of_a_log = function in ("getWebhookLog", "resendSharedWebhook")
        open_to_all = of_a_log or function.endswith("EmailPreferences")
        signed_in = {} if open_to_all else {"id_token": organizer(function).id_token}
        data: dict[str, Any] = anybodys if open_to_all else of_event(function, event.id)
        if of_a_log:
            data = bearers | ({} if function == "getWebhookLog" else {"deliveryId": "none"})
        how: dict[str, Any] = signed_in | {"headers": headers}
        if function == "scheduleEventRecap":
            data["at"] = (datetime.now(UTC) + timedelta(minutes=2)).isoformat()
        match function, code:
            case "sendEventRecap", "invalid-argument":
                data["mode"] = "both"
            case "scheduleEventRecap", "invalid-argument":
                data["at"] = datetime.now(UTC).isoformat()
            case "previewEventRecap", "invalid-argument":
                data["sendToMe"] = "yes"
            case "resendWebhook" | "resendSharedWebhook", "invalid-argument":
                data["deliveryId"] = "no/id"
            case _, "invalid-argument":
                data = {} if open_to_all else data | {"eventId": "no/id"}
            case _, "permission-denied" if open_to_all:
                data["token"] = data["token"][:-2]
            case "rotateWebhookSecret", "permission-denied":
                how = {"id_token": admin.id_token}
            case _, "unauthenticated":
                how = {}
            case _, "permission-denied":
                how = {"id_token": stranger.id_token}
            case "resendWebhook" | "resendSharedWebhook" | "revokeWebhookLog", "not-found":
                pass
            case "previewEventRecap", "not-found":
                data["guest"] = "nobody@example.com"
            case _, "not-found":
                data["eventId"] = uuid.uuid4().hex
            case "resendWebhook" | "resendSharedWebhook", "aborted":
                record("https://example.com/hook", outcome="retrying", endedAt=None)
                data["deliveryId"] = named("d1")
            case "resendWebhook", "failed-precondition":
                record("https://example.com/before")
                data["deliveryId"] = named("d1")
            case "resendSharedWebhook", "failed-precondition":
                record("https://example.com/hook")
                data["deliveryId"] = named("d1")
                configure("https://example.com/after")
            case "previewEventRecap", "failed-precondition":
                data["sendToMe"] = True
                how = {"id_token": sign_in("admin", TENANT, verified=False).id_token}
            case "previewEventRecap", "resource-exhausted":
                data["sendToMe"] = True
                for _ in range(10):
                    assert called(function, data, **how).result["mailed"] is False
            case "sendEventRecap" | "scheduleEventRecap", "aborted":
                lock.set(held | {"unfinished": True})
            case "sendEventRecap" | "scheduleEventRecap", "resource-exhausted":
                free = {"leasedUntil": None, "cooldownUntil": later, "unfinished": False}
                lock.set(held | free)
            case "shareWebhookLog", "resource-exhausted":
                for number in range(50):
                    event.collection("shares").document(str(number)).set({"expireAt": later})
            case _, "resource-exhausted":
                for _ in range(120 if of_a_log else 20):
                    assert called(function, data | {"token": "guessed"}, **how).status == 403
        return called(function, data, **how)

    return refuse


@pytest.mark.usefixtures("one_hour")
@pytest.mark.parametrize(
    "example",
    # Unit tests hold two refusals that no caller can cause here: a fault of ours, and an hour's
    # calls of a person, which the local suite does not limit.
    [
        refusal
        for refusal in refusals()
        if refusal.name != "internal"
        and not refusal.value["error"]["message"].startswith("You have made")
    ],
    ids=lambda refusal: f"{refusal.function} {refusal.name}",
)
def test_a_refusal_is_the_one_of_the_file(
    example: Example, refused: Callable[[str, str], Answer]
) -> None:
    """Spec 7: HTTP status, code and text of each example, as a caller meets them."""
    answer = refused(example.function, example.name)
    status, message = answer.error
    assert (answer.status, status) == (int(example.status), example.value["error"]["status"])
    assert _TIME.sub("…", message) == _TIME.sub("…", example.value["error"]["message"])


def test_a_recap_answers_as_told(
    event: firestore.DocumentReference, configure: Configure, admin: Person
) -> None:
    """Spec 4.1 and 4.9: a recap and its preview answer without guests, with one, and afterwards."""
    configure()
    data = of_event("sendEventRecap", event.id, mode="all", subject="Thanks", message=None)
    nobody = called("sendEventRecap", data, id_token=admin.id_token)
    assert (nobody.result["sent"], "message" in nobody.result) == (0, True)
    look = of_event("previewEventRecap", event.id, mode="all", subject="Thanks", sendToMe=True)
    organizer = sign_in("admin", TENANT)
    assert called("previewEventRecap", look, id_token=organizer.id_token).result["html"] == ""
    photo = {"status": "approved", "uploaderEmail": "ann@example.com", "url": f"{BUCKET}1.jpg"}
    event.collection("photos").document("p1").set(
        photo | {"createdAt": firestore.SERVER_TIMESTAMP, "approvedAt": firestore.SERVER_TIMESTAMP}
    )
    with Mailbox(port=PORT):
        shown = called("previewEventRecap", look, id_token=organizer.id_token)
        sent = called("sendEventRecap", data, id_token=admin.id_token)
    assert (shown.result["recipients"], shown.result["mailed"]) == (1, True)
    assert sent.result == {"sent": 1, "skipped": 0}
    planned = of_event("scheduleEventRecap", event.id, message="Thanks")
    in_two_days = {"at": (datetime.now(UTC) + timedelta(days=2)).isoformat()}
    for at in (in_two_days, {"at": None}):
        answer = called("scheduleEventRecap", planned | at, id_token=admin.id_token).result
        assert bool(answer["scheduledFor"]) == bool(at["at"])
    after = called("previewEventRecap", look | {"sendToMe": False}, id_token=admin.id_token)
    assert after.result["blocked"]["code"] == "resource-exhausted"


def test_preferences_answer_as_told(token: str, headers: dict[str, str]) -> None:
    """Spec 4.2 and 4.4: a look-up and a change answer as the file says."""
    assert called("getEmailPreferences", {"token": token}, headers=headers).status == 200
    choice = {"token": token, "preferences": {"recap": False}}
    changed = called("updateEmailPreferences", choice, headers=headers)
    assert changed.result["preferences"]["recap"] is False


def was_sent_again(delivery: dict[str, Any]) -> bool:
    """Whether the receiver has acknowledged a delivery in its second round."""
    return (delivery.get("round"), delivery["outcome"]) == (1, "success")


def test_webhook_calls_answer_as_told(
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    admin: Person,
    superadmin: Person,
    receiving: Callable[..., Any],
    deliveries: Any,
) -> None:
    """Spec 4.6 to 4.8: tests of each outcome, a resend and a rotation answer as the file says."""
    with receiving({"/ok": always(), "/flaky": fails(1)}) as receiver:
        urls = [receiver.url("/ok"), receiver.url("/flaky"), "http://example.com/plain"]
        configure(*urls)
        results = [
            called(
                "sendTestWebhook",
                of_event("sendTestWebhook", event.id, url=url_),
                id_token=admin.id_token,
            ).result
            for url_ in urls
        ]
        record(urls[0], "failed")
        since = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
        page = of_event("resendWebhook", event.id, deliveryId=None, since=since)
        again = called("resendWebhook", page, id_token=admin.id_token)
        deliveries.wait_for(lambda all_: any(map(was_sent_again, all_)), 60)
        deliveries.ended(4)
    assert [result["outcome"] for result in results] == ["success", "retrying", "skipped"]
    assert again.result["resent"] == 1
    rotated = called("rotateWebhookSecret", {"eventId": event.id}, id_token=superadmin.id_token)
    assert rotated.status == 200


def test_calls_of_a_link_answer_as_told(
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    named: Named,
    admin: Person,
    headers: dict[str, str],
    receiving: Callable[..., Any],
    deliveries: Any,
) -> None:
    """Spec 4.11 to 4.14: a link to a URL shows, resends and hides what went there alone."""
    with receiving({"/ok": always()}) as receiver:
        url_ = receiver.url("/ok")
        configure(url_, OTHER)
        record(url_)
        record(OTHER, "theirs")
        wanted = of_event("shareWebhookLog", event.id, url=url_, canResend=True, days=None)
        shared = called("shareWebhookLog", wanted, id_token=admin.id_token).result
        token = {"token": shared["link"].partition("#token=")[2]}
        page = called("getWebhookLog", token, headers=headers).result
        shown = [(delivery["id"], delivery["outcome"]) for delivery in page["deliveries"]]
        assert shown == [(named("d1"), "failed")]
        again = token | {"deliveryId": named("d1")}
        assert called("resendSharedWebhook", again, headers=headers).result == {"resent": 1}
        deliveries.wait_for(lambda all_: any(map(was_sent_again, all_)), 60)
    end = of_event("revokeWebhookLog", event.id, shareId=shared["shareId"])
    assert called("revokeWebhookLog", end, id_token=admin.id_token).status == 200
    assert called("getWebhookLog", token, headers=headers).status == 403


@pytest.mark.parametrize(
    ("body", "is_good", "status"),
    [(ONE_CLICK, True, 200), (b"anything", True, 400), (ONE_CLICK, False, 403)],
)
def test_the_unsubscribe_button_answers_as_told(
    body: bytes, is_good: bool, status: int, one_click_token: str, headers: dict[str, str]
) -> None:
    """Spec 4.5: the button answers in plain text, word for word."""
    token = one_click_token if is_good else "none"
    told = DOCUMENT["paths"]["/unsubscribe"]["post"]["responses"][str(status)]
    example = told["content"]["text/plain"]["example"]
    assert click(token, headers, body) == (status, example)
