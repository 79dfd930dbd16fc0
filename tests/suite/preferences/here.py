"""A call of a function of links in this process."""

from typing import Any

import flask
from firebase_functions.https_fn import CallableRequest
from werkzeug.test import EnvironBuilder


def request(address: str, **data: object) -> CallableRequest[Any]:
    """A call with the parameters `data` by the client with the IP address `address`."""
    raw = flask.Request(EnvironBuilder(headers=[("X-Forwarded-For", address)]).get_environ())
    return CallableRequest(data=data, raw_request=raw)
