"""A call of a function of links in this process."""

import flask
from werkzeug.test import EnvironBuilder

from functions.gcp.callables import Call


def call(function: str, address: str, **data: object) -> Call:
    """A call of `function` with the parameters `data` by a client with this IP address."""
    raw = flask.Request(EnvironBuilder(headers=[("X-Forwarded-For", address)]).get_environ())
    return Call(function=function, data=data, request=raw)
