"""What preferences cost, as exact numbers: a change that costs more shows itself here.

Calls and documents are counted at the client; they are the same on every machine.
"""

from collections import Counter
from collections.abc import Iterator

import flask
import pytest
from google.cloud import firestore
from werkzeug.test import EnvironBuilder

from bench.costs import COSTS
from functions.preferences import handlers
from tests.suite.operations import Operations, counting_documents
from tests.suite.preferences.here import request, served


@pytest.fixture
def counted() -> Iterator[Operations]:
    """The counts of this test."""
    counts = Operations()
    counting = counting_documents(counts)
    with served(counting):
        yield counts


def test_a_look_up(
    record: firestore.DocumentReference, token: str, client: str, counted: Operations
) -> None:
    """A look-up is one write that counts the call, and one read of the record."""
    record.set({"email": "ann@example.com"})
    answer = handlers.get_email_preferences(request(client, token=token))
    assert answer["email"] == "ann@example.com"
    assert counted.calls == Counter({"Commit": 1, "GetDocument": 1})
    assert counted.cost() == COSTS["a look-up of preferences"]


def test_an_update(token: str, client: str, counted: Operations) -> None:
    """An update is one write that counts the call, one of the flags, and one read."""
    handlers.update_email_preferences(request(client, token=token, preferences={"recap": False}))
    assert counted.calls == Counter({"Commit": 2, "GetDocument": 1})
    assert counted.cost() == COSTS["an update of preferences"]


def test_a_click_that_is_repeated(one_click_token: str, counted: Operations) -> None:
    """Only the first click writes: each further click costs the owner a read."""
    builder = EnvironBuilder(
        method="POST",
        query_string={"token": one_click_token},
        data={"List-Unsubscribe": "One-Click"},
    )
    for reads, writes in ((1, 1), (1, 0)):
        answer = handlers.unsubscribe(flask.Request(builder.get_environ()))
        assert (answer.status_code, counted.reads, counted.writes) == (200, reads, writes)
        counted.clear()
