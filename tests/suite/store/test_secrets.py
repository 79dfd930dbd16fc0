"""Spec 2.1, design 3.23: an event's webhook secret is made with its first use, once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from google.cloud import firestore

from functions.documents.documents import Documents
from functions.gcp.documents import documents
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.signing.wiring import secrets_in
from tests.suite.operations import Operations, counting_documents


@pytest.fixture
def stored(event: firestore.DocumentReference) -> firestore.DocumentReference:
    """Where the secret stands."""
    reference: firestore.DocumentReference = event.collection("secrets").document("webhooks")
    return reference


def store(of: Documents) -> RememberedSecrets:
    """The secrets as a process sees them that has just started."""
    return secrets_in(of)


@pytest.mark.parametrize("found", [None, {}, {"secret": ""}, {"secret": 7, "more": "kept"}])
def test_a_missing_secret_is_made(
    event: firestore.DocumentReference,
    stored: firestore.DocumentReference,
    found: dict[str, object] | None,
) -> None:
    """One read and one write; what else the document holds stays."""
    if found is not None:
        stored.set(found)
    counted = Operations()
    counting = counting_documents(counted)
    secret = store(counting).of(event.id)
    assert secret.startswith("whsec_")
    assert stored.get().to_dict() == (found or {}) | {"secret": secret}
    assert (counted.reads, counted.writes) == (1, 1)


def test_processes_that_make_it_at_once_agree(
    event: firestore.DocumentReference,
) -> None:
    """The first one counts."""
    processes = [store(documents()) for _ in range(12)]
    with ThreadPoolExecutor(len(processes)) as threads:
        made = set(threads.map(lambda one: one.of(event.id), processes))
    assert len(made) == 1
