"""`updateEmailPreferences` and `unsubscribe`, handled on documents in memory (spec 4.4 and 4.5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import flask
import pytest
from firebase_functions.https_fn import CallableRequest
from werkzeug.test import TestResponse

from functions.adapters import Parameters
from functions.documents.write import Put
from functions.preferences import handlers
from functions.service import Service
from functions.signed_links.token import KEY_BYTES, Scope, TokenKeys
from functions.wall.address import address_hash, guest_uid
from tests.in_memory.adapters import InMemorySecrets, service_on
from tests.in_memory.documents import InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
KEY: Final = "k" * KEY_BYTES
SITE: Final = "https://wall.events"
FIELD: Final = {"List-Unsubscribe": "One-Click"}
MULTIPART: Final = (
    b'--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
)


@pytest.fixture
def documents() -> InMemoryDocuments:
    """Nothing is recorded."""
    return InMemoryDocuments()


@pytest.fixture
def service(documents: InMemoryDocuments) -> Service:
    """A process on these documents, one key and a clock that stands."""
    secrets = InMemorySecrets({"EMAIL_PREFS_KEY": (KEY,)})
    return service_on(documents, secrets=secrets, parameters=Parameters(public_base_url=SITE))


def token(uid: str = "u1", *, scope: Scope = Scope.UNSUBSCRIBE, issued: datetime = NOW) -> str:
    """A token as it stands in a mail."""
    return TokenKeys([KEY]).issue(uid, issued, scope)


Visit = Callable[..., TestResponse]


@pytest.fixture
def visit(service: Service) -> Visit:
    """Make a request to a one-click link."""
    app = flask.Flask(__name__)
    methods = ("GET", "HEAD", "POST", "PUT")
    app.add_url_rule(
        "/", view_func=lambda: handlers.unsubscribe(service, flask.request), methods=methods
    )

    def make(of: str | None, method: str = "POST", **how: Any) -> TestResponse:
        query = {} if of is None else {"token": of}
        form = {"data": FIELD} if method == "POST" else {}
        return app.test_client().open(method=method, query_string=query, **(form | how))

    return make


def record(documents: InMemoryDocuments, uid: str) -> Any:
    """Fields of a user's record, None without one."""
    found = documents.get(f"users/{uid}")
    return found and found.fields


@pytest.mark.parametrize(
    "how", [{}, {"data": MULTIPART, "content_type": "multipart/form-data; boundary=b"}]
)
def test_a_click_turns_recaps_off_once(
    documents: InMemoryDocuments, visit: Visit, how: dict[str, Any]
) -> None:
    """RFC 8058: a POST with the field, in either form, turns recaps off, also repeated."""
    documents.commit(Put("users/u1", {"email": "ann@example.com"}))
    for _ in range(2):
        answer = visit(token(), **how)
        assert answer.status_code == 200
        assert answer.text.startswith("Done: you get no more event recaps.")
    off = {"email": "ann@example.com", "emailPreferences": {"recap": False}}
    assert record(documents, "u1") == off


def test_clicks_are_not_limited_and_guesses_are(visit: Visit) -> None:
    """A provider's address sends the clicks of all its users; its 21st bad token is refused."""
    assert [visit(token()).status_code for _ in range(22)] == [200] * 22
    old = token(issued=NOW - timedelta(days=366))
    bad = [old, None, token(scope=Scope.PREFERENCES), *["x.y"] * 18]
    answers = [visit(of) for of in bad]
    assert [answer.status_code for answer in answers] == [403] * 20 + [429]
    assert len({answer.text for answer in answers[:20]}) == 1


def test_opening_a_link_leads_to_the_page_and_changes_nothing(
    documents: InMemoryDocuments, visit: Visit
) -> None:
    """A scanner that opens every link changes nothing; a person is asked on the page."""
    for method in ("GET", "HEAD"):
        answer = visit(token(), method)
        page = f"{SITE}/preferences#unsubscribe={token()}"
        assert (answer.status_code, answer.headers["Location"]) == (302, page)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert visit(token(), "PUT").status_code == 405
    assert record(documents, "u1") is None


@pytest.mark.parametrize("has_account", [False, True])
def test_an_owner_frees_an_address_that_a_mail_came_back_from(
    documents: InMemoryDocuments, service: Service, *, has_account: bool
) -> None:
    """Turning recaps on frees the address, and no other change does."""
    guest = guest_uid(address_hash("ann@example.com"))
    documents.commit(Put(f"users/{guest}", {"unreachableUntil": NOW + timedelta(days=365)}))
    if has_account:
        documents.commit(Put("users/u1", {"email": "ANN@example.com"}))
    of = token("u1" if has_account else guest, scope=Scope.PREFERENCES)
    for flags, is_kept in (({"marketing": True}, True), ({"recap": True}, False)):
        raw = flask.Request({"REMOTE_ADDR": "203.0.113.7"})
        data = {"token": of, "preferences": flags}
        handlers.update_email_preferences(service, CallableRequest(data=data, raw_request=raw))
        assert ("unreachableUntil" in record(documents, guest)) is is_kept
