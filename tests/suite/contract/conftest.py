"""Staff of the events, and links to the logs of their URLs."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from emulator.accounts import Account, sign_in
from tests.suite.call import call
from tests.suite.walls import TENANT, Wall

URL: Final = "https://example.com/hook?key=of-the-receiver"
OTHER: Final = "https://example.com/other"

Share = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def admin() -> Account:
    """An admin of the event's tenant, with the calls of an hour for each file of tests."""
    return sign_in("admin", TENANT)


@pytest.fixture
def share(wall: Wall, admin: Account) -> Share:
    """Have the admin give out a link to a URL; the answer, and the token in the link."""
    wall.configure(URL, OTHER)

    def give_out(url: str = URL, **fields: Any) -> dict[str, Any]:
        wanted = {"eventId": wall.id, "url": url} | fields
        result: dict[str, Any] = call("shareWebhookLog", wanted, id_token=admin.id_token).result
        return result | {"token": result["link"].partition("#token=")[2]}

    return give_out
