"""The functions of the preferences in this process, on a Firestore client of one's choice."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import flask
from firebase_functions.https_fn import CallableRequest
from werkzeug.test import EnvironBuilder

from functions.documents.documents import Documents
from functions.preferences import wiring
from functions.preferences.store.user_store import UserStore
from functions.signed_links import wiring as links
from functions.signed_links.limiter import Limiter
from tests.suite.process import local_parameters


@contextmanager
def served(documents: Documents) -> Iterator[None]:
    """Have the handlers of this process use `documents`."""
    users, limiter = (
        UserStore(documents),
        Limiter(documents, now=links.now),
    )
    with (
        patch.dict(os.environ, local_parameters()),
        patch.object(wiring, "users", lambda: users),
        patch.object(links, "limiter", lambda: limiter),
    ):
        yield


def request(address: str, **data: object) -> CallableRequest[Any]:
    """A call with the parameters `data` by the client with the IP address `address`."""
    raw = flask.Request(EnvironBuilder(headers=[("X-Forwarded-For", address)]).get_environ())
    return CallableRequest(data=data, raw_request=raw)
