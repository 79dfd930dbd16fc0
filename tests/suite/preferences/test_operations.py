"""Exact cost of preferences in calls and documents. A change that costs more fails here.

Calls and documents are counted at the client, and are the same on every machine.
"""

from collections import Counter

import flask
import pytest
from google.cloud import firestore
from werkzeug.test import EnvironBuilder

from bench.costs import COSTS
from functions.email_address import record_id
from functions.handlers import preference_calls
from functions.links.token import Scope, TokenKeys
from functions.process import CLOCK
from functions.service import Service
from tests.suite.operations import Operations, counting_service, link_call


@pytest.fixture
def service(counted: Operations) -> Service:
    """Return a service with a count of its Firestore calls."""
    return counting_service(counted)


@pytest.fixture
def ids(record: firestore.DocumentReference) -> tuple[str, str]:
    """Return record and account in a link of a recap. The trigger has listed the account."""
    email = f"{record.id}@example.com"
    own = record.parent.document(record_id(email))
    own.set({"accounts": {record.id: True}})
    record.set({"email": email})
    return own.id, record.id


def test_the_cost_of_a_lookup(
    ids: tuple[str, str], keys: TokenKeys, client: str, counted: Operations, service: Service
) -> None:
    """A look-up is one write that counts the call, and one read of account and address."""
    token = keys.issue(ids[0], CLOCK.now(), account=ids[1])
    answer = preference_calls.get_email_preferences(
        service, link_call("getEmailPreferences", client, token=token)
    )
    assert answer["email"] == f"{ids[1]}@example.com"
    assert counted.calls == Counter({"Commit": 1, "BatchGetDocuments": 1})
    assert counted.cost() == COSTS["a lookup of preferences"]


def test_the_cost_of_a_lookup_with_many_accounts(
    ids: tuple[str, str],
    record: firestore.DocumentReference,
    keys: TokenKeys,
    client: str,
    counted: Operations,
    service: Service,
) -> None:
    """A record lists 20 accounts at most, and a look-up reads each of them once."""
    uids = [ids[1], *(f"{ids[1]}-{number}" for number in range(19))]
    for uid in uids:
        record.parent.document(uid).set({"email": f"{ids[1]}@example.com"})
    record.parent.document(ids[0]).set({"accounts": dict.fromkeys(uids, True)})
    token = keys.issue(ids[0], CLOCK.now(), account=ids[1])
    preference_calls.get_email_preferences(
        service, link_call("getEmailPreferences", client, token=token)
    )
    assert counted.cost() == COSTS["a lookup of preferences, 20 accounts"]


def test_the_cost_of_an_update(
    ids: tuple[str, str], keys: TokenKeys, client: str, counted: Operations, service: Service
) -> None:
    """An update is counted, one read of account and address, and one write of both."""
    token = keys.issue(ids[0], CLOCK.now(), account=ids[1])
    wanted = link_call("updateEmailPreferences", client, token=token, preferences={"recap": False})
    preference_calls.update_email_preferences(service, wanted)
    assert counted.calls == Counter({"Commit": 2, "BatchGetDocuments": 1})
    assert counted.cost() == COSTS["an update of preferences"]


def test_the_cost_of_a_repeated_click(
    ids: tuple[str, str], keys: TokenKeys, counted: Operations, service: Service
) -> None:
    """The first click writes the record and the account. Each further click is one read."""
    token = keys.issue(ids[0], CLOCK.now(), Scope.UNSUBSCRIBE, account=ids[1])
    builder = EnvironBuilder(
        method="POST", query_string={"token": token}, data={"List-Unsubscribe": "One-Click"}
    )
    for reads, writes in ((3, 2), (1, 0)):
        answer = preference_calls.unsubscribe(service, flask.Request(builder.get_environ()))
        assert (answer.status_code, counted.reads, counted.writes) == (200, reads, writes)
        counted.clear()
