"""Staff of the events, and links to the logs of their URLs."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from emulator.accounts import Account, sign_in
from tests.suite.call import call
from tests.suite.wall_client import TENANT, Wall

URL: Final = "https://example.com/hook?key=of-the-receiver"
OTHER: Final = "https://example.com/other"

Share = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def admin() -> Account:
    """Return an admin of the event's tenant, with the hourly calls of one test module."""
    return sign_in("admin", TENANT)


@pytest.fixture
def share(wall: Wall, admin: Account) -> Share:
    """Create a link to the log of a URL as the admin, and return the response and the token."""
    wall.configure(URL, OTHER)

    def give_out(url: str = URL, **fields: Any) -> dict[str, Any]:
        wanted = {"eventId": wall.id, "url": url} | fields
        result: dict[str, Any] = call("shareWebhookLog", wanted, id_token=admin.id_token).result
        return result | {"token": result["link"].partition("#token=")[2]}

    return give_out
