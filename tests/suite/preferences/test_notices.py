"""The links of notices, end to end over HTTP: confirm, end, and nothing else (spec 4.5 and 6.4)."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from google.cloud import firestore

from functions.consents.consent import consent_id
from functions.signed_links.token import Scope, TokenKeys
from tests.suite.preferences.test_change import ONE_CLICK, visit

CONFIRM = b"Notices=Confirm"


@pytest.fixture
def consent() -> str:
    """Of an address that has been asked."""
    return consent_id(f"tenant-{uuid.uuid4().hex}", "ann@example.com")


def link(keys: TokenKeys, consent: str, scope: Scope) -> str:
    """The token of a link."""
    return keys.sign((consent,), datetime.now(UTC) + timedelta(days=1), scope)


def state(db: firestore.Client, consent: str) -> str | None:
    """The recorded consent."""
    fields = db.document(f"noticeConsents/{consent}").get().to_dict()
    return str(fields["state"]) if fields else None


def test_a_click_confirms_and_a_click_ends(
    db: firestore.Client, keys: TokenKeys, consent: str, headers: dict[str, str]
) -> None:
    """Ended notices can be confirmed again by the link of the question, while it lasts."""
    confirm, end = (link(keys, consent, scope) for scope in (Scope.NOTICES, Scope.END_NOTICES))
    for token, body, after in (
        (confirm, CONFIRM, "confirmed"),
        (end, ONE_CLICK, "ended"),
        (end, ONE_CLICK, "ended"),
        (confirm, CONFIRM, "confirmed"),
    ):
        answer = visit(token, headers, method="POST", body=body, of="notices")
        assert (answer[0], state(db, consent)) == (200, after)


def test_a_link_does_one_thing(
    db: firestore.Client, keys: TokenKeys, consent: str, headers: dict[str, str]
) -> None:
    """The link that reaches logs and mail providers ends notices; it confirms none."""
    for scope, body, of in (
        (Scope.END_NOTICES, CONFIRM, "notices"),
        (Scope.NOTICES, ONE_CLICK, "notices"),
        (Scope.UNSUBSCRIBE, CONFIRM, "notices"),
        (Scope.NOTICES, CONFIRM, ""),
    ):
        token = (
            keys.issue("u1", datetime.now(UTC), scope)
            if scope is Scope.UNSUBSCRIBE
            else link(keys, consent, scope)
        )
        assert visit(token, headers, method="POST", body=body, of=of)[0] in (400, 403)
    assert state(db, consent) is None


def test_opening_the_link_changes_nothing(
    db: firestore.Client, keys: TokenKeys, consent: str, headers: dict[str, str]
) -> None:
    """A person is led to the page."""
    token = link(keys, consent, Scope.END_NOTICES)
    status, _, answered = visit(token, headers, method="GET", of="notices")
    assert (status, answered["Location"]) == (302, f"http://127.0.0.1:5000/notices#end={token}")
    assert state(db, consent) is None
