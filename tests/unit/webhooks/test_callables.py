"""Every callable of the webhooks, called in memory with the rows of `callable_rows.py`."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import flask
import pytest

import main
from functions.gcp import callables
from functions.links.token import Scope, TokenKeys
from tests.in_memory.adapters import KEYS
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.contract.promise import answer_schema, problems
from tests.unit.webhooks.callable_rows import (
    ROWS,
    Refusal,
    Row,
    Staff,
    arguments,
    expected,
    result_of,
)
from tests.unit.webhooks.event_states import ArrangedEvent
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, WebhookFixture


def token_of(share_id: str) -> str:
    """Return the token of the link to a share."""
    keys = TokenKeys(KEYS["LOG_LINKS_KEY"])
    return keys.sign((EVENT, share_id), NOW + timedelta(days=1), Scope.WEBHOOK_LOG)


def call(row: Row, monkeypatch: pytest.MonkeyPatch) -> tuple[Mapping[str, Any] | Refusal, set[str]]:
    """Call the row's function. Return the answer and the collections that it wrote to."""
    webhooks, written = WebhookFixture(), set[str]()
    wall = ArrangedEvent(InMemoryDocuments(webhooks.firestore), EVENT, NOW)
    wall.arrange()
    row.state(wall)
    webhooks.firestore.watches.append(lambda path, *_: written.add(path.split("/")[-2]))
    monkeypatch.setattr(main, "service", webhooks.process)
    headers = {}
    if isinstance(row.caller, Staff):
        claims = {"uid": "u1", "role": row.caller.role, "tenantId": row.caller.tenant}
        monkeypatch.setattr(callables, "_app", lambda: None)
        monkeypatch.setattr("firebase_admin.auth.verify_id_token", lambda *_, **__: claims)
        headers = {"Authorization": "Bearer t"}
    body = {"data": arguments(row, EVENT, NOW, token_of)}
    with flask.Flask("worker").test_request_context(method="POST", json=body, headers=headers):
        answer: flask.Response = getattr(main, row.function)(flask.request)
    return result_of(answer.get_json()), written


@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=[why for why, _ in ROWS])
def test_a_call_answers_and_writes_as_its_row_says(
    row: Row, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Check spec 4.6 to 4.14, 5 and 7. Neither the answer nor the log contains a secret."""
    answer, written = call(row, monkeypatch)
    logged = "".join(capfd.readouterr())

    assert expected(row, answer) == row.answer
    assert written == row.writes
    if isinstance(answer, Mapping):
        schema = answer_schema(row.function, 200)
        assert problems(schema, {"result": answer}, exactly=True) == []
    assert "whsec_" not in f"{answer} {logged}"
    assert "/hook" not in logged
    assert "token=" not in logged


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("shareWebhookLog", {"message": "webhook.log_shared", "uid": "u1", "host": "example.com"}),
        ("revokeWebhookLog", {"message": "webhook.log_revoked", "uid": "u1", "shareId": "shows"}),
        ("getWebhookLog", {"message": "webhook.log_read", "shareId": "shows", "deliveries": 3}),
        ("resendSharedWebhook", {"message": "webhook.log_resent", "deliveryId": "d1"}),
        ("rotateWebhookSecret", {"message": "webhook.secret_rotated", "uid": "u1"}),
    ],
)
def test_a_call_logs_who_did_what_by_ids(
    function: str,
    line: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """See spec 4.8 and 4.11 to 4.14."""
    row = next(row for _, row in ROWS if row.function == function and isinstance(row.answer, dict))
    call(row, monkeypatch)
    lines = map(json.loads, capfd.readouterr().out.splitlines())
    assert any(({"eventId": EVENT} | line).items() <= logged.items() for logged in lines)
