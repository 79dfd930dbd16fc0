"""What preferences cost, as exact numbers: a change that costs more shows itself here.

Calls and documents are counted at the client; they are the same on every machine.
"""

from collections import Counter

import flask
import pytest
from google.cloud import firestore
from werkzeug.test import EnvironBuilder

from bench.costs import COSTS
from functions.gcp import secret_manager
from functions.machine import CLOCK
from functions.preferences import handlers
from functions.service import Service
from tests.in_memory.adapters import service_on
from tests.suite.operations import Operations, counting_documents
from tests.suite.preferences.here import request


@pytest.fixture
def counted() -> Operations:
    """The counts of this test."""
    return Operations()


@pytest.fixture
def service(counted: Operations) -> Service:
    """A process whose calls of Firestore are counted."""
    secrets = secret_manager.of_this_process()
    return service_on(counting_documents(counted), clock=CLOCK, secrets=secrets)


def test_a_look_up(
    record: firestore.DocumentReference,
    token: str,
    client: str,
    counted: Operations,
    service: Service,
) -> None:
    """A look-up is one write that counts the call, and one read of the record."""
    record.set({"email": "ann@example.com"})
    answer = handlers.get_email_preferences(service, request(client, token=token))
    assert answer["email"] == "ann@example.com"
    assert counted.calls == Counter({"Commit": 1, "GetDocument": 1})
    assert counted.cost() == COSTS["a look-up of preferences"]


def test_an_update(token: str, client: str, counted: Operations, service: Service) -> None:
    """An update is one write that counts the call, one of the flags, and one read."""
    wanted = request(client, token=token, preferences={"recap": False})
    handlers.update_email_preferences(service, wanted)
    assert counted.calls == Counter({"Commit": 2, "GetDocument": 1})
    assert counted.cost() == COSTS["an update of preferences"]


def test_a_click_that_is_repeated(
    one_click_token: str, counted: Operations, service: Service
) -> None:
    """Only the first click writes: each further click costs the owner a read."""
    builder = EnvironBuilder(
        method="POST",
        query_string={"token": one_click_token},
        data={"List-Unsubscribe": "One-Click"},
    )
    for reads, writes in ((1, 1), (1, 0)):
        answer = handlers.unsubscribe(service, flask.Request(builder.get_environ()))
        assert (answer.status_code, counted.reads, counted.writes) == (200, reads, writes)
        counted.clear()
