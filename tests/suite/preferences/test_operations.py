"""What preferences cost, as exact numbers: a change that costs more shows itself here.

Calls and documents are counted at the client; they are the same on every machine.
"""

from collections import Counter

import flask
import pytest
from google.cloud import firestore
from werkzeug.test import EnvironBuilder

from bench.costs import COSTS
from functions.handlers import preference_calls
from functions.links.token import Scope, TokenKeys
from functions.process import CLOCK
from functions.service import Service
from functions.wall.address import address_hash, guest_uid
from tests.suite.operations import Operations, counting_service, link_call


@pytest.fixture
def service(counted: Operations) -> Service:
    """A process whose calls of Firestore are counted."""
    return counting_service(counted)


@pytest.fixture
def ids(record: firestore.DocumentReference) -> tuple[str, str]:
    """The ids in a link of a recap to an account that the trigger has listed."""
    email = f"{record.id}@example.com"
    box = record.parent.document(guest_uid(address_hash(email)))
    box.set({"accounts": {record.id: True}})
    record.set({"email": email})
    return record.id, box.id


def test_a_look_up(
    ids: tuple[str, str], keys: TokenKeys, client: str, counted: Operations, service: Service
) -> None:
    """A look-up is one write that counts the call, and one read of account and mailbox."""
    token = keys.issue(ids[0], CLOCK.now(), box=ids[1])
    answer = preference_calls.get_email_preferences(
        service, link_call("getEmailPreferences", client, token=token)
    )
    assert answer["email"] == f"{ids[0]}@example.com"
    assert counted.calls == Counter({"Commit": 1, "BatchGetDocuments": 1})
    assert counted.cost() == COSTS["a look-up of preferences"]


def test_an_update(
    ids: tuple[str, str], keys: TokenKeys, client: str, counted: Operations, service: Service
) -> None:
    """An update is counted, one read of account and mailbox, and one write of both."""
    token = keys.issue(ids[0], CLOCK.now(), box=ids[1])
    wanted = link_call("updateEmailPreferences", client, token=token, preferences={"recap": False})
    preference_calls.update_email_preferences(service, wanted)
    assert counted.calls == Counter({"Commit": 2, "BatchGetDocuments": 1})
    assert counted.cost() == COSTS["an update of preferences"]


def test_a_click_that_is_repeated(
    ids: tuple[str, str], keys: TokenKeys, counted: Operations, service: Service
) -> None:
    """The first click writes account and mailbox; each further click writes the mailbox alone."""
    token = keys.issue(ids[0], CLOCK.now(), Scope.UNSUBSCRIBE, box=ids[1])
    builder = EnvironBuilder(
        method="POST", query_string={"token": token}, data={"List-Unsubscribe": "One-Click"}
    )
    for reads, writes in ((2, 2), (2, 1)):
        answer = preference_calls.unsubscribe(service, flask.Request(builder.get_environ()))
        assert (answer.status_code, counted.reads, counted.writes) == (200, reads, writes)
        counted.clear()
