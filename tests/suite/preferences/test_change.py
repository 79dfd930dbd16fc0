"""Design 4: `updateEmailPreferences` and `unsubscribe`, end to end over HTTP."""

import queue
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from email.message import Message
from typing import Any, Final

import pytest
from google.cloud import firestore

from functions.preferences.preferences import opted_out_of_recap
from functions.signed_links.token import TokenKeys
from functions.wall.address import address_hash, guest_uid
from tests.suite.call import Answer, call, url

ALL: Final = {"lifecycle": True, "transactional": True, "recap": True, "marketing": True}
ONE_CLICK: Final = b"List-Unsubscribe=One-Click"


def change(token: object, preferences: object, headers: dict[str, str]) -> Answer:
    """Call it as the page does."""
    data = {"token": token, "preferences": preferences}
    return call("updateEmailPreferences", data, headers=headers)


class _StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing."""


def visit(
    token: str | None,
    headers: dict[str, str],
    *,
    method: str,
    body: bytes | None = None,
) -> tuple[int, str, Message]:
    """Open the unsubscribe link; status, body and headers."""
    query = "" if token is None else f"?token={urllib.parse.quote(token)}"
    request = urllib.request.Request(  # noqa: S310 - loopback
        url("unsubscribe") + query, body, headers, method=method
    )
    opener = urllib.request.build_opener(_StayHere)
    try:
        with opener.open(request, timeout=60) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read().decode(), answer.headers


def test_an_account_is_found_whatever_the_case_of_its_address(
    db: firestore.Client, record: firestore.DocumentReference, uid: str
) -> None:
    """Design 3.54: the record of the address names an account of any id."""
    told: queue.Queue[dict[str, Any]] = queue.Queue()
    of_address = db.document("users", guest_uid(address_hash(f"{uid}@example.com")))
    watch = of_address.on_snapshot(
        lambda found, *_: told.put((found[0].to_dict() or {}) if found else {})
    )
    odd = record.parent.document(f"{uid}: a`\\b.c")
    try:
        record.set({"email": f"{uid}@Example.com"})
        odd.set({"email": f"{uid.title()}@example.com"})
        accounts: dict[str, bool] = {}
        while accounts.keys() != {record.id, odd.id}:
            accounts = told.get(timeout=60).get("accounts", {})
    finally:
        watch.unsubscribe()  # type: ignore[no-untyped-call]


def test_change_and_back(
    record: firestore.DocumentReference, token: str, headers: dict[str, str]
) -> None:
    """The flags that are named change, the others and the rest of the record do not."""
    record.set(
        {"email": "guest@example.com", "emailPreferences": {"marketing": False}, "name": "G"}
    )
    changed = change(token, {"recap": False}, headers)
    assert changed.result == {
        "email": "guest@example.com",
        "preferences": ALL | {"marketing": False, "recap": False},
    }
    assert record.get().to_dict() == {
        "email": "guest@example.com",
        "emailPreferences": {"marketing": False, "recap": False},
        "name": "G",
    }
    back = change(token, {"recap": True, "marketing": True}, headers)
    assert back.result["preferences"] == ALL


def test_guest_without_record(
    record: firestore.DocumentReference, token: str, headers: dict[str, str]
) -> None:
    """A guest's opt-out holds although there was no record of the guest."""
    assert change(token, {"recap": False}, headers).result == {
        "email": "",
        "preferences": ALL | {"recap": False},
    }
    assert record.get().to_dict() == {"emailPreferences": {"recap": False}}
    assert opted_out_of_recap(record.get().to_dict())


@pytest.mark.parametrize("has_account", [False, True])
def test_an_owner_frees_an_address_that_a_mail_came_back_from(
    db: firestore.Client, keys: TokenKeys, uid: str, headers: dict[str, str], *, has_account: bool
) -> None:
    """Turning recaps on frees the address, and no other change does."""
    address = f"{uid}@example.com"
    guest = guest_uid(address_hash(address))
    user = uid if has_account else guest
    db.document(f"users/{guest}").set({"unreachableUntil": datetime(2099, 1, 1, tzinfo=UTC)})
    if has_account:
        db.document(f"users/{uid}").set({"email": address.upper()})
    token = keys.issue(user, datetime.now(UTC))
    for flags, is_kept in (({"marketing": True}, True), ({"recap": True}, False)):
        assert change(token, flags, headers).status == 200
        record = db.document(f"users/{guest}").get().to_dict() or {}
        assert ("unreachableUntil" in record) is is_kept


def test_one_click(
    record: firestore.DocumentReference, one_click_token: str, headers: dict[str, str]
) -> None:
    """RFC 8058: a POST with the one field turns recaps off, at once; repeated, it is the same."""
    record.set({"email": "guest@example.com"})
    for _ in range(2):
        status, text, _ = visit(one_click_token, headers, method="POST", body=ONE_CLICK)
        assert status == 200
        assert text.startswith("Done: you get no more event recaps.")
    assert record.get().to_dict() == {
        "email": "guest@example.com",
        "emailPreferences": {"recap": False},
    }


def test_one_click_is_answered_in_the_language_of_the_mail_program(
    one_click_token: str, headers: dict[str, str]
) -> None:
    """The answer is in the first language of the request that has a catalogue."""
    german = headers | {"Accept-Language": "de-AT, en;q=0.5"}
    for token, said in ((one_click_token, "Erledigt: "), ("nonsense", "Dieser Link")):
        _, text, answered = visit(token, german, method="POST", body=ONE_CLICK)
        assert text.startswith(said)
        assert answered["Content-Language"] == "de"


def test_one_click_as_multipart(
    record: firestore.DocumentReference, one_click_token: str, headers: dict[str, str]
) -> None:
    """RFC 8058, 3.2: mail programs may send the field as `multipart/form-data`."""
    body = (
        b'--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\n'
        b"One-Click\r\n--b--\r\n"
    )
    multipart = headers | {"Content-Type": "multipart/form-data; boundary=b"}
    assert visit(one_click_token, multipart, method="POST", body=body)[0] == 200
    assert opted_out_of_recap(record.get().to_dict())


def test_mail_provider(one_click_token: str, headers: dict[str, str]) -> None:
    """A provider's few addresses send the clicks of all its users: none of them is refused."""
    statuses = [
        visit(one_click_token, headers, method="POST", body=ONE_CLICK)[0] for _ in range(22)
    ]
    assert statuses == [200] * 22


def test_opening_the_link_changes_nothing(
    record: firestore.DocumentReference, one_click_token: str, headers: dict[str, str]
) -> None:
    """A scanner that opens every link changes nothing; a person is led to the page."""
    for method in ("GET", "HEAD"):
        status, _, answered = visit(one_click_token, headers, method=method)
        assert (status, answered["Location"]) == (
            302,
            f"http://127.0.0.1:5000/preferences#unsubscribe={one_click_token}",
        )
        assert answered["Cache-Control"] == "no-store"
        assert answered["Referrer-Policy"] == "no-referrer"
    assert not record.get().exists


@pytest.mark.usefixtures("one_hour")
def test_one_click_with_bad_token(old_token: str, headers: dict[str, str]) -> None:
    """Bad tokens are refused, all with the same words, and guessing is limited."""
    tokens = [old_token, "nonsense", None, *["x.y"] * 18]
    answers = [visit(token, headers, method="POST", body=ONE_CLICK)[:2] for token in tokens]
    assert [status for status, _ in answers] == [403] * 20 + [429]
    assert len({text for _, text in answers[:20]}) == 1
