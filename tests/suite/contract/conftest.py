"""An event with its organizers, receivers, and a recipient with a link."""

from tests.suite.actions.conftest import admin, configure, named, record
from tests.suite.preferences.conftest import (
    client,
    headers,
    keys,
    one_click_token,
    one_hour,
    secret,
    token,
    uid,
)
from tests.suite.webhooks.conftest import deliveries, receiving, secret_of

__all__ = [
    "admin",
    "client",
    "configure",
    "deliveries",
    "headers",
    "keys",
    "named",
    "one_click_token",
    "one_hour",
    "receiving",
    "record",
    "secret",
    "secret_of",
    "token",
    "uid",
]
