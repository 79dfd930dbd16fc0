"""`updateEmailPreferences` and `unsubscribe` on documents in memory (spec 4.4 and 4.5)."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

import flask
import pytest
from werkzeug.test import TestResponse

from functions.call.errors import CallError, Code
from functions.email_address import address_hash, guest_uid
from functions.firestore.model import Put, Write, Written
from functions.gcp.callables import Call
from functions.handlers import preference_calls
from functions.links.token import Scope, TokenKeys
from tests.in_memory.through import ServiceError, at_once
from tests.unit.preferences.account_fixture import KEY, NOW, AccountFixture, answer

SITE: Final = "https://wall.events"
FIELD: Final = {"List-Unsubscribe": "One-Click"}
MULTIPART: Final = (
    b'--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
)


def token(uid: str = "u1", *, scope: Scope = Scope.UNSUBSCRIBE, issued: datetime = NOW) -> str:
    """Return a token as in an email."""
    return TokenKeys([KEY]).issue(uid, issued, scope)


T = TypeVar("T")

Visit = Callable[..., TestResponse]


@pytest.fixture
def visit(accounts: AccountFixture) -> Visit:
    """Make a request to a one-click link."""
    app = flask.Flask(__name__)
    methods = ("GET", "HEAD", "POST", "PUT")
    app.add_url_rule(
        "/",
        view_func=lambda: preference_calls.unsubscribe(accounts.service, flask.request),
        methods=methods,
    )

    def make(of: str | None, method: str = "POST", **how: Any) -> TestResponse:
        query = {"query_string": {} if of is None else {"token": of}}
        form = {"data": FIELD} if method == "POST" else {}
        return app.test_client().open(method=method, **(query | form | how))

    return make


@pytest.mark.parametrize(
    "how", [{}, {"data": MULTIPART, "content_type": "multipart/form-data; boundary=b"}]
)
def test_a_click_turns_recaps_off_and_can_be_repeated(
    accounts: AccountFixture, visit: Visit, how: dict[str, Any]
) -> None:
    """See RFC 8058 for both forms of the body."""
    accounts.account("u1", "")
    for _ in range(2):
        answer = visit(token(), **how)
        assert answer.status_code == 200
        assert answer.text.startswith("You're unsubscribed from event recaps.")
        assert accounts.record("u1")["emailPreferences"] == {"recap": False}


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded; charset=iso-8859-1",
        "text/plain",
        "application/json",
        "application/octet-stream",
        "multipart/form-data",
        "",
        "?",
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        b"List-Unsubscribe=One-Click",
        b"List-Unsubscribe=One-Click\r\n",
        b"List-Unsubscribe=One-Click\n",
        b"List-Unsubscribe=One-Click &x=1",
        b"\r\nList-Unsubscribe=One%2DClick\r\n\r\n",
        MULTIPART,
        MULTIPART.replace(b"One-Click", b"One-Click\r\n"),
        MULTIPART.replace(b"\r\n\r\n", b"\r\nContent-Type: text/plain\r\n\r\n"),
        MULTIPART.replace(b"\r\n", b"\n"),
    ],
)
def test_the_body_counts_in_any_content_type(
    accounts: AccountFixture, visit: Visit, body: bytes, content_type: str
) -> None:
    """RFC 8058, 3.2: relays add line ends and replace the content type."""
    answer = visit(token("guest-1"), data=body, content_type=content_type)
    assert answer.status_code == 200
    assert accounts.record("guest-1")["emailPreferences"] == {"recap": False}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\r\n",
        b"One-Click",
        b"List-Unsubscribe",
        b"List-Unsubscribe=",
        b"List-Unsubscribe=One-Click-Not",
        b"X-List-Unsubscribe=One-Click",
        MULTIPART.replace(b"One-Click", b"One-Clicks"),
        MULTIPART.replace(b"List-Unsubscribe", b"Subscribe"),
    ],
)
@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain"])
def test_no_other_body_is_a_click(
    accounts: AccountFixture, visit: Visit, body: bytes, content_type: str
) -> None:
    """RFC 8058, 3.1: email clients send this field."""
    assert visit(token(), data=body, content_type=content_type).status_code == 400
    assert accounts.record("u1") is None


@pytest.mark.parametrize(
    "query",
    ["token={}", "token%3D{}", "token%3d{}&utm=1", "%3Ftoken={}", "token%253D{}", "utm=1&token={}"],
)
def test_a_rewritten_one_click_link_still_works(
    accounts: AccountFixture, visit: Visit, query: str
) -> None:
    """Email gateways percent-encode parts of a link."""
    opened = visit(None, "GET", query_string=query.format(token()))
    assert opened.headers["Location"] == f"{SITE}/preferences#unsubscribe={token()}"
    assert visit(None, query_string=query.format(token())).status_code == 200
    assert accounts.record("u1")["emailPreferences"] == {"recap": False}


def test_clicks_are_not_limited_and_guesses_are(visit: Visit) -> None:
    """An email provider clicks for all its users. The 21st bad token of an address is rejected."""
    assert [visit(token()).status_code for _ in range(22)] == [200] * 22
    old = token(issued=NOW - timedelta(days=366))
    bad = [old, None, token(scope=Scope.PREFERENCES), *["x.y"] * 18]
    answers = [visit(of) for of in bad]
    assert [answer.status_code for answer in answers] == [403] * 20 + [429]
    assert len({answer.text for answer in answers[:20]}) == 1
    until = "Too many requests from this IP address. Try again at 19:00 UTC.\n"
    assert answers[20].text == until


def test_changes_are_limited_by_the_link_and_guesses_by_the_address(
    accounts: AccountFixture,
) -> None:
    """Spec 8: people can share the address of a network."""

    def change(with_token: str) -> str:
        data = {"token": with_token, "preferences": {"recap": False}}
        request = flask.Request({"REMOTE_ADDR": "203.0.113.7"})
        call = Call(function="updateEmailPreferences", data=data, request=request)
        try:
            preference_calls.update_email_preferences(accounts.service, call)
        except CallError as refused:
            return refused.code
        return "changed"

    everybody = [token(f"u{number}", scope=Scope.PREFERENCES) for number in range(22)]
    assert [change(each) for each in everybody] == ["changed"] * 22
    guesses = [change("x.y") for _ in range(21)]
    assert guesses == ["permission-denied"] * 20 + ["resource-exhausted"]
    changes = [change(everybody[0]) for _ in range(20)]
    assert changes == ["changed"] * 19 + ["resource-exhausted"], "by one link"


def test_a_click_right_after_a_rotation_counts(accounts: AccountFixture) -> None:
    """Design 3.57: the newest key signs at once, while other processes still cache the old one."""
    accounts.kept_keys["EMAIL_PREFS_KEY"] = ("the key before the rotation, 32 b",)
    accounts.account("u1", "ann@example.com")
    ids, _ = accounts.mailed("ann@example.com")
    assert accounts.look_up(ids)["email"] == "ann@example.com"
    assert accounts.click(ids) == 200
    assert accounts.record("u1")["emailPreferences"]["recap"] is False


def test_keys_are_not_read_again_if_a_cached_key_verifies(accounts: AccountFixture) -> None:
    """Design 3.57: a process caches keys for five minutes, even disabled versions."""
    kept = "a key that is disabled now, of 32 b"
    accounts.kept_keys["EMAIL_PREFS_KEY"] = (kept,)
    request = flask.Request({"REMOTE_ADDR": "203.0.113.7"})
    data = {"token": TokenKeys([kept]).issue("u1", NOW)}
    call = Call(function="getEmailPreferences", data=data, request=request)
    assert preference_calls.get_email_preferences(accounts.service, call) == answer()


def test_opening_a_link_redirects_to_the_page_and_changes_nothing(
    accounts: AccountFixture, visit: Visit
) -> None:
    """Scanners open every link. People confirm on the page."""
    for method in ("GET", "HEAD"):
        answer = visit(token(), method)
        page = f"{SITE}/preferences#unsubscribe={token()}"
        assert (answer.status_code, answer.headers["Location"]) == (302, page)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert visit(token(), "PUT").status_code == 405
    assert visit(token(), data={"List-Unsubscribe": "?"}).status_code == 400
    assert accounts.record("u1") is None


def test_a_saved_change_succeeds_during_an_outage(
    accounts: AccountFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 4.4: the answer needs no read after the change."""
    accounts.is_late = True
    accounts.account("u1", "ann@example.com", marketing=False)
    commit = accounts.documents.commit

    def last(*writes: Write, **limits: float) -> Sequence[Written]:
        if any(write.path == "users/u1" for write in writes):
            monkeypatch.setattr(accounts.documents, "get_all", None)
        return commit(*writes, **limits)

    monkeypatch.setattr(accounts.documents, "commit", last)
    expected = answer("ann@example.com", recap=False, marketing=False)
    assert accounts.change(("u1",), recap=False) == expected
    saved = accounts.documents.firestore.get("users/u1")
    assert saved is not None
    assert saved.fields["emailPreferences"] == {"marketing": False, "recap": False}


