"""An event with two receivers, who runs them, and what its admin gives them."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.people import Person
from functions.signed_links.token import TokenKeys
from tests.suite.actions.conftest import Configure, admin, configure, named, record
from tests.suite.call import Answer, call
from tools import local_secrets

__all__ = ["admin", "configure", "named", "record"]

URL: Final = "https://example.com/hook?key=of-the-receiver"
OTHER: Final = "https://example.com/other"

Share = Callable[..., dict[str, Any]]
Look = Callable[..., Answer]


@pytest.fixture(scope="session")
def keys() -> TokenKeys:
    """The key that links to logs are signed with in the local suite, as tokens are made with it."""
    return TokenKeys([local_secrets.read()["LOG_LINKS_KEY"]])


@pytest.fixture
def share(event: firestore.DocumentReference, configure: Configure, admin: Person) -> Share:
    """Have the admin give out a link to a URL; the answer, and the token in the link."""
    configure(URL, OTHER)

    def give_out(url: str = URL, **fields: Any) -> dict[str, Any]:
        wanted = {"eventId": event.id, "url": url} | fields
        result: dict[str, Any] = call("shareWebhookLog", wanted, id_token=admin.id_token).result
        return result | {"token": result["link"].partition("#token=")[2]}

    return give_out


@pytest.fixture
def look(headers: dict[str, str]) -> Look:
    """Read a page of a log as the holder of that token."""

    def get(token: str, **fields: Any) -> Answer:
        return call("getWebhookLog", {"token": token} | fields, headers=headers)

    return get