def _without_users(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
    """Refuse every call for user records."""
    if what.endswith(" users"):
        raise ServiceError(what)
    return at_once(what, effect, retried=retried)


def test_a_fault_of_firestore_is_internal(
    accounts: AccountFixture,
    visit: Visit,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answer as spec 4.5 and 7.2 say, with the cause in a log line of each call."""
    ids, _ = accounts.mailed("ann@example.com")
    monkeypatch.setattr(accounts.documents, "through", _without_users)
    for call, problem in (
        (partial(accounts.look_up, ids), "loaded"),
        (partial(accounts.change, ids, recap=False), "saved"),
    ):
        with pytest.raises(CallError, match=f"couldn't be {problem}. Try again") as refused:
            call()
        assert refused.value.code is Code.INTERNAL
    assert visit(token()).status_code == 500
    assert [json.loads(line)["message"] for line in capfd.readouterr().out.splitlines()] == [
        "preferences.not-read",
        "preferences.not-written",
        "unsubscribe.failed",
    ]


@pytest.mark.parametrize("has_account", [False, True])
def test_turning_recaps_on_frees_an_unreachable_address(
    accounts: AccountFixture, *, has_account: bool
) -> None:
    """No other change does."""
    guest = guest_uid(address_hash("ann@example.com"))
    accounts.write(Put(f"users/{guest}", {"unreachableUntil": NOW + timedelta(days=365)}))
    if has_account:
        accounts.verified["u1"] = "ann@example.com"
        accounts.account("u1", "ANN@example.com")
    for flags, is_kept in (({"marketing": True}, True), ({"recap": True}, False)):
        accounts.change(("u1" if has_account else guest,), **flags)
        assert ("unreachableUntil" in accounts.record(guest)) is is_kept
